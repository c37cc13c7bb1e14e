/** What the plots of a study show, from its document: sweeps, limits, rounds until steady. */

import { latency } from "./select.ts";
import type { Limit, Phase, RunDocument, Spread, Steady, Sustained, Sweep } from "./types.ts";

/** One line of a sweep: a phase for each place, where there is one. */
export interface SweepLine {
  label: string;
  phases: (Phase | null)[];
}

/** The places of a sweep's first key, and a line for each combination of the others. */
export function sweepLines(
  document: RunDocument, sweep: Sweep,
): { places: string[]; lines: SweepLine[] } {
  const labelOf = (values: string[]) =>
    sweep.keys.slice(1).map((key, i) => `${key}=${values[i + 1] ?? ""}`).join(" ");
  const places = [...new Set(sweep.points.map((point) => point.values[0] ?? ""))];
  const labels = [...new Set(sweep.points.map((point) => labelOf(point.values)))];
  const lines = labels.map((label) => ({
    label,
    phases: places.map((place) => {
      const point = sweep.points.find((p) => p.values[0] === place && labelOf(p.values) === label);
      return document.phases.find((phase) => phase.name === point?.phase) ?? null;
    }),
  }));
  return { places, lines };
}

const moved = ["read", "write"];

/** Reads and writes a second. Of several operations no range is known, only the medians' sum. */
export function totalRate(phase: Phase): Spread | null {
  const found = moved.flatMap((op) => phase.metrics[`${op}.requests_per_s`] ?? []);
  if (found.length < 2) return found[0] ?? null;
  const median = found.reduce((sum, spread) => sum + spread.median, 0);
  return { median, low: median, high: median, n: found[0]!.n };
}

/** The higher 99th percentile of reads and writes. */
export function worstP99(phase: Phase): Spread | null {
  const found = moved.flatMap((op) => latency(phase, op, "p99") ?? []);
  return found.reduce<Spread | null>((a, b) => (a && a.median >= b.median ? a : b), null);
}

/** The rates a search tried, each once, the last word on it, slow rates first. */
export function triedRates(limit: Limit): { at: number[]; kept: (number | null)[];
  not: (number | null)[] } {
  const last = new Map(limit.trials.map((trial) => [trial.requests_per_s, trial]));
  const trials = [...last.values()].sort((a, b) => a.requests_per_s - b.requests_per_s);
  return {
    at: trials.map((t) => t.requests_per_s),
    kept: trials.map((t) => (t.holds ? t.response_ns : null)),
    not: trials.map((t) => (t.holds ? null : t.response_ns)),
  };
}

const WINDOW = 5;

/** The rounds, those of the steady window apart. */
export function roundsOf(steady: Steady): { at: number[]; steady: (number | null)[];
  others: (number | null)[] } {
  const from = steady.outcome?.kind === "reached" ? steady.outcome.from : Infinity;
  const inside = (i: number) => i >= from && i < from + WINDOW;
  return {
    at: steady.rounds_per_s.map((_, i) => i + 1),
    steady: steady.rounds_per_s.map((rate, i) => (inside(i) ? rate : null)),
    others: steady.rounds_per_s.map((rate, i) => (inside(i) ? null : rate)),
  };
}

/** The rate of each part of what was written, and that of the stretch each lies in. */
export function stretchesOf(study: Sustained): { at: number[]; rate: number[]; mean: number[] } {
  const at = study.rates_bytes_per_s.map((_, i) => (i + 0.5) * study.part_bytes);
  const mean = at.map(
    (bytes) => study.stretches.findLast((s) => s.from_bytes <= bytes)?.rate_bytes_per_s ?? 0,
  );
  return { at, rate: study.rates_bytes_per_s, mean };
}
