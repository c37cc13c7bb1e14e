/** The forest plot: the change of every metric with its interval, over the margin. */

import { h, section, svg, table } from "../dom.ts";
import { type RatioAxis, axisFor, change, marksOf, placeOf } from "../ratio.ts";
import type { Effect, Sheet } from "../types.ts";

export const at = (axis: RatioAxis, percent: number) => `${placeOf(axis, percent).toFixed(3)}%`;
export const HEIGHT = 26;
const MIDDLE = HEIGHT / 2;

/** Lines for the marks, and the heavier one of no change. */
export function grid(axis: RatioAxis, marks: number[], height: number): SVGElement[] {
  return marks.map((p) => {
    const x = at(axis, p);
    return svg("line", { x1: x, x2: x, y1: 0, y2: height, class: p === 0 ? "zero" : "mark" });
  });
}

function band(axis: RatioAxis, effect: Effect): SVGElement | null {
  if (!effect.band) return null;
  const [low, high] = effect.band.map((p) => placeOf(axis, p)) as [number, number];
  const width = `${(high - low).toFixed(3)}%`;
  return svg("rect", { x: `${low.toFixed(3)}%`, y: 2, width, height: HEIGHT - 4,
    class: `band ${effect.band_is}` });
}

function drawn(axis: RatioAxis, marks: number[], effect: Effect): SVGElement {
  const parts: (SVGElement | null)[] = [band(axis, effect), ...grid(axis, marks, HEIGHT)];
  if (effect.interval) {
    const [low, high] = effect.interval.map((p) => at(axis, p)) as [string, string];
    const y = MIDDLE;
    parts.push(svg("line", { x1: low, x2: high, y1: y, y2: y, class: "whole" }));
    for (const x of [low, high]) {
      parts.push(svg("line", { x1: x, x2: x, y1: y - 4, y2: y + 4, class: "whole" }));
    }
  }
  if (effect.percent !== null) {
    const shape = { cx: at(axis, effect.percent), cy: MIDDLE, r: effect.interval ? 5.5 : 4.5 };
    parts.push(svg("circle", { ...shape, class: effect.interval ? "point" : "point alone" }));
  }
  const size = { width: "100%", height: HEIGHT, "aria-hidden": "true", focusable: "false" };
  return svg("svg", { ...size, class: `effect ${effect.tone}` }, ...parts);
}

/** The marks in words, under what was drawn. */
export function scale(axis: RatioAxis, marks: number[]): SVGElement {
  const zero = marks.indexOf(0);
  const texts = marks.map((p, i) => {
    const place = placeOf(axis, p);
    const anchor = place < 6 ? "start" : place > 94 ? "end" : "middle";
    // Where there is little room only every other mark is named, no change among them.
    const minor = (i - zero) % 2 === 0 ? null : "minor";
    const where = { x: `${place.toFixed(3)}%`, y: 13, "text-anchor": anchor };
    return svg("text", { ...where, class: minor }, change(p));
  });
  return svg("svg", { width: "100%", height: 18, class: "scale", "aria-hidden": "true" }, ...texts);
}

const inWords = (e: Effect) =>
  `${e.group ? `${e.group}: ` : ""}${e.title}: ${e.change}${e.word ? `, ${e.word}` : ""}`;

function forest(sheet: Sheet, shown: Effect[]): HTMLElement {
  const all = shown.flatMap((e) => [e.percent!, ...(e.interval ?? []), ...(e.band ?? [])]);
  const axis = axisFor(all);
  const marks = marksOf(axis);
  let before: string | null = null;
  const rows = shown.flatMap((effect) => {
    const heading = effect.group !== null && effect.group !== before
      ? [h("div", { class: "group" }, effect.group)] : [];
    before = effect.group;
    const word = effect.word ? h("span", { class: `verdict ${effect.tone}` }, effect.word) : null;
    return [
      ...heading,
      h("div", { class: "title" }, effect.title),
      h("div", { class: "axis" }, drawn(axis, marks, effect)),
      h("div", { class: "change" }, h("span", {}, effect.change), word),
    ];
  });
  const [a, b] = sheet.names;
  const summary = `Change from ${a} to ${b}: ${shown.map(inWords).join("; ")}.`;
  const kinds = new Set(shown.filter((e) => e.band).map((e) => e.band_is));
  const legend = [
    "● change from A to B as a ratio",
    shown.some((e) => e.interval) ? "├─┤ its 95 % interval" : null,
    shown.some((e) => !e.interval) ? "○ the same, too few runs for an interval" : null,
    kinds.has("margin") ? "▒ less than the smallest difference that matters" : null,
    kinds.has("usual") ? "▒ (dashed) how far single runs usually lie apart" : null,
  ].filter((text) => text !== null);
  const figure = h(
    "figure",
    { class: "plot forest" },
    h("figcaption", {}, `Change from ${a} to ${b}`),
    h("div", { class: "rows", role: "img", "aria-label": summary }, ...rows,
      h("div", { class: "title" }), h("div", { class: "axis" }, scale(axis, marks)),
      h("div", { class: "change" })),
    h("p", { class: "hint" }, legend.join("; "), "."),
  );
  figure.dataset["points"] = String(shown.length);
  return figure;
}

function numbers(sheet: Sheet, effects: Effect[], caption: string): HTMLElement {
  const several = effects.some((e) => e.group !== null);
  const titles = ["metric", ...sheet.names, "change", "verdict"];
  const columns = titles.map((title, i) => ({ title, number: i > 0 && i < 4 }));
  const rows = effects.map((e) => {
    const title = several && e.group ? `${e.group}: ${e.title}` : e.title;
    return [title, e.a, e.b, e.change, e.word];
  });
  return table(caption, columns, rows);
}

export function effects(sheet: Sheet, prefix: string): HTMLElement | null {
  const main = sheet.effects.filter((e) => e.main);
  const rest = sheet.effects.filter((e) => !e.main);
  if (sheet.effects.length === 0) return null;
  const shown = (main.length >= 2 ? main : sheet.effects).filter((e) => e.percent !== null);
  const more = rest.length > 0
    ? h("details", {}, h("summary", {}, `All ${sheet.effects.length} metrics`),
        numbers(sheet, sheet.effects, "Every metric"))
    : null;
  return section(
    "How much it changed",
    `${prefix}-effects`,
    shown.length > 0 ? forest(sheet, shown) : null,
    main.length > 0 ? numbers(sheet, main, "Numbers") : null,
    more,
    sheet.caveat ? h("p", { class: "hint" }, `${sheet.caveat}.`) : null,
  );
}
