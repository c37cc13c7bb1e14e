/** The rate of every phase over its time, repeats laid over each other. */

import { h, section } from "../dom.ts";
import { type Line, plot } from "../plot.ts";
import { commits, countsBytes, rateOverTime } from "../select.ts";
import type { Phase, RepeatDetail, Run } from "../types.ts";
import { grouped, iops, threeDigits } from "../units.ts";

const leftOut = " (left out)";
const seconds = (v: number) => `${Number(v.toFixed(v < 10 ? 2 : 1))} s`;
const megabytes = (v: number) => (v >= 999.5 ? grouped(v) : v === 0 ? "0" : threeDigits(v));

/** Lines of differing times on one axis of times, each null where it has no value. */
export function onOneAxis(curves: { at: number[]; value: number[] }[]): {
  at: number[];
  values: (number | null)[][];
} {
  const at = [...new Set(curves.flatMap((c) => c.at))].sort((a, b) => a - b);
  const place = new Map(at.map((t, i) => [t, i]));
  const values = curves.map((curve) => {
    const line = new Array<number | null>(at.length).fill(null);
    curve.at.forEach((t, i) => (line[place.get(t)!] = curve.value[i]!));
    return line;
  });
  return { at, values };
}

function one(phase: Phase, details: RepeatDetail[]): HTMLElement | null {
  const mine = details.filter((d) => d.phase === phase.name).sort((a, b) => a.repeat - b.repeat);
  const curves = mine.map((d) => {
    const ran = phase.repeats[d.repeat]?.elapsed_ns ?? d.series.step_ns * d.series.steps.length;
    return rateOverTime(phase, d.series, ran);
  });
  const { at, values } = onOneAxis(curves);
  if (at.length < 2) return null;
  const lines: Line[] = values.map((line, i) => {
    const repeat = mine[i]!.repeat;
    const valid = (phase.repeats[repeat]?.invalid ?? null) === null;
    return { label: `repeat ${repeat + 1}${valid ? "" : leftOut}`, values: line };
  });
  const bytes = countsBytes(phase);
  const unit = bytes ? "MB/s" : commits(phase) ? "commits/s" : "requests/s";
  const every = Math.ceil(at.length / 40);
  return plot({
    title: phase.title,
    summary: `${unit} over time in ${phase.title}, ${lines.length} repeats.`,
    x: { label: "time", format: seconds },
    y: { label: unit, format: bytes ? megabytes : iops },
    at,
    lines,
    spread: "none",
    height: 190,
    legend: lines.length > 1 || lines.some((line) => line.label.endsWith(leftOut)),
    tableAt: at.filter((_, i) => i % every === 0),
  });
}

export function series(run: Run, prefix: string): HTMLElement | null {
  const plots = run.document.phases
    .map((phase) => one(phase, run.detail.repeats))
    .filter((p): p is HTMLElement => p !== null);
  if (plots.length === 0) return null;
  const grid = h("div", { class: "grid" }, ...plots);
  return section("Rate over time", `${prefix}-series`, grid);
}
