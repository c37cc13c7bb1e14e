/** Address over time as a map of shades: how many requests begin in each cell. */

import { h, section, table } from "../dom.ts";
import type { TraceMap } from "../trace.ts";
import { binary, grouped, time } from "../units.ts";

const HEIGHT = 420;
const LEFT = 84;
const BOTTOM = 42;
const TOP = 8;
/** Bands of addresses in the table behind the map. */
const BANDS = 16;

type Kind = "all" | "reads" | "writes";
const KINDS: [Kind, string][] =
  [["all", "reads and writes"], ["reads", "reads"], ["writes", "writes"]];
const countOf = (kind: Kind, reads: number, writes: number) =>
  kind === "reads" ? reads : kind === "writes" ? writes : reads + writes;

const colour = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Round places between two numbers, about `n` of them, at multiples of a step times 1, 2 or 5. */
export function places(from: number, to: number, n: number, base: 2 | 10): number[] {
  const rough = (to - from) / n;
  if (!(rough > 0)) return [];
  const power = base ** Math.floor(Math.log(rough) / Math.log(base));
  const round = base === 2 ? [1, 2] : [1, 2, 5, 10];
  const step = round.map((m) => m * power).find((s) => s >= rough) ?? power * base;
  const out: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) out.push(at);
  return out;
}

function paint(canvas: HTMLCanvasElement, map: TraceMap, kind: Kind): number {
  const width = canvas.clientWidth;
  const ctx = canvas.getContext("2d");
  if (!ctx || width < LEFT + 20) return 0;
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(HEIGHT * scale);
  ctx.scale(scale, scale);
  ctx.clearRect(0, 0, width, HEIGHT);
  const [wide, high] = [width - LEFT - 8, HEIGHT - TOP - BOTTOM];
  const [cellWide, cellHigh] = [wide / map.columns, high / map.rows];
  const most = Math.max(1, ...map.cells.map(([, , r, w]) => countOf(kind, r, w)));
  ctx.fillStyle = colour("--line-0");
  let drawn = 0;
  for (const [column, row, reads, writes] of map.cells) {
    const n = countOf(kind, reads, writes);
    if (n === 0) continue;
    drawn += 1;
    ctx.globalAlpha = 0.25 + (0.75 * Math.log1p(n)) / Math.log1p(most);
    const y = TOP + high - (row + 1) * cellHigh;
    // Never thinner than a pixel, or a lone cell could not be seen.
    ctx.fillRect(LEFT + column * cellWide, y, Math.max(cellWide, 1.2), Math.max(cellHigh, 1.2));
  }
  ctx.globalAlpha = 1;
  axes(ctx, map, wide, high);
  return drawn;
}

function axes(ctx: CanvasRenderingContext2D, map: TraceMap, wide: number, high: number): void {
  ctx.strokeStyle = colour("--rule");
  ctx.fillStyle = colour("--quiet");
  ctx.font = "12px system-ui, sans-serif";
  ctx.strokeRect(LEFT, TOP, wide, high);
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const [ns, end] = [map.from_ns, map.from_ns + map.columns * map.step_ns];
  for (const at of places(ns, end, Math.max(2, wide / 110), 10)) {
    const x = LEFT + ((at - ns) / (end - ns)) * wide;
    ctx.fillText(at === 0 ? "0" : time(at).replace(/\.0+ /, " "), x, TOP + high + 6);
  }
  ctx.fillText("time since the first request", LEFT + wide / 2, TOP + high + 24);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const [low, top] = [map.from_bytes, map.from_bytes + map.rows * map.step_bytes];
  for (const at of places(low, top, 8, 2)) {
    const y = TOP + high - ((at - low) / (top - low)) * high;
    ctx.fillText(binary(at), LEFT - 6, Math.min(Math.max(y, TOP + 6), TOP + high - 6));
  }
}

/** The same as numbers: bands of addresses over the whole time. */
function numbers(map: TraceMap): HTMLElement {
  const each = Math.max(1, Math.ceil(map.rows / BANDS));
  const bands = Array.from({ length: Math.ceil(map.rows / each) }, () => [0, 0, 0] as number[]);
  const busy = bands.map(() => new Set<number>());
  for (const [column, row, reads, writes] of map.cells) {
    const at = Math.floor(row / each);
    bands[at]![0]! += reads;
    bands[at]![1]! += writes;
    busy[at]!.add(column);
  }
  const rows = bands.map(([reads, writes], i) => [
    `from ${binary(map.from_bytes + i * each * map.step_bytes)}`,
    grouped(reads!), grouped(writes!), `${Math.round((100 * busy[i]!.size) / map.columns)} %`,
  ]);
  const columns = ["addresses", "reads", "writes", "of the time in use"]
    .map((title, i) => ({ title, number: i > 0 }));
  return h("details", {}, h("summary", {}, "Show as a table"),
    table(`Requests of ${map.device} by address`, columns, rows));
}

export function heatMap(maps: TraceMap[]): HTMLElement {
  const canvas = h("canvas", { role: "img" });
  canvas.style.width = "100%";
  canvas.style.height = `${HEIGHT}px`;
  const caption = h("figcaption");
  const behind = h("div");
  const figure = h("figure", { class: "plot", "data-plot": "heat" }, caption, canvas, behind);
  const change = () => draw();
  const device = h("select", { id: "heat-device", change },
    ...maps.map((m) => h("option", {}, `${m.device} (${grouped(m.requests)} requests)`)));
  const kind = h("select", { id: "heat-kind", change },
    ...KINDS.map(([, words]) => h("option", {}, words)));
  const repaint = () => {
    const map = maps[device.selectedIndex]!;
    figure.dataset["points"] = String(paint(canvas, map, KINDS[kind.selectedIndex]![0]));
  };
  const draw = () => {
    const map = maps[device.selectedIndex]!;
    const words = KINDS[kind.selectedIndex]![1];
    const cell = `${time(map.step_ns)} by ${binary(map.step_bytes)}`;
    caption.textContent = `Where ${words} begin; a cell is ${cell}, darker or brighter with the ` +
      "logarithm of their number";
    canvas.setAttribute("aria-label",
      `Map of addresses over time: where ${words} of the chosen device begin.`);
    behind.replaceChildren(numbers(map));
    repaint();
  };
  draw();
  new ResizeObserver(() => figure.isConnected && repaint()).observe(canvas);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", repaint);
  }
  return section("Address over time", "trace-map",
    h("p", { class: "choice" },
      ...(maps.length > 1 ? [h("label", { for: "heat-device" }, "Device "), device, " "] : []),
      h("label", { for: "heat-kind" }, "Shown "), kind),
    figure);
}
