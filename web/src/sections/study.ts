/** What was asked of several runs: a sweep, the limit under a bound, steady state. */

import { h, section, table } from "../dom.ts";
import { type Axis, type Line, plot } from "../plot.ts";
import { roundsOf, stretchesOf, sweepLines, totalRate, triedRates, worstP99 } from "../study.ts";
import type { Limit, Panel, Phase, Run, Spread, Steady, Sustained, Sweep, Told } from "../types.ts";
import { binary, iops, rate as bytesPerSecond, time } from "../units.ts";

const known = (line: Line) => line.values.some((value) => value !== null);

/** A place for each value of a key, evenly spaced: doubling values are a log scale by themselves. */
function placesAxis(label: string, places: string[]): Axis {
  const every = Math.ceil(places.length / 10);
  const ticks = places.map((_, i) => i).filter((i) => i % every === 0);
  const range: [number, number] = [-0.4, places.length - 0.6];
  return { label, ticks, range, format: (v) => places[Math.round(v)] ?? "" };
}

function sweepPlots(run: Run, sweep: Sweep): HTMLElement {
  const { places, lines } = sweepLines(run.document, sweep);
  const key = sweep.keys[0] ?? "";
  const drawn = (metric: (phase: Phase) => Spread | null): Line[] =>
    lines.map(({ label, phases }) => {
      const spreads = phases.map((phase) => (phase ? metric(phase) : null));
      return {
        label: label || "median",
        values: spreads.map((s) => s?.median ?? null),
        low: spreads.map((s) => s?.low ?? null),
        high: spreads.map((s) => s?.high ?? null),
      };
    }).filter(known);
  const shared = {
    at: places.map((_, i) => i),
    x: placesAxis(key, places),
    spread: "bars" as const,
    height: 280,
    marks: true,
    legend: lines.length > 1,
  };
  const over = (what: string) =>
    `${what} over ${key}${lines.length > 1 ? `, ${lines.length} lines` : ""}`;
  return h(
    "div",
    { class: "pair" },
    plot({ ...shared, title: `Requests a second over ${key}`, summary: over("Requests a second"),
      y: { label: "requests a second", format: iops }, lines: drawn(totalRate) }),
    plot({ ...shared, title: `p99 over ${key}`, summary: over("99th percentile of latency"),
      y: { label: "p99", log: 10, format: time }, lines: drawn(worstP99) }),
  );
}

function limitPlot(limit: Limit): HTMLElement {
  const { at, kept, not } = triedRates(limit);
  const metric = limit.metric.replace("_", ".");
  const lines: Line[] = [
    { label: "bound kept", values: kept },
    { label: "not kept", values: not },
    { label: "bound", values: at.map(() => limit.bound_ns) },
  ];
  return plot({
    title: `${metric} of the response time over the rate`,
    summary: `${metric} of the response time at ${at.length} rates, and the bound.`,
    x: { label: "requests a second wanted", log: 10, format: iops },
    y: { label: metric, log: 10, format: time },
    at,
    lines: lines.filter(known),
    spread: "none",
    height: 280,
    marks: true,
  });
}

function steadyPlot(steady: Steady): HTMLElement {
  const rounds = roundsOf(steady);
  const lines: Line[] = [
    { label: "rounds", values: rounds.others },
    { label: "steady rounds", values: rounds.steady },
  ];
  return plot({
    title: "Requests a second over rounds",
    summary: `Requests a second in ${rounds.at.length} rounds.`,
    x: { ...placesAxis("round", ["", ...rounds.at.map(String)]),
      range: [0.6, rounds.at.length + 0.4] },
    y: { label: "requests a second", format: iops },
    at: rounds.at,
    lines: lines.filter(known),
    spread: "none",
    height: 260,
    marks: true,
  });
}

function sustainedPlot(study: Sustained): HTMLElement {
  const { at, rate, mean } = stretchesOf(study);
  const lines: Line[] = [
    { label: "rate", values: rate },
    { label: "rate of the stretch", values: mean },
  ];
  return plot({
    title: "Write rate over bytes written",
    summary: `Write rate in ${at.length} parts of what was written, in ${study.stretches.length} stretches.`,
    x: { label: "written", format: binary },
    y: { label: "MB/s", format: bytesPerSecond },
    at,
    lines,
    spread: "none",
    height: 280,
    legend: true,
  });
}

const UNITS = {
  per_second: { label: "a second", format: iops },
  bytes_per_second: { label: "MB/s", format: bytesPerSecond },
  time: { label: "time", format: time },
};

/** A plot that seekwell put together. */
function panelPlot(panel: Panel): HTMLElement {
  const lines = panel.lines.map(([label, values]) => ({ label, values })).filter(known);
  return plot({
    title: panel.title,
    summary: `${panel.title}, at ${panel.places.length} places.`,
    x: placesAxis(panel.along, panel.places),
    y: UNITS[panel.unit],
    at: panel.places.map((_, i) => i),
    lines,
    spread: "none",
    height: 260,
    marks: panel.places.length <= 60,
    legend: lines.length > 1,
  });
}

/** The plots of one part of what is said of a study. */
function plots(run: Run, told: Told): HTMLElement | null {
  const study = run.document.study;
  switch (study?.kind) {
    case "sweep":
      return sweepPlots(run, study);
    case "limit":
      return study.trials.length > 1 ? limitPlot(study) : null;
    case "steady":
      return study.rounds_per_s.length > 1 ? steadyPlot(study) : null;
    case "sustained":
      return study.rates_bytes_per_s.length > 1 ? sustainedPlot(study) : null;
    case "pts": {
      const drawn = told.panels.filter((panel) => panel.places.length > 1).map(panelPlot);
      return drawn.length === 0 ? null : h("div", { class: "pair" }, ...drawn);
    }
    default:
      return null;
  }
}

export function study(run: Run, prefix: string): (HTMLElement | null)[] {
  const before = run.preconditioning ? h("p", {}, run.preconditioning) : null;
  if (!run.study) return [before];
  return run.study.map((told, part) => {
    const columns = told.columns.map((title, i) => ({ title, number: i >= told.words }));
    return section(
      told.title,
      part === 0 ? `${prefix}-study` : `${prefix}-study-${part}`,
      // The first sentence heads the page.
      ...told.sentences.slice(part === 0 ? 1 : 0).map((said) => h("p", {}, said)),
      part === 0 ? before : null,
      plots(run, told),
      // Rounds are in the table of their plot.
      run.document.study?.kind === "steady" ? null : table(told.title, columns, told.rows),
    );
  });
}
