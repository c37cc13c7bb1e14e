/** Findings, worst first, each with how it is known and what to do. */

import { h, section } from "../dom.ts";
import type { Finding, Run } from "../types.ts";

const marks = {
  error: { symbol: "✕", word: "Error", order: 0 },
  warning: { symbol: "▲", word: "Warning", order: 1 },
  info: { symbol: "●", word: "Note", order: 2 },
};

const markOf = (finding: Finding) => marks[finding.severity] ?? marks.info;

function one(finding: Finding): HTMLElement {
  const mark = markOf(finding);
  const evidence = finding.evidence.map((e) =>
    h("li", {}, e.seen, " ", h("span", { class: "origin" }, e.from)),
  );
  const severity = h("span", { class: "severity" }, `${mark.symbol} ${mark.word}`);
  return h(
    "article",
    { class: `finding ${finding.severity}` },
    h("h3", {}, severity, " ", finding.title),
    h("p", {}, finding.why),
    h("h4", {}, "Seen"),
    h("ul", { class: "evidence" }, ...evidence),
    h("h4", {}, "Do"),
    h("pre", { class: "remedy", tabindex: 0 }, h("code", {}, finding.remedy)),
    h("p", { class: "id" }, finding.id),
  );
}

export function findings(run: Run, prefix: string): HTMLElement | null {
  const sorted = [...run.document.findings].sort((a, b) => markOf(a).order - markOf(b).order);
  // A summary has said what is to be said of a disk without problems.
  if (sorted.length === 0 && (run.document.summary ?? []).length > 0) return null;
  const none = sorted.length === 0 ? h("p", {}, "No problems were found.") : null;
  return section("Findings", `${prefix}-findings`, none, ...sorted.map(one));
}
