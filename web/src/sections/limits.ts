/** What limits each phase: the roofline, the ceilings that are known, and a table of phases. */

import { h, section, svg, table } from "../dom.ts";
import {
  type Box, LINE, type Scale, drawable, lineOf, place, pointsOf, rateTicks, scalesOf, sizeTicks,
  spread,
} from "../roofline.ts";
import type { Run } from "../types.ts";
import { binary, grouped, rate } from "../units.ts";

const HEIGHT = 340;
const [LEFT, RIGHT, TOP, FOOT] = [58, 12, 6, 46];
/** How wide a letter of a name is at most, in pixels. */
const LETTER = 7.3;
const COLOURS = 6;

/** The stations of a run in the order in which they occur; each has a colour and a mark. */
type Stations = Map<string, { words: string; i: number }>;

function stationsOf(run: Run): Stations {
  const { limits = [], ceilings = [] } = run.document;
  const found: Stations = new Map();
  const add = (by: string, words: string) => {
    if (!found.has(by)) found.set(by, { words, i: found.size });
  };
  limits.forEach((limit, i) => add(limit.by, run.limits?.[i]?.station ?? limit.by));
  ceilings.forEach((ceiling, i) => add(ceiling.by, run.ceilings?.[i]?.station ?? ceiling.by));
  return found;
}

const SHAPES = [
  "M-5,0 A5,5 0 1 1 5,0 A5,5 0 1 1 -5,0 Z", "M-4.5,-4.5 H4.5 V4.5 H-4.5 Z",
  "M0,-6 L6,0 L0,6 L-6,0 Z", "M0,-5.5 L5.5,4.5 L-5.5,4.5 Z", "M0,5.5 L5.5,-4.5 L-5.5,-4.5 Z",
  "M-2,-5.5 H2 V-2 H5.5 V2 H2 V5.5 H-2 V2 H-5.5 V-2 H-2 Z",
];

/** The colours begin again after six stations, with another mark each. */
const shapeOf = (i: number) => SHAPES[(i + Math.floor(i / COLOURS)) % SHAPES.length]!;
const classOf = (kind: string, i: number) => `${kind} line-${i % COLOURS}`;

function mark(i: number, x: number, y: number, title: string | null): SVGElement {
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  const drawn = { d: shapeOf(i), transform, class: classOf("mark-of", i) };
  return svg("path", drawn, title === null ? null : svg("title", {}, title));
}

function frame(x: Scale, y: Scale, width: number): SVGElement[] {
  const bottom = HEIGHT - FOOT;
  const across = rateTicks(y).flatMap((v) => {
    const at = place(y, v);
    const line = svg("line", { x1: LEFT, x2: width - RIGHT, y1: at, y2: at, class: "mark" });
    const text = v >= 1e6 ? grouped(v / 1e6) : String(Number((v / 1e6).toPrecision(2)));
    return [line, svg("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, text)];
  });
  const up = sizeTicks(x, 64).flatMap((v) => {
    const at = place(x, v);
    const line = svg("line", { x1: at, x2: at, y1: TOP, y2: bottom, class: "mark" });
    return [line, svg("text", { x: at, y: bottom + 17, "text-anchor": "middle" }, binary(v))];
  });
  const middle = (LEFT + width - RIGHT) / 2;
  const label = svg("text", { x: middle, y: HEIGHT - 6, "text-anchor": "middle" }, "request size");
  return [...across, ...up, label];
}

/** A name, cut to the room there is; the whole of it is the title of its line. */
const cut = (name: string, room: number) => {
  const most = Math.max(4, Math.floor(room / LETTER));
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
};

interface Drawn {
  line: [number, number, number, number];
  name: string;
  title: string;
  i: number;
  dashed: boolean;
  slanted: boolean;
}

/** Names stand over flat lines at the right, and under slanted ones where they begin. */
function names(all: Drawn[], points: Box[], width: number): SVGElement[] {
  const wanted = all.map(({ line: [x1, y1], name, slanted }): Box => {
    const wide = name.length * LETTER;
    const left = slanted ? x1 + 8 : width - RIGHT - wide - 2;
    return { left, top: slanted ? y1 + 2 : y1 - LINE - 1, width: wide, height: LINE };
  });
  const shifted = wanted.map((box) => ({ ...box, top: box.top - TOP }));
  const taken = points.map((box) => ({ ...box, top: box.top - TOP }));
  const high = HEIGHT - FOOT - TOP;
  const [leaning, level] = [true, false].map((slanted) =>
    all.flatMap((drawn, k) => (drawn.slanted === slanted ? [k] : []))) as [number[], number[]];
  const under = spread(leaning.map((k) => shifted[k]!), [], taken, high, 1);
  const over = spread(level.map((k) => shifted[k]!), under, taken, high, -1);
  const found: Box[] = [];
  leaning.forEach((k, n) => (found[k] = under[n]!));
  level.forEach((k, n) => (found[k] = over[n]!));
  return all.flatMap((drawn, k) => {
    const { top, left, width: wide } = found[k]!;
    const base = top + TOP + LINE - 4;
    const class_ = classOf("name-of", drawn.i);
    const at = drawn.slanted ? { x: left } : { x: left + wide, "text-anchor": "end" };
    const text = svg("text", { ...at, y: base, class: class_ }, drawn.name);
    const moved = Math.abs(top - shifted[k]!.top) > LINE / 2;
    if (!moved) return [text];
    // A name that had to give way is tied to its line.
    const end = drawn.slanted ? left - 3 : left + wide + 3;
    const to = drawn.slanted ? drawn.line[0] : drawn.line[2];
    const tie = { x1: end, y1: base - 4, x2: to, y2: drawn.line[1] };
    return [svg("line", { ...tie, class: classOf("tie line-of", drawn.i) }), text];
  });
}

function picture(run: Run, stations: Stations, width: number): SVGElement[] {
  const { limits = [], ceilings = [] } = run.document;
  const { x, y } =
    scalesOf(limits, ceilings, [LEFT, width - RIGHT], [HEIGHT - FOOT, TOP]);
  const lines = drawable(ceilings).map((ceiling): Drawn => {
    const row = run.ceilings?.[ceilings.indexOf(ceiling)];
    const name = row?.name ?? ceiling.name;
    const title = `${name}: ${row?.rate ?? ""}, ${ceiling.known}: ${ceiling.from}`;
    const slanted = ceiling.unit === "requests_per_s";
    const room = (width - LEFT - RIGHT) * (slanted ? 0.55 : 0.8);
    return {
      line: lineOf(ceiling, x, y), name: cut(name, room), title,
      i: stations.get(ceiling.by)!.i, dashed: ceiling.op !== undefined, slanted,
    };
  });
  const strokes = lines.map(({ line: [x1, y1, x2, y2], title, i, dashed }) => {
    const drawn = { x1, y1, x2, y2, class: classOf("ceiling line-of", i) };
    const dash = dashed ? "7 4" : null;
    return svg("line", { ...drawn, "stroke-dasharray": dash }, svg("title", {}, title));
  });
  const points = pointsOf(limits);
  const boxes = points.map((p): Box =>
    ({ left: place(x, p.x) - 7, top: place(y, p.y) - 7, width: 14, height: 14 }));
  const marks = points.map((p) => {
    const row = run.limits?.[p.i];
    const title = `${row?.title ?? limits[p.i]!.phase}: ${rate(p.y)} MB/s in requests of ` +
      `${binary(Math.round(p.x))}; limited by ${limits[p.i]!.name}`;
    return mark(stations.get(p.by)!.i, place(x, p.x), place(y, p.y), title);
  });
  return [...frame(x, y, width), ...strokes, ...marks, ...names(lines, boxes, width)];
}

function legend(run: Run, stations: Stations): HTMLElement {
  const shown = new Set(pointsOf(run.document.limits ?? []).map((p) => p.by));
  const entries = [...stations].filter(([by]) => shown.has(by)).map(([, { words, i }]) => {
    const holder = { width: 16, height: 14, "aria-hidden": "true", class: "swatch" };
    return h("li", {}, svg("svg", holder, mark(i, 8, 7, null)), words);
  });
  return h("ul", { class: "legend" }, ...entries);
}

function roofline(run: Run, stations: Stations): HTMLElement | null {
  const points = pointsOf(run.document.limits ?? []);
  const lines = drawable(run.document.ceilings ?? []);
  if (points.length === 0) return null;
  const summary = `Roofline: MB/s over request size for ${points.length} phases, below ` +
    `${lines.length} ceilings; the tables have the numbers.`;
  const drawing = svg("svg", { role: "img", "aria-label": summary, class: "roofline" });
  const draw = (width: number) => {
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    drawing.replaceChildren(...picture(run, stations, width));
  };
  draw(600);
  let drawnAt = 600;
  const watch = new ResizeObserver(() => {
    const width = Math.floor(drawing.clientWidth);
    if (width < 200 || width === drawnAt) return;
    drawnAt = width;
    draw(width);
  });
  watch.observe(drawing);
  const dashed = lines.some((c) => c.op !== undefined) ? " Dashed: of one operation alone." : "";
  const hint = `Marks: phases, by what limits them. Lines: what each station lets pass.${dashed}`;
  const figure = h("figure", { class: "plot" }, h("figcaption", {}, "MB/s over request size"),
    drawing, legend(run, stations), h("p", { class: "hint" }, hint));
  figure.dataset["points"] = String(points.length);
  figure.dataset["ink"] = String(drawing.childElementCount);
  figure.addEventListener("gone", () => watch.disconnect());
  return figure;
}

function ceilingTable(run: Run): HTMLElement | null {
  const rows = (run.ceilings ?? []).map((c) =>
    [c.name, c.rate, h("span", {}, `${c.known}: `, h("span", { class: "origin" }, c.from))]);
  if (rows.length === 0) return null;
  const titles = ["ceiling", "at most", "how known"];
  const columns = titles.map((title) => ({ title, number: title === "at most" }));
  return h("div", { class: "stacked" }, table("Known ceilings", columns, rows));
}

function phaseTable(run: Run): HTMLElement {
  const titles = ["phase", "limited by", "share", "how sure", "next"];
  const columns = titles.map((title) => ({ title, number: title === "share" }));
  const rows = (run.limits ?? []).map((row) => {
    const or = row.or === null ? null : h("small", { class: "remark" }, row.or);
    return [row.title, h("span", {}, row.name, or), row.share, row.sure, row.next];
  });
  return h("div", { class: "stacked" }, table("What limits each phase", columns, rows));
}

function evidence(run: Run): HTMLElement | null {
  const rows = (run.document.limits ?? []).flatMap((limit, i) =>
    limit.evidence.map((e) => [run.limits?.[i]?.title ?? limit.phase, e.seen,
      h("span", { class: "origin" }, e.from)]));
  if (rows.length === 0) return null;
  const columns = [{ title: "phase" }, { title: "seen" }, { title: "from" }];
  return h("details", {}, h("summary", {}, "How this is known"),
    h("div", { class: "stacked" }, table("Evidence for each phase", columns, rows)));
}

export function limits(run: Run, prefix: string): HTMLElement | null {
  if ((run.limits ?? []).length === 0) return null;
  const parts = [roofline(run, stationsOf(run)), ceilingTable(run)].filter((e) => e !== null);
  return section("What limits each phase", `${prefix}-limits`,
    parts.length > 0 ? h("div", { class: "pair" }, ...parts) : null, phaseTable(run),
    evidence(run));
}
