/** Where lines, points and names of a roofline lie: MB/s over request size, both logarithmic. */

import { logTicks } from "./ticks.ts";
import type { Ceiling, PhaseLimit } from "./types.ts";

/** A range of a logarithmic axis, and the pixels it takes. */
export interface Scale {
  from: number;
  to: number;
  /** Pixels of `from` and `to`. */
  at: [number, number];
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const positive = (value: number | null | undefined): value is number =>
  value != null && Number.isFinite(value) && value > 0;

export const place = (scale: Scale, value: number) =>
  scale.at[0] +
  ((scale.at[1] - scale.at[0]) * Math.log(value / scale.from)) / Math.log(scale.to / scale.from);

/** Ceilings that are lines of the plot; one of commands outstanding is none. */
export const drawable = (ceilings: Ceiling[]) =>
  ceilings.filter((c) => c.unit !== "commands" && positive(c.rate));

/** Phases that are points of the plot, by their place in `limits`. */
export const pointsOf = (limits: PhaseLimit[]) =>
  limits.flatMap((limit, i) => {
    const { request_bytes: x, bytes_per_s: y } = limit;
    return positive(x) && positive(y) ? [{ i, x, y, by: limit.by }] : [];
  });

/** Bytes a second that a ceiling allows to requests of a size. */
const at = (ceiling: Ceiling, bytes: number) =>
  ceiling.unit === "bytes_per_s" ? ceiling.rate : ceiling.rate * bytes;

/** Pixels of a line of text. */
export const LINE = 15;

/**
 * Axes on which every point lies, and the beginning of every line, on `wide` and `high` pixels.
 * Over the highest ceiling there is room for names, and under the lowest point.
 */
export function scalesOf(
  limits: PhaseLimit[], ceilings: Ceiling[], wide: [number, number], high: [number, number],
): { x: Scale; y: Scale } {
  const points = pointsOf(limits);
  const sizes = points.map((p) => p.x);
  const from = Math.min(4096, ...sizes) / 1.6;
  const to = Math.max(1 << 20, ...sizes) * 1.6;
  const rates = [...points.map((p) => p.y), ...drawable(ceilings).map((c) => at(c, from))];
  const [low, most] = rates.length > 0 ? [Math.min(...rates), Math.max(...rates)] : [1e6, 1e8];
  const [bottom, top] = high;
  const flat = drawable(ceilings).filter((c) => c.unit === "bytes_per_s").length;
  const slanted = drawable(ceilings).length - flat;
  const over = 8 + LINE * Math.min(flat, 5);
  const under = 10 + LINE * Math.min(slanted, 4);
  const perPixel = Math.log(Math.max(most / low, 10)) / (bottom - top - over - under);
  return {
    x: { from, to, at: wide },
    y: { from: low * Math.exp(-perPixel * under), to: most * Math.exp(perPixel * over), at: high },
  };
}

/** The ends of a ceiling's line in pixels, cut off at the top. */
export function lineOf(ceiling: Ceiling, x: Scale, y: Scale): [number, number, number, number] {
  const slanted = ceiling.unit === "requests_per_s";
  const end = slanted ? Math.min(x.to, y.to / ceiling.rate) : x.to;
  const [first, last] = [at(ceiling, x.from), at(ceiling, end)];
  return [place(x, x.from), place(y, first), place(x, end), place(y, last)];
}

/** Powers of two with `gap` pixels between them at least. */
export function sizeTicks(x: Scale, gap: number): number[] {
  const perDoubling = (x.at[1] - x.at[0]) / Math.log2(x.to / x.from);
  const step = Math.max(1, Math.ceil(gap / perDoubling));
  const out: number[] = [];
  for (let e = Math.ceil(Math.log2(x.from)); 2 ** e <= x.to; e++) {
    if ((e - 12) % step === 0) out.push(2 ** e);
  }
  return out;
}

export const rateTicks = (y: Scale) => logTicks(y.from, y.to, Math.abs(y.at[1] - y.at[0]), 26);

const overlap = (a: Box, b: Box) =>
  a.left < b.left + b.width && b.left < a.left + a.width &&
  a.top < b.top + b.height && b.top < a.top + a.height;

/**
 * Moves boxes until none covers another, nor one of `fixed`, as little as possible, within
 * `height`: upwards those that lie over others (`way` -1), or downwards those under them (1). What is in
 * `avoid` is covered only if there is no other place.
 */
export function spread(
  boxes: Box[], fixed: Box[], avoid: Box[], height: number, way: 1 | -1,
): Box[] {
  const order = boxes.map((_, i) => i).sort((a, b) => way * (boxes[a]!.top - boxes[b]!.top));
  const placed = [...fixed];
  const found: Box[] = [];
  const steps = Array.from({ length: Math.ceil(height) }, (_, n) => n);
  for (const i of order) {
    const box = boxes[i]!;
    const clear = (b: Box, others: Box[]) =>
      b.top >= 0 && b.top + b.height <= height && others.every((o) => !overlap(b, o));
    const moved = (by: number): Box => ({ ...box, top: box.top + by });
    const ways = [way, -way].flatMap((sign) => steps.map((n) => moved(sign * n)));
    const best = ways.find((b) => clear(b, [...placed, ...avoid])) ??
      ways.find((b) => clear(b, placed)) ?? box;
    placed.push(best);
    found[i] = best;
  }
  return found;
}
