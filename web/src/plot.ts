/**
 * One plot: a uPlot canvas with what a canvas lacks: a name for screen readers, a legend that does
 * not rest on colour (every line has its own dash), ranges over repeats, the numbers as a table.
 *
 * After drawing, the figure tells what came of it in data attributes: `data-points` counts the
 * values drawn and `data-ink` the coloured pixels found on the canvas, so that a test can see a
 * blank plot.
 */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Column, h, svg, table } from "./dom.ts";
import { logTicks } from "./ticks.ts";

export interface Line {
  label: string;
  /** The line has a gap at `null`, and none where it has no value of its own. */
  values: (number | null | undefined)[];
  low?: (number | null)[];
  high?: (number | null)[];
  /** Whether each value is marked; without it as all of the plot. */
  marks?: boolean;
}

export interface Axis {
  label: string;
  log?: 2 | 10;
  format: (value: number) => string;
  /** How marks on the axis are written, where that is shorter. */
  mark?: (value: number) => string;
  /** Places of the marks, or those there are for an axis with room for so many. */
  ticks?: number[] | ((most: number) => number[]);
  range?: [number, number];
}

export interface Spec {
  title: string;
  /** What the plot shows, in a sentence. */
  summary: string;
  x: Axis;
  y: Axis;
  at: number[];
  lines: Line[];
  /** How a range over repeats is drawn. */
  spread: "bars" | "band" | "none";
  height: number;
  marks?: boolean;
  legend?: boolean;
  /** The table behind the plot; rows are the places on the x axis, thinned where there are many. */
  tableAt?: number[];
}

export const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5], [5, 2, 1, 2, 1, 2]];

const drawn = new Set<() => void>();

/** Draws every plot again, after the colours of the page changed. */
export function redrawAll(): void {
  for (const draw of drawn) draw();
}

const colour = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const lineColour = (i: number) => colour(`--line-${i % DASHES.length}`);

/** The colour with an opacity, for bands; colours of lines are written as `#rrggbb`. */
const faint = (hex: string) => `${hex}38`;

/** Each line becomes three series: itself, and the borders of its range. */
function seriesOf(spec: Spec): { series: uPlot.Series[]; bands: uPlot.Band[]; data: unknown[] } {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const data: unknown[] = [spec.at];
  spec.lines.forEach((line, i) => {
    const stroke = lineColour(i);
    const dash = DASHES[i % DASHES.length]!;
    const marks = line.marks ?? spec.marks ?? false;
    series.push({
      label: line.label,
      stroke,
      width: 2,
      dash,
      spanGaps: false,
      points: { show: marks, size: 7, fill: stroke, stroke, dash: [] },
    });
    data.push(line.values);
    if (spec.spread === "none" || !line.low || !line.high) return;
    const edge: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };
    if (spec.spread === "bars") edge.paths = () => null;
    const first = series.push({ ...edge }, { ...edge }) - 2;
    data.push(line.high, line.low);
    if (spec.spread === "band") bands.push({ series: [first, first + 1], fill: faint(stroke) });
  });
  return { series, bands, data };
}

function errorBars(u: uPlot, spec: Spec): void {
  const { ctx } = u;
  ctx.save();
  spec.lines.forEach((line, i) => {
    ctx.strokeStyle = lineColour(i);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([]);
    const cap = 4 * devicePixelRatio;
    spec.at.forEach((at, k) => {
      const [low, high] = [line.low?.[k] ?? null, line.high?.[k] ?? null];
      if (low === null || high === null) return;
      const x = u.valToPos(at, "x", true);
      const [bottom, top] = [u.valToPos(low, "y", true), u.valToPos(high, "y", true)];
      ctx.beginPath();
      ctx.moveTo(x, bottom);
      ctx.lineTo(x, top);
      for (const y of [bottom, top]) {
        ctx.moveTo(x - cap, y);
        ctx.lineTo(x + cap, y);
      }
      ctx.stroke();
    });
  });
  ctx.restore();
}

/** Coloured pixels inside the plot; grid and axes are grey and do not count. */
function inkOf(u: uPlot): number {
  const { left, top, width, height } = u.bbox;
  if (width < 1 || height < 1) return 0;
  const { data } = u.ctx.getImageData(left, top, width, height);
  let ink = 0;
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b, a] = [data[i]!, data[i + 1]!, data[i + 2]!, data[i + 3]!];
    if (a > 40 && Math.max(r, g, b) - Math.min(r, g, b) > 48) ink += 1;
  }
  return ink;
}

function scaleOf(axis: Axis, fromZero: boolean): uPlot.Scale {
  const scale: uPlot.Scale = { time: false };
  if (axis.log) {
    scale.distr = 3;
    scale.log = axis.log;
  }
  const fixed = axis.range;
  if (fixed) scale.range = () => [fixed[0], fixed[1]];
  else if (axis.log) scale.range = (_, min, max) => [(min || 1) / 1.15, (max || 10) * 1.15];
  else if (fromZero && !axis.log) scale.range = (_, __, max) => [0, max > 0 ? max * 1.08 : 1];
  return scale;
}

/** A number on an axis, without zeros that say nothing. */
const tidy = (text: string) => text.replace(/\.0+(?=\D|$)/, "");

function axisOf(axis: Axis, size: number): uPlot.Axis {
  const write = axis.mark ?? axis.format;
  const out: uPlot.Axis = {
    label: axis.label,
    labelSize: 20,
    labelFont: "12px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    stroke: colour("--quiet"),
    grid: { stroke: colour("--grid"), width: 1 },
    ticks: { stroke: colour("--grid"), width: 1, size: 4 },
    size,
    values: (_, splits) => splits.map((v) => (v === null ? "" : tidy(write(v)))),
  };
  const { ticks } = axis;
  if (ticks || axis.log) {
    // About what the axes themselves take is left out of the length.
    out.splits = (u, i, min, max) => {
      const [length, gap] = i === 0 ? [u.width - 80, 60] : [u.height - 70, 24];
      if (typeof ticks === "function") return ticks(Math.floor(length / (1.5 * gap)));
      if (ticks) return ticks;
      return logTicks(min, max, length, gap);
    };
    out.filter = (_, splits) => splits;
  }
  return out;
}

function options(spec: Spec, width: number, figure: HTMLElement, live: (u: uPlot) => void) {
  const { series, bands, data } = seriesOf(spec);
  const after = (u: uPlot) => {
    if (spec.spread === "bars") errorBars(u, spec);
    if (figure.dataset["ink"] === undefined) figure.dataset["ink"] = String(inkOf(u));
  };
  const all: uPlot.Options = {
    width,
    height: spec.height,
    series,
    bands,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: spec.marks ?? false } },
    scales: { x: scaleOf(spec.x, false), y: scaleOf(spec.y, true) },
    axes: [axisOf(spec.x, 30), axisOf(spec.y, 62)],
    hooks: { draw: [after], setCursor: [live] },
  };
  return { all, data: data as uPlot.AlignedData };
}

function swatch(i: number): SVGElement {
  const dash = DASHES[i % DASHES.length]!.join(" ");
  const line = svg("line", { x1: 0, y1: 5, x2: 34, y2: 5, "stroke-dasharray": dash || null });
  const mark = { class: `swatch line-${i % DASHES.length}`, width: 34, height: 10 };
  return svg("svg", { ...mark, "aria-hidden": "true" }, line);
}

/** The numbers of a plot as a table, at `tableAt` or everywhere. */
function numbers(spec: Spec): HTMLElement {
  const places = spec.tableAt ?? spec.at;
  const ranged = spec.lines.some((line) => line.low);
  const columns: Column[] = [{ title: spec.x.label }];
  for (const line of spec.lines) {
    columns.push({ title: line.label || spec.y.label, number: true });
    if (ranged) columns.push({ title: "lowest – highest", number: true });
  }
  const rows = places.map((place) => {
    const k = spec.at.reduce(
      (best, at, i) => (Math.abs(at - place) < Math.abs(spec.at[best]! - place) ? i : best),
      0,
    );
    const write = (v: number | null | undefined) => (v == null ? "—" : spec.y.format(v));
    const cells = spec.lines.flatMap((line) => {
      const known = line.low?.[k] != null;
      const range = known ? `${write(line.low?.[k])} – ${write(line.high?.[k])}` : "—";
      return ranged ? [write(line.values[k]), range] : [write(line.values[k])];
    });
    return [spec.x.format(place), ...cells];
  });
  const shown = table(`${spec.title}: ${spec.y.label}`, columns, rows);
  return h("details", {}, h("summary", {}, "Show as a table"), shown);
}

/** A plot with its legend and table. It draws itself once it is in the page and has a width. */
export function plot(spec: Spec): HTMLElement {
  const canvas = h("div", { class: "canvas", role: "img", "aria-label": spec.summary });
  canvas.style.height = `${spec.height}px`;
  const readings = spec.lines.map(() => h("output", { "aria-hidden": "true" }));
  const entries = spec.lines.map((line, i) =>
    h("li", {}, swatch(i), h("span", {}, line.label), readings[i]),
  );
  const legend = spec.legend === false ? null : h("ul", { class: "legend" }, ...entries);
  const figure = h("figure", { class: "plot" }, h("figcaption", {}, spec.title), canvas, legend);
  figure.append(numbers(spec));
  const points = spec.lines.reduce((n, l) => n + l.values.filter((v) => v !== null).length, 0);
  figure.dataset["points"] = String(points);

  const live = (u: uPlot) => {
    const k = u.cursor.idx;
    spec.lines.forEach((line, i) => {
      const value = k == null ? null : (line.values[k] ?? null);
      const place = k == null ? "" : spec.x.format(spec.at[k]!);
      readings[i]!.textContent = value === null ? "" : `${spec.y.format(value)} at ${place}`;
    });
  };
  let chart: uPlot | null = null;
  const draw = () => {
    const width = Math.floor(canvas.clientWidth);
    if (width === 0 || points === 0) return;
    chart?.destroy();
    const { all, data } = options(spec, width, figure, live);
    chart = new uPlot(all, data, canvas);
  };
  const watch = new ResizeObserver(() => {
    if (!figure.isConnected) return;
    if (!chart) draw();
    else if (Math.abs(chart.width - canvas.clientWidth) > 1 && canvas.clientWidth > 0) {
      chart.setSize({ width: Math.floor(canvas.clientWidth), height: spec.height });
    }
  });
  watch.observe(canvas);
  drawn.add(draw);
  figure.addEventListener("gone", () => {
    drawn.delete(draw);
    watch.disconnect();
    chart?.destroy();
  });
  return figure;
}

/** Takes plots out of the page for good. */
export function discard(holder: Element): void {
  for (const figure of holder.querySelectorAll("figure.plot")) {
    figure.dispatchEvent(new Event("gone"));
  }
  holder.replaceChildren();
}
