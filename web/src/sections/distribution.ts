/** Latency distributions: how slow the slow requests are, and where most of them lie. */

import {
  type Middle, countOf, density, densityEdge, densityRange, highestQuantile, nines, overRepeats,
  quantiles, shareAt,
} from "../bins.ts";
import { h, section } from "../dom.ts";
import { DASHES, type Line, discard, plot } from "../plot.ts";
import { type Distribution, distributionsOf, firstShown } from "../select.ts";
import type { Run } from "../types.ts";
import { percentile, threeDigits, time } from "../units.ts";

const STEP = 0.02;
const TABLE_SHARES = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

const asLine = (label: string, curve: Middle): Line => ({
  label,
  values: curve.median,
  low: curve.low,
  high: curve.high,
});

const percentileAt = (nine: number) => percentile(Math.round(shareAt(nine) * 1e6) / 1e6);

/** Latency against percentile, every nine as wide as the last, as far as requests allow. */
export function tailPlot(shown: Distribution[], title: string): HTMLElement {
  const reach = (d: Distribution) =>
    Math.min(...d.repeats.map((bins) => nines(highestQuantile(countOf(bins)))));
  const last = Math.max(STEP, ...shown.map(reach));
  const steps = Math.ceil(last / STEP - 1e-9);
  const at = Array.from({ length: steps + 1 }, (_, i) => Math.min(i * STEP, last));
  const shares = at.map(shareAt);
  const lines = shown.map((d) =>
    asLine(d.label, overRepeats(d.repeats.map((bins) => quantiles(bins, shares)))),
  );
  const tableAt = TABLE_SHARES.map(nines).filter((n) => n <= last + STEP / 2);
  return plot({
    title,
    summary: `Latency at each percentile for ${shown.map((d) => d.label).join("; ")}.`,
    x: {
      label: "percentile of requests",
      format: percentileAt,
      mark: (v) => percentileAt(v).replace(" %", ""),
      ticks: tableAt,
      range: [0, last],
    },
    y: { label: "latency", log: 10, format: time },
    at,
    lines,
    spread: "band",
    height: 320,
    tableAt,
  });
}

export function densityPlot(shown: Distribution[]): HTMLElement {
  const [from, to] = densityRange(shown.flatMap((d) => d.repeats));
  const at = Array.from({ length: to - from }, (_, i) => densityEdge(from + i + 0.5));
  const lines = shown.map((d) => {
    const each = d.repeats.map((bins) => density(bins, from, to));
    const mean = at.map((_, i) => each.reduce((sum, one) => sum + one[i]!, 0) / each.length);
    const [first, last] = [mean.findIndex((v) => v > 0), mean.findLastIndex((v) => v > 0)];
    const values = mean.map((v, i) => (i < first - 1 || i > last + 1 ? null : v));
    return { label: d.label, values };
  });
  const names = shown.map((d) => d.label).join("; ");
  return plot({
    title: "Where the requests lie, by twelfths of an octave",
    summary: `Share of requests in each twelfth of an octave of latency for ${names}.`,
    x: { label: "latency", log: 10, format: time, range: [at[0] ?? 1, at.at(-1) ?? 2] },
    y: {
      label: "share of requests",
      format: (v) => (v === 0 ? "0" : `${threeDigits(v)} %`),
    },
    at,
    lines,
    spread: "none",
    height: 260,
  });
}

export function distribution(run: Run, prefix: string): HTMLElement | null {
  const all = run.document.phases.flatMap((p) => distributionsOf(p, run.detail.repeats));
  if (all.length === 0) return null;
  const chosen = firstShown(run.document, all);
  const holder = h("div", { class: "pair" });
  const most = DASHES.length;
  const boxes = all.map((d, i) => {
    const id = `${prefix}-shown-${i}`;
    const change = () => {
      if (box.checked) chosen.add(d.key);
      else chosen.delete(d.key);
      draw();
    };
    const box = h("input", { type: "checkbox", id, checked: chosen.has(d.key), change });
    return { box, key: d.key, item: h("li", {}, box, h("label", { for: id }, d.label)) };
  });
  const draw = () => {
    discard(holder);
    const shown = all.filter((d) => chosen.has(d.key));
    for (const { box, key } of boxes) box.disabled = !chosen.has(key) && shown.length >= most;
    if (shown.length === 0) holder.append(h("p", {}, "Choose a phase to see its latencies."));
    else holder.append(tailPlot(shown, "Latency at each percentile"), densityPlot(shown));
  };
  draw();
  return section(
    "Latency distributions",
    `${prefix}-distribution`,
    h("p", { class: "hint" }, "Lines: median of the repeats; bands: lowest to highest repeat. ",
      "A line ends where there are too few requests for the next percentile (10 beyond it)."),
    h("fieldset", { class: "chooser" },
      h("legend", {}, `Phases shown (at most ${most})`), h("ul", {}, ...boxes.map((b) => b.item))),
    holder,
  );
}
