/** One question: is B better than A. First the answer, then what else differed, then numbers. */

import { type Child, h, section, table } from "../dom.ts";
import { discard } from "../plot.ts";
import type { Sheet } from "../types.ts";
import { course } from "./course.ts";
import { densityPlot, tailPlot } from "./distribution.ts";
import { effects } from "./effects.ts";
import { download } from "./tables.ts";

function head(sheet: Sheet, first: boolean): HTMLElement {
  const [verdict, ...rest] = sheet.verdict;
  const banners = sheet.banners.map((b) =>
    h("p", { class: `banner ${b.kind}`, role: b.kind === "error" ? "alert" : null },
      h("strong", {}, b.mark), ` ${b.text}`));
  const claim = sheet.claim
    ? h("p", { class: `banner ${sheet.claim[0] ? "note" : "warning"}` },
        h("strong", {}, sheet.claim[0] ? "✓ " : "✕ "), sheet.claim[1])
    : null;
  const facts = sheet.facts.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]);
  return h(
    "header",
    { class: "run-head" },
    h(first ? "h1" : "h2", {}, sheet.heading),
    ...banners,
    verdict ? h("p", { class: "answer" }, verdict) : null,
    ...rest.map((text) => h("p", {}, text)),
    claim,
    h("dl", { class: "facts" }, ...facts),
  );
}

function setup(sheet: Sheet, prefix: string): HTMLElement {
  const columns = [{ title: "what" }, ...sheet.names.map((title) => ({ title }))];
  const rowsOf = (matters: boolean): Child[][] =>
    sheet.setup.filter((s) => s.matters === matters).map((s) => [s.what, s.a, s.b]);
  const [matter, rest] = [rowsOf(true), rowsOf(false)];
  const shown = matter.length > 0
    ? table("What may make a disk faster or slower, the most important first", columns, matter)
    : null;
  const other = rest.length > 0
    ? h("details", {},
        h("summary", {}, `${rest.length} that cannot make a disk faster or slower`),
        table("What cannot make a disk faster or slower", columns, rest))
    : null;
  const note = sheet.setup_note ? h("p", {}, sheet.setup_note) : null;
  return section("What differed in the set-up", `${prefix}-setup`, note, shown, other);
}

function shapes(sheet: Sheet, prefix: string): HTMLElement | null {
  if (sheet.shapes.length === 0) return null;
  const holder = h("div", { class: "pair" });
  const draw = (at: number) => {
    discard(holder);
    const shape = sheet.shapes[at]!;
    const shown = shape.lines.map((line) => ({ key: line.label, ...line }));
    holder.append(tailPlot(shown, `${shape.title}: latency at each percentile`),
      densityPlot(shown));
  };
  const id = `${prefix}-shape`;
  const change = () => draw(choice.selectedIndex);
  const choice = h("select", { id, change },
    ...sheet.shapes.map((shape) => h("option", {}, shape.title)));
  draw(0);
  return section(
    "Latency distributions",
    `${prefix}-shapes`,
    sheet.shapes.length > 1
      ? h("p", { class: "choice" }, h("label", { for: id }, "Workload "), choice) : null,
    h("p", { class: "hint" }, "Lines: median of the runs; bands: lowest to highest run."),
    holder,
  );
}

function checks(sheet: Sheet, prefix: string): HTMLElement | null {
  if (sheet.checks.length === 0) return null;
  const items = sheet.checks.map(([word, text]) =>
    h("li", {}, h("strong", {}, word), `: ${text}`));
  return section("Checked before the verdict", `${prefix}-checks`,
    h("ul", { class: "checks" }, ...items));
}

function notes(sheet: Sheet): HTMLElement | null {
  if (sheet.notes.length === 0) return null;
  return h("ul", { class: "notes" }, ...sheet.notes.map((text) => h("li", {}, text)));
}

/** All sheets of a page, and the way to the data under them. */
export function drawSheets(sheets: Sheet[], json: string): HTMLElement[] {
  const all = sheets.flatMap((sheet, i) => {
    const prefix = `sheet-${i}`;
    return [
      head(sheet, i === 0),
      setup(sheet, prefix),
      effects(sheet, prefix),
      course(sheet, prefix),
      shapes(sheet, prefix),
      checks(sheet, prefix),
      notes(sheet),
    ].filter((part) => part !== null);
  });
  return [...all, h("p", {}, download(json))];
}
