/** Which phases belong together, decided by their workloads and not by their names. */

import type { Bins } from "./bins.ts";
import type {
  Phase, RepeatDetail, RunDocument, Series, Spread, Work, Workload,
} from "./types.ts";

/** A phase whose requests were drawn from a workload: no replay and no step of a suite. */
export type Drawn = Phase & { workload: Workload };

const isWorkload = (work: Work): work is Workload => "pattern" in work;

const isDrawn = (phase: Phase): phase is Drawn => isWorkload(phase.workload);

/** Whether a phase flushes after every write. */
export const commits = (phase: Phase) => isDrawn(phase) && phase.workload.flush_every === 1;

const wasRun = (phase: Phase) => phase.skipped === null && phase.repeats.length > 0;

/** What makes two workloads the same question; `leave` names what may differ. */
function question(workload: Workload, leave: string[], depth: boolean): string {
  const free = new Set(["seed", "runtime_ns", "ramp_ns", "requests", ...leave]);
  const kept = Object.keys(workload).filter((key) => !free.has(key)).sort();
  return JSON.stringify(
    kept.map((key) =>
      key === "pace" && depth ? { ...workload.pace, depth: 0 } : workload[key],
    ),
  );
}

export interface DepthCurve {
  title: string;
  phases: Drawn[];
}

/** Random reads in closed loops that differ in depth only, two depths at least, shallow first. */
export function depthCurves(phases: Phase[]): DepthCurve[] {
  const groups = new Map<string, Drawn[]>();
  for (const phase of phases) {
    if (!isDrawn(phase)) continue;
    const w = phase.workload;
    const fits = w.pattern.kind !== "sequential" && w.read_percent === 100;
    if (!wasRun(phase) || !fits || w.pace.kind !== "closed") continue;
    const key = question(w, [], true);
    groups.set(key, [...(groups.get(key) ?? []), phase]);
  }
  const curves: DepthCurve[] = [];
  for (const found of groups.values()) {
    const byDepth = new Map(found.map((phase) => [phase.workload.pace.depth, phase]));
    const sorted = [...byDepth.values()].sort(
      (a, b) => a.workload.pace.depth - b.workload.pace.depth,
    );
    const title = sorted[0]!.title.replace(/,? *(at )?(queue )?depth \d+/i, "");
    if (sorted.length >= 2) curves.push({ title, phases: sorted });
  }
  return curves;
}

export interface Mix {
  mixed: Drawn;
  readAlone: Phase | null;
  writeAlone: Phase | null;
}

/** Phases that read and write, each with the phases that do one of the two alone. */
export function mixes(phases: Phase[]): Mix[] {
  const run = phases.filter(wasRun).filter(isDrawn);
  const alone = (mixed: Drawn, percent: number) => {
    const key = question(mixed.workload, ["read_percent"], false);
    return (
      run.find(
        (p) =>
          p.workload.read_percent === percent &&
          question(p.workload, ["read_percent"], false) === key,
      ) ?? null
    );
  };
  return run
    .filter((p) => p.workload.read_percent > 0 && p.workload.read_percent < 100)
    .map((mixed) => ({ mixed, readAlone: alone(mixed, 100), writeAlone: alone(mixed, 0) }));
}

/** A commit is a flush after every write: it takes from the write's start to the flush's end. */
function usesResponse(workload: Work, op: string): boolean {
  if (!isWorkload(workload)) return "mode" in workload && workload.mode !== "depth";
  return workload.pace.kind === "open" || (op === "flush" && workload.flush_every > 0);
}

/** A latency metric of a phase and operation, with the clock that fits the workload. */
export function latency(phase: Phase, op: string, quantile: string): Spread | null {
  const response = phase.metrics[`${op}.response_ns_${quantile}`];
  const service = phase.metrics[`${op}.latency_ns_${quantile}`];
  return (usesResponse(phase.workload, op) ? (response ?? service) : service) ?? null;
}

export interface Distribution {
  key: string;
  label: string;
  repeats: Bins[];
}

const words: Record<string, string> = {
  read: "reads",
  write: "writes",
  flush: "flushes",
  discard: "discards",
};

/** The latency distributions of one phase, one for each operation, from its valid repeats. */
export function distributionsOf(phase: Phase, detail: RepeatDetail[]): Distribution[] {
  const mine = detail.filter((d) => d.phase === phase.name);
  const valid = mine.filter((d) => (phase.repeats[d.repeat]?.invalid ?? null) === null);
  const ops = [...new Set(valid.flatMap((d) => Object.keys(d.latency_bins)))];
  return ops.map((op) => {
    const repeats = valid.map((d) => {
      const response = usesResponse(phase.workload, op) ? d.response_bins[op] : undefined;
      return response?.length ? response : (d.latency_bins[op] ?? []);
    });
    const commit = op === "flush" && commits(phase);
    const word = commit ? "commit (write and flush)" : (words[op] ?? op);
    const label = ops.length > 1 ? `${phase.title}: ${word}` : phase.title;
    return { key: `${phase.name} ${op}`, label, repeats: repeats.filter((b) => b.length > 0) };
  }).filter((d) => d.repeats.length > 0);
}

/** The distributions worth seeing first: reads at the lowest and highest depth, and the commit. */
export function firstShown(document: RunDocument, all: Distribution[]): Set<string> {
  const wanted: string[] = [];
  const curve = depthCurves(document.phases)[0];
  if (curve) {
    wanted.push(`${curve.phases[0]!.name} read`, `${curve.phases.at(-1)!.name} read`);
  }
  const commit = document.phases.find(commits);
  if (commit) wanted.push(`${commit.name} flush`);
  const shown = all.filter((d) => wanted.includes(d.key));
  return new Set((shown.length > 0 ? shown : all.slice(0, 3)).map((d) => d.key));
}

export interface Over {
  /** Seconds since the start of measuring, at the middle of each step. */
  at: number[];
  /** In MB/s or requests a second. */
  value: number[];
}

/** What a phase's rate over time counts: bytes of large requests, else requests. */
export function countsBytes(phase: Phase): boolean {
  if (!isDrawn(phase) || commits(phase)) return false;
  return phase.workload.sizes.every((s) => s.bytes >= 65536);
}

/**
 * The rate over time of one repeat. The last step is as long as the run left it, and left out where
 * that is less than half a step.
 */
export function rateOverTime(phase: Phase, series: Series, elapsedNs: number): Over {
  const out: Over = { at: [], value: [] };
  series.steps.forEach((step, i) => {
    const from = i * series.step_ns;
    const length = Math.min(series.step_ns, elapsedNs - from);
    if (length < series.step_ns / 2) return;
    const all = (list: number[]) => list.reduce((a, b) => a + b, 0);
    const requests = commits(phase) ? (step.requests[2] ?? 0) : all(step.requests);
    const amount = countsBytes(phase) ? all(step.bytes) / 1e6 : requests;
    out.at.push((from + length / 2) / 1e9);
    out.value.push((amount * 1e9) / length);
  });
  return out;
}
