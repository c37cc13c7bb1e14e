import assert from "node:assert/strict";
import { test } from "node:test";
import { depthCurves, distributionsOf, latency, mixes, rateOverTime } from "../src/select.ts";
import type { Phase, RepeatDetail, Workload } from "../src/types.ts";

function phase(name: string, change: Partial<Workload> = {}, depth = 1): Phase {
  const workload: Workload = {
    pattern: { kind: "random" }, read_percent: 100, sizes: [{ bytes: 4096, weight: 1 }],
    pace: { kind: "closed", depth }, flush_every: 0, threads: 1, region_bytes: 1 << 30, seed: 1,
    runtime_ns: 1e9, ...change,
  };
  const repeat = { elapsed_ns: 1e9, ops: {}, invalid: null };
  return { name, title: `${name}, depth ${depth}`, workload, skipped: null, repeats: [repeat],
    metrics: {} };
}

test("a curve holds random reads that differ in depth only, shallow first", () => {
  const phases = [
    phase("b", { seed: 9, runtime_ns: 2e9 }, 8),
    phase("a", {}, 1),
    phase("other size", { sizes: [{ bytes: 512, weight: 1 }] }, 4),
    phase("writes", { read_percent: 0 }, 2),
    phase("sequential", { pattern: { kind: "sequential" } }, 16),
    { ...phase("skipped", {}, 32), skipped: "no time" },
  ];
  const curves = depthCurves(phases);
  assert.deepEqual(curves.map((c) => c.phases.map((p) => p.name)), [["a", "b"]]);
  assert.equal(curves[0]!.title, "a");
});

test("a single depth is no curve", () => {
  assert.deepEqual(depthCurves([phase("a")]), []);
});

test("a mix stands beside the phase that asks the same of reads alone", () => {
  const phases = [
    phase("reads d1", {}, 1), phase("reads d32", {}, 32), phase("mix", { read_percent: 70 }, 32),
    phase("writes d32", { read_percent: 0 }, 32),
  ];
  const [found] = mixes(phases);
  const names = [found!.mixed, found!.readAlone, found!.writeAlone].map((p) => p?.name);
  assert.deepEqual(names, ["mix", "reads d32", "writes d32"]);
});

test("a commit's latency begins with its write", () => {
  const commit = phase("commit", { read_percent: 0, flush_every: 1 });
  const spread = (median: number) => ({ median, low: median, high: median, n: 3 });
  commit.metrics = { "flush.latency_ns_p50": spread(5), "flush.response_ns_p50": spread(8),
    "write.latency_ns_p50": spread(3), "write.response_ns_p50": spread(4) };
  assert.equal(latency(commit, "flush", "p50")?.median, 8);
  assert.equal(latency(commit, "write", "p50")?.median, 3);
});

test("a repeat that was left out has no part in the distribution", () => {
  const one = phase("a");
  one.repeats = [{ elapsed_ns: 1, ops: {}, invalid: "a cache answered" }, { ...one.repeats[0]! }];
  const detail = (repeat: number): RepeatDetail => ({
    phase: "a", repeat, latency_bins: { read: [[repeat + 1, 10]] }, response_bins: {},
    series: { step_ns: 1, steps: [] },
  });
  const [found] = distributionsOf(one, [detail(0), detail(1)]);
  assert.deepEqual(found!.repeats, [[[2, 10]]]);
});

test("the last step of a rate is as long as the run left it, and no step is made up", () => {
  const step = { requests: [50, 0, 0, 0], bytes: [0, 0] };
  const series = { step_ns: 1e8, steps: [step, step, { ...step, requests: [40, 0, 0, 0] }] };
  const { at, value } = rateOverTime(phase("a"), series, 2.8e8);
  assert.deepEqual(value.map(Math.round), [500, 500, 500]);
  assert.ok(Math.abs(at[2]! - 0.24) < 1e-12);
  assert.equal(rateOverTime(phase("a"), series, 2.4e8).value.length, 2);
});

test("large requests are counted in bytes and commits by their flushes", () => {
  const series = { step_ns: 1e9, steps: [{ requests: [3, 7, 5, 0], bytes: [4e6, 6e6] }] };
  const large = phase("l", { sizes: [{ bytes: 1 << 20, weight: 1 }] });
  const commit = phase("c", { flush_every: 1 });
  assert.deepEqual(rateOverTime(large, series, 1e9).value, [10]);
  assert.deepEqual(rateOverTime(commit, series, 1e9).value, [5]);
});

test("a replay and a step of a suite are no curve and no mix, and their rates count requests", () => {
  const played: Phase = {
    ...phase("played"), workload: { trace: "db.parquet", mode: "timed" },
    metrics: {
      "read.response_ns_p50": { median: 9, low: 9, high: 9, n: 1 },
      "read.latency_ns_p50": { median: 5, low: 5, high: 5, n: 1 },
    },
  };
  const step: Phase = { ...phase("step"), workload: { suite: "fs", step: "create", primary: "x" } };
  const phases = [phase("a", {}, 1), phase("a", {}, 2), played, step];
  assert.equal(depthCurves(phases)[0]!.phases.length, 2);
  assert.deepEqual(mixes(phases), []);
  assert.equal(latency(played, "read", "p50")!.median, 9);
  const closed: Phase = { ...played, workload: { trace: "db.parquet", mode: "depth" } };
  assert.equal(latency(closed, "read", "p50")!.median, 5);
  const steps = [{ requests: [10, 0, 0, 0], bytes: [1e6, 0] }];
  const over = rateOverTime(played, { step_ns: 1e9, steps }, 1e9);
  assert.deepEqual(over.value, [10]);
});
