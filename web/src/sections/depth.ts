/** Rate and latency of random reads against queue depth. */

import { h, section } from "../dom.ts";
import { type Line, plot } from "../plot.ts";
import { type Drawn, depthCurves, latency } from "../select.ts";
import type { Run, Spread } from "../types.ts";
import { iops, time } from "../units.ts";

const lineOf = (label: string, spreads: (Spread | null)[]): Line => ({
  label,
  values: spreads.map((s) => s?.median ?? null),
  low: spreads.map((s) => s?.low ?? null),
  high: spreads.map((s) => s?.high ?? null),
});

const known = (line: Line) => line.values.some((v) => v !== null);

function plots(title: string, phases: Drawn[]): HTMLElement {
  const at = phases.map((p) => p.workload.pace.depth);
  const deepest = at.at(-1)!;
  const repeats = Math.max(...phases.map((p) => p.repeats.length));
  const note = repeats > 1 ? " Bars: lowest to highest repeat." : "";
  const x = {
    label: "queue depth",
    log: 2 as const,
    format: (v: number) => String(v),
    ticks: at,
    range: [at[0]! / 1.25, deepest * 1.25] as [number, number],
  };
  const shared = { at, x, spread: "bars" as const, height: 260, marks: true };
  const rate = phases.map((p) => p.metrics["read.requests_per_s"] ?? null);
  const [first, last] = [rate[0], rate.at(-1)];
  const ends = first && last
    ? ` From ${iops(first.median)} at depth ${at[0]} to ${iops(last.median)} at depth ${deepest}.`
    : "";
  const quantile = (q: string) => phases.map((p) => latency(p, "read", q));
  return h(
    "div",
    { class: "pair" },
    plot({
      ...shared,
      title: `Requests a second: ${title}`,
      summary: `Requests a second against queue depth.${ends}`,
      y: { label: "requests a second", format: iops },
      lines: [lineOf("requests a second (median)", rate)],
    }),
    plot({
      ...shared,
      title: `Latency: ${title}`,
      summary: `Median and 99th percentile of read latency against queue depth.${note}`,
      y: { label: "latency", log: 10, format: time },
      lines: ["p50", "p99"].map((q) => lineOf(q, quantile(q))).filter(known),
    }),
    note ? h("p", { class: "hint" }, `Marks: median of the repeats.${note}`) : null,
  );
}

export function depth(run: Run, prefix: string): HTMLElement | null {
  const curves = depthCurves(run.document.phases);
  if (curves.length === 0) return null;
  const drawn = curves.map((curve) => plots(curve.title, curve.phases));
  return section("Rate and latency against depth", `${prefix}-depth`, ...drawn);
}
