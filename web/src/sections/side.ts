/** Several runs side by side: the headline figures of each. No verdict: one run cannot give it. */

import { type Child, h, section, table } from "../dom.ts";
import type { Run } from "../types.ts";
import { when } from "../units.ts";

export const nameOf = (run: Run) => run.document.label ?? run.document.id;

/** What figures of one kind are called where runs took them differently, at other depths say. */
const wider: Record<string, string> = {
  "random-read": "random read, lowest depth",
  "random-read-best": "random read, best depth",
};

export function side(runs: Run[]): HTMLElement {
  const keys = [...new Set(runs.flatMap((run) => run.figures.map((f) => f.key)))];
  const columns = [{ title: "" }, ...runs.map((run) => ({ title: nameOf(run) }))];
  const rows = keys.map((key) => {
    const found = runs.map((run) => run.figures.find((f) => f.key === key));
    const labels = new Set(found.flatMap((f) => (f ? [f.label] : [])));
    const alike = labels.size === 1;
    const cells = found.map((f) => {
      if (!f) return "—";
      const remarks = [alike ? null : f.label, f.range].filter((text) => text !== null);
      const small = remarks.map((text) => h("small", { class: "remark" }, text));
      return h("span", {}, `${f.value} ${f.unit}`, ...small);
    });
    const label = alike ? [...labels][0]! : (wider[key] ?? key);
    return [label, ...cells] as Child[];
  });
  const about = (title: string, text: (run: Run) => string) => [title, ...runs.map(text)];
  const counts = (run: Run) => (run.document.invalid.length > 0 ? "✕ invalid" : "valid");
  rows.unshift(
    about("target", (run) => run.heading),
    about("started", (run) => when(run.document.started_at)),
    about("figures are", (run) => (run.document.modelled ? "◇ MODELLED" : "measured")),
    about("measurement", counts),
  );
  return section(
    "Side by side",
    "side-by-side",
    table("Headline figures of each run, with the lowest and highest repeat", columns, rows),
    h("p", { class: "hint" }, "One run each: a difference here may be chance or drift, and is no ",
      "verdict. For one, measure both in turn, several times."),
  );
}
