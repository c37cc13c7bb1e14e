import assert from "node:assert/strict";
import { test } from "node:test";
import { roundsOf, stretchesOf, sweepLines, totalRate, triedRates, worstP99 } from "../src/study.ts";
import type { Phase, RunDocument } from "../src/types.ts";

const one = (median: number) => ({ median, low: median, high: median, n: 1 });

function phase(name: string, metrics: Phase["metrics"] = {}): Phase {
  const workload = {
    pattern: { kind: "random" }, read_percent: 100, sizes: [{ bytes: 4096, weight: 1 }],
    pace: { kind: "closed" as const, depth: 1 }, flush_every: 0, threads: 1,
  };
  return { name, title: name, workload, skipped: null, repeats: [], metrics };
}

test("a sweep of two keys is a line for each value of the second over those of the first", () => {
  const points = [["1", "4k", "a"], ["2", "4k", "b"], ["1", "8k", "c"], ["2", "8k", "d"]].map(
    ([depth, bs, name]) => ({ phase: name!, values: [depth!, bs!] }),
  );
  const phases = ["a", "b", "c"].map((name) => phase(name));
  const document = { phases } as unknown as RunDocument;
  const sweep = { kind: "sweep" as const, keys: ["iodepth", "bs"], points };
  const { places, lines } = sweepLines(document, sweep);
  assert.deepEqual(places, ["1", "2"]);
  assert.deepEqual(lines.map((line) => line.label), ["bs=4k", "bs=8k"]);
  const names = lines.map((line) => line.phases.map((p) => p?.name ?? null));
  assert.deepEqual(names, [["a", "b"], ["c", null]]);
});

test("the rate is that of reads and writes together, p99 that of the slower", () => {
  const mixed = phase("mix", {
    "read.requests_per_s": one(700), "write.requests_per_s": one(300),
    "read.latency_ns_p99": one(5e6), "write.latency_ns_p99": one(2e6),
  });
  assert.equal(totalRate(mixed)?.median, 1000);
  assert.equal(worstP99(mixed)?.median, 5e6);
  assert.equal(totalRate(phase("nothing")), null);
  assert.equal(worstP99(phase("nothing")), null);
});

test("a rate that was confirmed or refuted counts once, with the last word", () => {
  const trial = (requests_per_s: number, response_ns: number, holds: boolean) => ({
    phase: "x", requests_per_s, completed_per_s: requests_per_s, response_ns, holds,
    confirms: false,
  });
  const tried = triedRates({
    kind: "limit", metric: "p99", bound_ns: 2e6, closed_phase: "c", closed_requests_per_s: 900,
    trials: [trial(100, 1e6, true), trial(400, 9e6, false), trial(200, 1.9e6, true),
      trial(200, 2.1e6, false)],
    outcome: null,
  });
  assert.deepEqual(tried, {
    at: [100, 200, 400], kept: [1e6, null, null], not: [null, 2.1e6, 9e6],
  });
});

test("the rounds of the steady window are told apart", () => {
  const rounds_per_s = [9, 7, 5, 5, 5, 5, 5];
  const outcome = { kind: "reached" as const, from: 2, mean_per_s: 5 };
  const found = roundsOf({ kind: "steady", phase: "x", rounds_per_s, outcome });
  assert.deepEqual(found.others, [9, 7, null, null, null, null, null]);
  assert.deepEqual(found.steady.slice(0, 3), [null, null, 5]);
  assert.deepEqual(found.at.slice(-1), [7]);
});

test("each part of what was written has the rate of the stretch it lies in", () => {
  const stretches = [{ from_bytes: 0, rate_bytes_per_s: 9 }, { from_bytes: 200, rate_bytes_per_s: 2 }];
  const study = {
    kind: "sustained" as const, stretches, part_bytes: 100, rates_bytes_per_s: [9, 8, 2, 2],
  };
  const found = stretchesOf(study);
  assert.deepEqual(found.at, [50, 150, 250, 350]);
  assert.deepEqual(found.mean, [9, 9, 2, 2]);
});
