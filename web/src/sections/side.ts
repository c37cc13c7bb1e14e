/** Several runs side by side: the headline figures of each. No verdict: one run cannot give it. */

import { h, section, table } from "../dom.ts";
import type { Run } from "../types.ts";

export const nameOf = (run: Run) => run.document.label ?? run.document.id;

export function side(runs: Run[]): HTMLElement {
  const keys = [...new Set(runs.flatMap((run) => run.figures.map((f) => f.key)))];
  const columns = [{ title: "" }, ...runs.map((run) => ({ title: nameOf(run) }))];
  const rows = keys.map((key) => {
    const found = runs.map((run) => run.figures.find((f) => f.key === key));
    const first = found.find((f) => f !== undefined)!;
    const cells = found.map((f) =>
      f
        ? h("span", {}, `${f.value} ${f.unit}`,
            f.range ? h("small", { class: "remark" }, f.range) : null)
        : "—",
    );
    return [first.label, ...cells];
  });
  const about = (title: string, text: (run: Run) => string) => [title, ...runs.map(text)];
  const counts = (run: Run) => (run.document.invalid.length > 0 ? "✕ invalid" : "valid");
  rows.unshift(
    about("target", (run) => run.heading),
    about("started", (run) => run.document.started_at),
    about("figures are", (run) => (run.document.modelled ? "◇ MODELLED" : "measured")),
    about("measurement", counts),
  );
  return section(
    "Side by side",
    "side-by-side",
    table("Headline figures of each run, with the lowest and highest repeat", columns, rows),
    h("p", { class: "hint" }, "One run each: a difference here may be chance or drift, and is no ",
      "verdict. For one, measure both in turn: seekwell experiment."),
  );
}
