/** Many hosts side by side: outliers first, then each group of disks, then all hosts. */

import { type Child, h, section, svg, table } from "../dom.ts";
import { address, isServed } from "../live.ts";
import { type RatioAxis, axisFor, marksOf, placeOf } from "../ratio.ts";
import type { Fleet, FleetDocument, Strip, TextTable } from "../types.ts";
import { HEIGHT, at, grid, scale } from "./effects.ts";
import { download } from "./tables.ts";

type Parameters = Record<string, string | undefined>;

/** Where a cell leads to on a server that has the runs; nowhere in a file. */
type Way = (row: number, column: number) => [path: string, parameters: Parameters] | null;

function linked(text: string, way: ReturnType<Way>): Child {
  return way && isServed() ? h("a", { href: address(...way) }, text) : text;
}

const shown = (t: TextTable, way: Way = () => null) =>
  table(t.caption, t.columns.map((title, i) => ({ title, number: i >= t.words })),
    t.rows.map((cells, row) => cells.map((text, column) => linked(text, way(row, column)))));

const folded = (title: string, t: TextTable, way?: Way) =>
  h("details", {}, h("summary", {}, title), shown(t, way));

/** The ways from the tables of a fleet to runs and trends. */
function waysOf({ members, groups, outliers }: FleetDocument) {
  const runs = (member: number): ReturnType<Way> => ["/runs", { host: members[member]!.host }];
  const run = (member: number): ReturnType<Way> => {
    const { host, run } = members[member]!;
    return [`/run/${run}`, { host }];
  };
  return {
    outlier: (at: number) => run(outliers[at]!.member),
    hosts: (columns: number): Way => (row, column) =>
      column === 0 ? runs(row) : column === columns - 1 ? run(row) : null,
    metrics: (at: number): Way => (row, column) => {
      const { model, firmware, metrics } = groups[at]!;
      const { phase, metric } = metrics[row]!;
      const disks = { model: model ?? "", firmware: firmware ?? "" };
      return column === 0 ? ["/trend", { ...disks, phase, metric }] : null;
    },
    values: (at: number): Way => (row, column) => {
      const group = groups[at]!;
      const member = group.members[row]!;
      if (column === 0) return runs(member);
      const { phase, metric, values } = group.metrics[column - 1]!;
      if (!values.some((value) => value.member === member)) return null;
      const { host, target } = members[member]!;
      return ["/trend", { host, target, phase, metric }];
    },
  };
}

function head(fleet: Fleet): HTMLElement {
  const banners = fleet.banners.map((b) =>
    h("p", { class: `banner ${b.kind}` }, h("strong", {}, b.mark), ` ${b.text}`));
  const [answer, ...rest] = fleet.sentences;
  return h("header", { class: "run-head" },
    h("h1", {}, fleet.heading),
    h("p", { class: "answer" }, answer),
    ...rest.map((text) => h("p", {}, text)),
    ...banners);
}

function outliers(fleet: Fleet, wayOf: (at: number) => ReturnType<Way>): HTMLElement | null {
  if (fleet.outliers.length === 0) return null;
  const list = (items: string[]) => h("ul", { class: "evidence" },
    ...items.map((text) => h("li", {}, text)));
  const cards = fleet.outliers.map((outlier, at) =>
    h("article", { class: "finding warning" },
      h("h3", {}, h("span", { class: "severity" }, "▲ Outlier"), " ",
        linked(outlier.title, wayOf(at))),
      list(outlier.deviations),
      h("h4", {}, "What is different about it"),
      list(outlier.differences),
      h("p", { class: "id" }, outlier.about)));
  return section("Outliers", "fleet-outliers", ...cards);
}

function dots(axis: RatioAxis, marks: number[], strip: Strip): SVGElement {
  const parts = grid(axis, marks, HEIGHT);
  if (strip.limits) {
    const [low, high] = strip.limits.map((p) => placeOf(axis, p)) as [number, number];
    const width = `${(high - low).toFixed(3)}%`;
    const place = { x: `${low.toFixed(3)}%`, y: 2, width, height: HEIGHT - 4 };
    parts.unshift(svg("rect", { ...place, class: "band margin" }));
  }
  for (const [percent, text, outlier] of strip.points) {
    const place = { cx: at(axis, percent), cy: HEIGHT / 2, r: outlier ? 5.5 : 4 };
    parts.push(svg("circle", { ...place, class: outlier ? "dot beyond" : "dot" },
      svg("title", {}, text)));
  }
  const size = { width: "100%", height: HEIGHT, "aria-hidden": "true", focusable: "false" };
  return svg("svg", { ...size, class: "effect" }, ...parts);
}

function strips(all: Strip[], title: string): HTMLElement | null {
  if (all.length === 0) return null;
  const axis = axisFor(all.flatMap((s) => [...s.points.map(([p]) => p), ...(s.limits ?? [])]));
  const marks = marksOf(axis);
  const rows = all.flatMap((strip) => [
    h("div", { class: "title" }, strip.title),
    h("div", { class: "axis" }, dots(axis, marks, strip)),
    h("div", { class: "change" }, `median ${strip.median}`),
  ]);
  const far = (s: Strip) => s.points.filter(([, , outlier]) => outlier).map(([, text]) => text);
  const words = all.map((s) => `${s.title}: ${far(s).join(", ") || "no outliers"}`);
  const figure = h("figure", { class: "plot forest" },
    h("figcaption", {}, "Each host's difference from the median"),
    h("div", { class: "rows", role: "img", "aria-label": `${title}: ${words.join("; ")}.` },
      ...rows, h("div", { class: "title" }), h("div", { class: "axis" }, scale(axis, marks)),
      h("div", { class: "change" })),
    h("p", { class: "hint" },
      all.some((s) => s.limits) ? "○ a host; ● an outlier; ▒ where equal hosts lie." : "○ a host."));
  figure.dataset["points"] = String(all.reduce((sum, s) => sum + s.points.length, 0));
  return figure;
}

/** The whole page of a fleet. */
export function drawFleet(fleet: Fleet, document: FleetDocument, json: string): HTMLElement[] {
  const ways = waysOf(document);
  const groups = fleet.groups.map((group, i) =>
    section(group.title, `fleet-group-${i}`,
      group.note ? h("p", { class: "hint" }, group.note) : null,
      strips(group.strips, group.title),
      shown(group.table, ways.metrics(i)),
      folded(group.values.caption, group.values, ways.values(i))));
  const ofHosts = ways.hosts(fleet.hosts.columns.length);
  const parts = [head(fleet), outliers(fleet, ways.outlier), ...groups,
    section("Hosts", "fleet-hosts",
      isServed() ? shown(fleet.hosts, ofHosts) : folded(fleet.hosts.caption, fleet.hosts)),
    h("p", {}, download(json))];
  return parts.filter((part) => part !== null);
}
