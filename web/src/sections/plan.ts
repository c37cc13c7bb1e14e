/** Which machine sustains a load: the table, and the figure of each limit against the load. */

import { h, table } from "../dom.ts";
import { plot } from "../plot.ts";
import type { Plan, PlanPlot } from "../types.ts";
import { iops, time } from "../units.ts";
import { download } from "./tables.ts";

function drawn({ figure, bound, by_depth, curves }: PlanPlot): HTMLElement {
  const loads = curves.flatMap(({ points }) => points.map(([load]) => load));
  const at = [...new Set(loads)].sort((a, b) => a - b);
  const lines = curves.map(({ name, points }) => {
    const values = new Map(points);
    return { label: name, values: at.map((load) => values.get(load)), marks: true };
  });
  const limit = { label: "the bound", values: at.map(() => bound), marks: false };
  const rate = figure === "iops";
  const factor = (load: number) => `× ${Number(load.toPrecision(3))}`;
  return plot({
    title: by_depth ? `${figure} at each depth` : `${figure} under multiples of the load`,
    summary: `${figure} against the load for ${curves.length} machines, and the bound.`,
    x: by_depth
      ? { label: "queue depth", log: 2, format: String }
      : { label: "load", log: 10, format: factor },
    y: { label: figure, log: 10, format: rate ? (v) => `${iops(v)}/s` : time },
    at,
    lines: [...lines, limit],
    spread: "none",
    height: 320,
  });
}

export function drawPlan(plan: Plan, json: string): HTMLElement[] {
  const columns = plan.header.map((title, i) => ({ title, number: i > 1 }));
  return [
    h("h1", {}, plan.heading),
    h("p", { class: "hint" }, "Modelled. A mark is a load that was tried."),
    table("What each machine sustains within the limits", columns, plan.rows),
    ...plan.plots.map(drawn),
    h("p", {}, download(json)),
  ];
}
