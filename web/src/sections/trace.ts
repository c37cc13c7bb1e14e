/** What a trace tells: the load over time, where it goes, how long it takes, what a cache holds. */

import { h, section, table } from "../dom.ts";
import { plot } from "../plot.ts";
import type { Bins } from "../bins.ts";
import type { Course, Trace, TracePart, TraceStats } from "../trace.ts";
import { binary, iops, rate, threeDigits, time } from "../units.ts";
import { densityPlot, tailPlot } from "./distribution.ts";
import { heatMap } from "./heat.ts";
import { download } from "./tables.ts";

const share = (v: number) => (v === 0 ? "0" : `${threeDigits(v * 100)} %`);

/** A time after the first arrival, in the unit that suits a whole trace. */
export const moment = (s: number) => (s === 0 ? "0" : time(s * 1e9));

function head(trace: Trace): HTMLElement {
  const banners = trace.banners.map((b) =>
    h("p", { class: `banner ${b.kind}` }, h("strong", {}, b.mark), ` ${b.text}`));
  return h("header", { class: "run-head" },
    h("h1", {}, trace.heading),
    ...banners,
    ...trace.sentences.map((text, i) => h("p", { class: i === 0 ? "answer" : "sentence" }, text)));
}

function part(one: TracePart, i: number): HTMLElement {
  const facts = one.facts.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]);
  const columns = (one.table?.columns ?? []).map((title, at) => ({ title, number: at > 0 }));
  return section(one.title, `trace-part-${i}`,
    facts.length > 0 ? h("dl", { class: "facts" }, ...facts) : null,
    one.table ? table(one.table.caption, columns, one.table.rows) : null,
    one.note ? h("p", { class: "hint" }, one.note) : null);
}

function load(course: Course): HTMLElement {
  const seconds = course.step_ns / 1e9;
  const at = course.reads.map((_, i) => (course.from_ns + (i + 0.5) * course.step_ns) / 1e9);
  const x = { label: "time since the first request", format: moment };
  const each = (counts: number[]) => counts.map((n) => n / seconds);
  const every = Math.max(1, Math.ceil(at.length / 24));
  const tableAt = at.filter((_, i) => i % every === 0);
  const shown = { x, at, spread: "none" as const, height: 240, tableAt };
  const steps = `in steps of ${time(course.step_ns)}`;
  const plots = [
    plot({
      ...shown,
      title: `Requests a second, ${steps}`,
      summary: "Reads and other requests a second over the time of the trace.",
      y: { label: "requests/s", format: iops },
      lines: [
        { label: "reads", values: each(course.reads) },
        { label: "writes and others", values: each(course.others) },
      ],
    }),
    plot({
      ...shown,
      title: `MB/s, ${steps}`,
      summary: "Bytes read and written a second over the time of the trace.",
      y: { label: "MB/s", format: (v) => rate(v * 1e6) },
      lines: [{ label: "read and written", values: each(course.bytes).map((v) => v / 1e6) }],
    }),
  ];
  if (course.depth_mean.length > 0) {
    plots.push(plot({
      ...shown,
      title: `Requests under way, ${steps}`,
      summary: "Mean and highest number of requests under way over the time of the trace.",
      y: { label: "requests under way", format: threeDigits },
      lines: [
        { label: "mean", values: course.depth_mean },
        { label: "highest", values: course.depth_max },
      ],
    }));
  }
  return section("Over time", "trace-time", h("div", { class: "pair" }, ...plots));
}

function sizes(stats: TraceStats): HTMLElement | null {
  const powers = stats.sizes.powers_of_two.filter((s) => s.bytes > 0);
  if (powers.length < 2) return null;
  const all = powers.reduce((sum, s) => sum + s.reads + s.writes, 0);
  return plot({
    title: "Sizes, by powers of two",
    summary: "Share of requests by size, reads and writes apart.",
    x: { label: "size from", log: 2, format: binary, ticks: powers.map((s) => s.bytes) },
    y: { label: "share of requests", format: share },
    at: powers.map((s) => s.bytes),
    lines: [
      { label: "reads", values: powers.map((s) => s.reads / all) },
      { label: "writes", values: powers.map((s) => s.writes / all) },
    ],
    spread: "none",
    height: 260,
    marks: true,
  });
}

/** Powers of two between two sizes, at most eight of them. */
function powersBetween(low: number, high: number): number[] {
  const [from, to] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
  const step = Math.max(1, Math.ceil((to - from + 1) / 8));
  return Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) },
    (_, i) => 2 ** (from + i * step));
}

function misses(stats: TraceStats): HTMLElement | null {
  const curve = stats.reuse?.miss_ratio ?? [];
  if (curve.length < 2) return null;
  const at = curve.map(([bytes]) => bytes);
  return plot({
    title: `Misses of an LRU cache${stats.reuse?.estimated ? ", estimated" : ""}`,
    summary: "Share of accesses that a cache of each size misses.",
    x: { label: "size of the cache", log: 2, format: binary,
      ticks: powersBetween(at[0]!, at.at(-1)!) },
    y: { label: "misses", format: share, range: [0, 1] },
    at,
    lines: [{ label: "share of accesses missed", values: curve.map(([, miss]) => miss) }],
    spread: "none",
    height: 260,
    tableAt: powersBetween(at[0]!, at.at(-1)!),
  });
}

const SPANS: Record<string, string> = {
  "queue-to-issue": "queue → issue",
  "issue-to-complete": "issue → complete",
  "queue-to-complete": "queue → complete",
};

function latencies(bins: Trace["drawing"]["latencies"]): HTMLElement | null {
  const count = (b: Bins) => b.reduce((sum, [, n]) => sum + n, 0);
  const spans = Object.keys(SPANS).reverse();
  const enough = bins.filter((b) => count(b.bins) >= 20);
  const span = spans.find((s) => enough.some((b) => b.span === s));
  if (!span) return null;
  const holders = spans.filter((s) => enough.some((b) => b.span === s)).map((s) => {
    const shown = enough.filter((b) => b.span === s)
      .map((b) => ({ key: b.op, label: b.op, repeats: [b.bins] }));
    const pair = h("div", { class: "pair" },
      tailPlot(shown, `${SPANS[s]}: latency at each percentile`), densityPlot(shown));
    return s === span ? pair : h("details", {}, h("summary", {}, SPANS[s]!), pair);
  });
  return section("Latency distributions", "trace-latencies",
    h("p", { class: "hint" }, "A line ends where fewer than ten requests lie beyond."), ...holders);
}

/** The whole page of a trace. */
export function drawTrace(trace: Trace, stats: TraceStats, json: string): HTMLElement[] {
  const curves = [sizes(stats), misses(stats)].filter((e) => e !== null);
  const { course, maps, latencies: bins } = trace.drawing;
  const parts = [
    head(trace),
    course ? load(course) : null,
    maps.length > 0 ? heatMap(maps) : null,
    latencies(bins),
    curves.length > 0
      ? section("Sizes and cache", "trace-curves", h("div", { class: "pair" }, ...curves)) : null,
    ...trace.parts.map(part),
    h("p", {}, download(json)),
  ];
  return parts.filter((e) => e !== null);
}
