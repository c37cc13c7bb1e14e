/** Runs in the order in which they were made, so that drift is seen, and the blocks they make. */

import { h, section, svg, table } from "../dom.ts";
import { type RatioAxis, axisFor, change, marksOf, placeOf } from "../ratio.ts";
import type { Blocks, Course, Range, Sheet } from "../types.ts";
import { when } from "../units.ts";

const HEIGHT = 220;
const FOOT = 24;
const down = (axis: RatioAxis, percent: number) =>
  8 + (HEIGHT - FOOT - 16) * (1 - placeOf(axis, percent) / 100);
/** Room for marks on the left, in percent of the width, and where place `i` of `n` stands. */
const LEFT = 13;
const along = (i: number, n: number) => `${(LEFT + ((100 - LEFT) * (i + 0.5)) / n).toFixed(3)}%`;

function frame(axis: RatioAxis): SVGElement[] {
  return marksOf(axis, 6).flatMap((p) => {
    const y = down(axis, p);
    const text = svg("text", { x: `${LEFT - 1}%`, y: y + 4, "text-anchor": "end" }, change(p));
    const line = { x1: `${LEFT}%`, x2: "100%", y1: y, y2: y, class: p === 0 ? "zero" : "mark" };
    return [svg("line", line), text];
  });
}

function picture(
  summary: string, parts: SVGElement[], points: number, title: string, foot: string,
): HTMLElement {
  const named = { role: "img", "aria-label": summary, width: "100%", height: HEIGHT };
  const figure = h("figure", { class: "plot" }, h("figcaption", {}, title));
  const drawing = svg("svg", { ...named, class: "course" }, ...parts);
  figure.append(drawing, h("p", { class: "hint" }, foot));
  figure.dataset["points"] = String(points);
  return figure;
}

/** A circle for A and a diamond for B: told apart without colour. */
function mark(x: string, y: number, side: 0 | 1, title: string): SVGElement {
  const named = svg("title", {}, title);
  if (side === 0) return svg("circle", { cx: x, cy: y, r: 4.5, class: "side-0" }, named);
  const square = { x: -4.5, y: -4.5, width: 9, height: 9, transform: "rotate(45)" };
  return svg("svg", { x, y, overflow: "visible", class: "side-1" }, svg("rect", square, named));
}

const middleOf = (values: number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
};

function runs(sheet: Sheet, course: Course): HTMLElement | null {
  const known = course.points.filter((p) => p.value !== null && p.value > 0);
  const ofA = known.filter((p) => p.side === 0).map((p) => p.value!);
  if (ofA.length === 0 || known.length < 2) return null;
  const base = middleOf(ofA);
  const relative = (value: number) => 100 * (value / base - 1);
  const axis = axisFor(known.map((p) => relative(p.value!)));
  const n = course.points.length;
  const parts = frame(axis);
  const each = course.block_runs;
  for (let i = each ?? n; i < n; i += each ?? n) {
    const x = `${(LEFT + ((100 - LEFT) * i) / n).toFixed(3)}%`;
    parts.push(svg("line", { x1: x, x2: x, y1: 4, y2: HEIGHT - FOOT, class: "mark" }));
  }
  course.points.forEach((point, i) => {
    const x = along(i, n);
    const name = `run ${i + 1}, ${sheet.names[point.side]}: ${point.text}`;
    const none = point.value === null || point.value <= 0;
    if (none) parts.push(svg("text", { x, y: HEIGHT - FOOT - 6, "text-anchor": "middle" }, "✕"));
    else parts.push(mark(x, down(axis, relative(point.value!)), point.side, name));
  });
  const every = Math.ceil(n / 12);
  for (let i = every - 1; i < n; i += every) {
    const text = { x: along(i, n), y: HEIGHT - 6, "text-anchor": "middle" };
    parts.push(svg("text", text, String(i + 1)));
  }
  const order = course.in_time ? "in the order in which they were made" : "A's first, then B's";
  const summary = `${course.metric}, ${n} runs ${order}; the table below has the numbers.`;
  const foot = `● ${sheet.names[0]}; ◆ ${sheet.names[1]}; from the median of ${sheet.names[0]}` +
    (each ? "; a line between blocks" : "") +
    (course.in_time ? "; both wandering together is drift."
      : "; when they were made is not known.");
  return picture(summary, parts, known.length, `Runs ${order}`, foot);
}

function rangeBand(axis: RatioAxis, range: Range, kind: string): SVGElement {
  const [bottom, top] = range.map((p) => down(axis, p)) as [number, number];
  const place = { x: `${LEFT}%`, width: `${100 - LEFT}%`, y: top, height: bottom - top };
  return svg("rect", { ...place, class: `band ${kind}` });
}

function blocks(found: Blocks): HTMLElement | null {
  const known = found.each.flatMap(([, percent]) => (percent === null ? [] : [percent]));
  if (known.length < 2) return null;
  const axis = axisFor([...known, ...found.margin, ...(found.interval ?? [])]);
  const parts = [rangeBand(axis, found.margin, "margin")];
  if (found.interval) parts.push(rangeBand(axis, found.interval, "interval"));
  parts.push(...frame(axis));
  const n = found.each.length;
  found.each.forEach(([order, percent], i) => {
    const x = along(i, n);
    if (percent === null) return;
    const title = svg("title", {}, `block ${i + 1}, ${order}: ${change(percent, 2)}`);
    parts.push(svg("circle", { cx: x, cy: down(axis, percent), r: 4.5, class: "block" }, title));
  });
  const every = Math.ceil(n / 12);
  for (let i = every - 1; i < n; i += every) {
    const text = { x: along(i, n), y: HEIGHT - 6, "text-anchor": "middle" };
    parts.push(svg("text", text, String(i + 1)));
  }
  const summary = `Change from A to B in each of ${n} blocks; the table below has the numbers.`;
  const foot = "● change of one block; ▒ less than the smallest difference that matters; the " +
    "outlined band is the 95 % interval of all blocks together.";
  return picture(summary, parts, known.length, "Change of each block, in time", foot);
}

function tables(sheet: Sheet, course: Course): HTMLElement {
  const known = course.points.some((p) => p.started !== "");
  const columns = [{ title: "run" }, { title: "of" }, { title: course.metric, number: true },
    ...(known ? [{ title: "started" }] : [])];
  const rows = course.points.map((p, i) => [
    String(i + 1), sheet.names[p.side], p.text, ...(known ? [when(p.started)] : []),
  ]);
  const all: HTMLElement[] = [table("Every run", columns, rows)];
  if (sheet.blocks) {
    const of = [{ title: "block" }, { title: "order" }, { title: "change", number: true }];
    const each = sheet.blocks.each.map(([order, percent], i) => [
      String(i + 1), order, percent === null ? "—" : change(percent, 2),
    ]);
    all.push(table("Every block", of, each));
  }
  return h("details", {}, h("summary", {}, "Show as a table"), ...all);
}

export function course(sheet: Sheet, prefix: string): HTMLElement | null {
  if (!sheet.course) return null;
  const plots = [runs(sheet, sheet.course), sheet.blocks ? blocks(sheet.blocks) : null];
  const drawn = plots.filter((p) => p !== null);
  if (drawn.length === 0) return null;
  const title = `Run by run: ${sheet.course.metric}`;
  return section(title, `${prefix}-course`, h("div", { class: "pair" }, ...drawn),
    tables(sheet, sheet.course));
}
