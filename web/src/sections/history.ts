/** The history of one metric: a plot, what changed, and each run with a way to its page. */

import { h, table } from "../dom.ts";
import { address, isServed } from "../live.ts";
import { type Line, plot } from "../plot.ts";
import { dayTicks } from "../ticks.ts";
import type { History } from "../types.ts";
import { formatOf, when } from "../units.ts";

const seconds = (time: string) => Date.parse(time) / 1000;
const day = (at: number) => new Date(at * 1000).toISOString().slice(0, 10);

function drawn(history: History): HTMLElement | null {
  const { points, metric } = history;
  if (points.length < 2) return null;
  const at = points.map((point) => seconds(point.at));
  const ofHosts = points.some((point) => point.hosts !== null);
  const lines: Line[] = [{
    label: ofHosts ? "median of the hosts" : "median of the repeats",
    values: points.map((point) => point.value),
    low: points.map((point) => point.low),
    high: points.map((point) => point.high),
  }];
  if (points.some((point) => point.level !== null)) {
    const values = points.map((point) => point.level);
    lines.push({ label: "mean between changes", values, marks: false });
  }
  return plot({
    title: ofHosts ? "Day by day" : "Run by run",
    summary: `${metric} at ${points.length} times.`,
    x: { label: "day", ticks: (most) => dayTicks(at[0]!, at.at(-1)!, most), format: day },
    y: { label: metric, format: formatOf(metric) },
    at,
    lines,
    spread: "band",
    height: 320,
    marks: true,
  });
}

/** Another workload or metric of the same disks. */
function choice(history: History): HTMLElement[] {
  const { choices, phase, metric } = history;
  const chosen = choices.find((one) => one.phase === phase);
  if (!isServed() || !chosen) return [];
  const go = (phase: string, metric: string) => {
    const given = Object.fromEntries(new URLSearchParams(location.search));
    location.assign(address("/trend", { ...given, phase, metric }));
  };
  const other = (title: string, id: string, options: [name: string, title: string][],
    now: string, change: (at: number) => void) => {
    const shown = options.map(([name, title]) => h("option", { selected: name === now }, title));
    const select = h("select", { id, change: () => change(select.selectedIndex) }, ...shown);
    return h("p", { class: "choice" }, h("label", { for: id }, `${title} `), select);
  };
  const toPhase = (at: number) => {
    const { phase, metrics } = choices[at]!;
    go(phase, metrics.some(([name]) => name === metric) ? metric : metrics[0]![0]);
  };
  const phases = choices.map(({ phase, title }): [string, string] => [phase, title]);
  return [
    other("Workload", "history-phase", phases, phase, toPhase),
    other("Metric", "history-metric", chosen.metrics, metric,
      (at) => go(phase, chosen.metrics[at]![0])),
  ];
}

export function drawHistory(history: History): HTMLElement[] {
  const write = formatOf(history.metric);
  const ofHosts = history.points.some((point) => point.hosts !== null);
  const columns = [
    { title: ofHosts ? "day" : "started" },
    { title: "median", number: true },
    { title: "lowest – highest", number: true },
    ...(ofHosts ? [{ title: "hosts", number: true }, { title: "newest run" }] : []),
  ];
  const rows = history.points.toReversed().map((point) => {
    const to = (text: string) =>
      h("a", { href: address(`/run/${point.run}`, { host: point.host }) }, text);
    return [
      ofHosts ? point.at.slice(0, 10) : to(when(point.at)),
      write(point.value),
      `${write(point.low)} – ${write(point.high)}`,
      ...(ofHosts ? [String(point.hosts), to(point.host)] : []),
    ];
  });
  return [
    h("h1", {}, history.heading),
    h("p", { class: "hint" }, history.about),
    ...choice(history),
    ...history.sentences.map((sentence) => h("p", {}, sentence)),
    drawn(history),
    table("Newest first", columns, rows),
  ].filter((part) => part !== null);
}
