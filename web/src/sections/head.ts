/** The head of a run: what was measured, whether it counts, and the figures a person came for. */

import { h } from "../dom.ts";
import type { Run } from "../types.ts";
import { capacity, when } from "../units.ts";

function mediumOf(medium: Record<string, unknown> | null): string | null {
  if (!medium) return null;
  const size = typeof medium["size_bytes"] === "number" ? capacity(medium["size_bytes"]) : "";
  const cache = medium["direct"] === false ? ", through the page cache" : ", past the page cache";
  switch (medium["kind"]) {
    case "temporary-file":
      return `temporary file of ${size} in ${String(medium["directory"])}${cache}`;
    case "read-only":
      return `${size}${medium["device"] ? ` of ${String(medium["device"])}` : ""}, read only${cache}`;
    case "destroyed":
      return `${size} of device ${String(medium["serial"])}, overwritten${cache}`;
    case "machine":
      return `${String(medium["title"])}, a model of ${size}`;
    default:
      return "the null target: the engine's own cost";
  }
}

/** Facts of a run as pairs of a term and its text; what is not known is left out. */
export function facts(run: Run): [string, string][] {
  const { document: d } = run;
  const kernel = d.inspection.host["kernel"]?.value;
  const engine = d.engine.cost_ns_per_request;
  const cost =
    engine === null ? "" : `, ${Math.round(engine)} ns of CPU a request on a null target`;
  const commit = d.tool.git_commit ? ` (${d.tool.git_commit.slice(0, 12)})` : "";
  const pairs: [string, string | null][] = [
    ["Target", d.inspection.target],
    ["Measured on", mediumOf(d.medium)],
    ["Started", when(d.started_at)],
    ["Kernel", kernel === undefined ? null : String(kernel)],
    ["Program", `seekwell ${d.tool.version}${commit}, ${d.kind}`],
    ["Engine", `${d.engine.name}${cost}`],
    ["Run", d.label ? `${d.id} (${d.label})` : d.id],
  ];
  return pairs.filter((pair): pair is [string, string] => pair[1] !== null);
}

const statusWords: Record<string, string> = {
  running: "This run is not finished, or was killed: what it had measured is shown.",
  interrupted: "This run was stopped before its end: finished phases are shown.",
  failed: "This run was stopped by an error: finished phases are shown.",
};

function banners(run: Run): HTMLElement[] {
  const { document: d } = run;
  const out: HTMLElement[] = [];
  if (d.modelled) {
    const mark = h("strong", { class: "modelled" }, "◇ MODELLED");
    out.push(h("p", { class: "banner" }, mark, " These are figures of a model, not of a disk."));
  }
  if (d.invalid.length > 0) {
    const reasons = d.invalid.map((reason) => h("li", {}, reason));
    const mark = h("strong", {}, "✕ INVALID: do not rely on these figures");
    out.push(h("div", { class: "banner error", role: "alert" }, mark, h("ul", {}, ...reasons)));
  }
  const status = run.state === "running" ? null : statusWords[d.status];
  if (run.state === "running") {
    const mark = h("strong", {}, "● RUNNING ");
    const text = `${d.phases.length} phases so far; this page follows.`;
    out.push(h("p", { class: "banner", role: "status" }, mark, text));
  }
  if (status) {
    const mark = h("strong", {}, "▲ INCOMPLETE ");
    out.push(h("p", { class: "banner warning" }, mark, status));
  }
  if (d.engine.notice) out.push(h("p", { class: "banner" }, d.engine.notice));
  return out;
}

function tiles(run: Run): HTMLElement | null {
  if (run.figures.length === 0) return null;
  const all = run.figures.map((figure) => {
    const range = figure.range
      ? `${figure.range} over ${figure.repeats} repeats`
      : figure.repeats === 1 ? "one repeat" : `the same in all ${figure.repeats} repeats`;
    const value = h("dd", { class: "value" }, figure.value, h("small", {}, ` ${figure.unit}`));
    return h("div", { class: "tile" }, h("dt", {}, figure.label), value,
      h("dd", { class: "range" }, range));
  });
  return h("dl", { class: "tiles" }, ...all);
}

export function head(run: Run): HTMLElement {
  const terms = facts(run).flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]);
  return h(
    "header",
    { class: "run-head" },
    h("h1", {}, run.heading),
    ...banners(run),
    ...(run.document.summary ?? []).map((said) => h("p", { class: "summary" }, said)),
    h("p", { class: "sentence" }, run.sentence),
    tiles(run),
    h("dl", { class: "facts" }, ...terms),
  );
}
