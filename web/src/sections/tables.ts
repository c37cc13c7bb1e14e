/** The table of all phases, the surroundings of the run, and the raw document to keep. */

import { h, section, table } from "../dom.ts";
import type { Device, Fact, Row, Run } from "../types.ts";
import { capacity } from "../units.ts";

/** What was not run or not kept, gathered by the reason. */
function leftOut(rows: Row[]): HTMLElement | null {
  const reasons = new Map<string, string[]>();
  for (const { remark, title } of rows) {
    if (remark) reasons.set(remark, [...(reasons.get(remark) ?? []), title]);
  }
  const items = [...reasons].map(([why, titles]) =>
    h("li", {}, h("strong", {}, why), `: ${titles.join("; ")}`),
  );
  return items.length > 0 ? h("ul", { class: "left-out" }, ...items) : null;
}

/** The steps of a suite: what each is for, what is to be said of it, and all else it gave. */
export function steps(run: Run, prefix: string): HTMLElement | null {
  const all = run.steps ?? [];
  if (all.length === 0) return null;
  const titles = ["step", "result", "CPU", "longest call", "spread"];
  const columns = titles.map((title, i) => ({ title, number: i > 0 }));
  const rows = all.map((step) => {
    const said = [step.remark, ...step.notes].filter((text) => text !== null);
    const remarks = said.map((text) => h("div", { class: "remark" }, text));
    return [h("span", {}, step.title, ...remarks), step.result, step.cpu, step.longest, step.spread];
  });
  const more = all.flatMap((step) => step.others.map((pair) => [step.title, ...pair]));
  const moreColumns = [{ title: "step" }, { title: "what" }, { title: "value", number: true }];
  return section(
    "All steps",
    `${prefix}-steps`,
    table("Every step of the suite, medians of the valid repeats", columns, rows),
    h("details", {}, h("summary", {}, "Everything else that was counted"),
      table("Other values of each step", moreColumns, more)),
    h("p", { class: "hint" }, "MB/s: 10⁶ bytes a second. CPU: of one processor. Spread: highest ",
      "less lowest repeat, over the median. A dash: not measured."),
  );
}

export function phases(run: Run, prefix: string): HTMLElement | null {
  if (run.rows.length === 0 && (run.steps ?? []).length > 0) return null;
  const titles = ["phase", "operation", "MB/s", "requests/s", "p50", "p99", "p99.9", "spread",
    "CPU ns/request", "requests/call", "reached the device"];
  const amplified = run.rows.some((row) => row.amplification !== "—");
  if (amplified) titles.push("write amplification");
  const columns = titles.map((title, i) => ({ title, number: i > 1 }));
  const measured = run.rows.filter((row) => row.iops !== "—");
  const rest = run.rows.filter((row) => row.iops === "—");
  const rows = measured.map((row) => {
    const remark = row.remark ? h("small", { class: "remark" }, row.remark) : null;
    const name = h("span", {}, row.title, remark);
    return [name, row.op, row.rate, row.iops, row.p50, row.p99, row.p99_9, row.spread, row.cpu,
      row.calls, row.device_share, ...(amplified ? [row.amplification] : [])];
  });
  return section(
    "All phases",
    `${prefix}-phases`,
    table("Every phase that was measured, medians of the valid repeats", columns, rows),
    leftOut(rest),
    h("p", { class: "hint" }, "MB/s: 10⁶ bytes a second. Spread: highest less lowest repeat, over ",
      "the median, of requests a second. A dash: not measured, or too few requests for this ",
      "percentile. Reached the device: bytes the device counted over bytes asked for; less than ",
      "90 % is a cache's figure."),
  );
}

const words = (key: string) => key.replace(/_bytes$/, "").replaceAll("_", " ");

function write(key: string, value: unknown): string {
  if (typeof value === "number" && key.endsWith("_bytes")) {
    return value >= 1e6 ? capacity(value) : `${value} B`;
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Rows of what is known, each with where it was read. */
function known(holder: object): string[][] {
  return Object.entries(holder).flatMap(([key, fact]: [string, Fact<unknown> | null]) =>
    fact && typeof fact === "object" && "value" in fact && "from" in fact
      ? [[words(key), write(key, fact.value), fact.from]]
      : [],
  );
}

const columns = [{ title: "what" }, { title: "value" }, { title: "read from" }];

function devices(device: Device): HTMLElement[] {
  const rows = [...known(device), ...known(device.queue)];
  const own = rows.length ? [table(`Device ${device.name}`, columns, rows)] : [];
  return [...own, ...device.below.flatMap(devices)];
}

/** Offers the document as it was embedded, byte for byte. */
export function download(json: string): HTMLElement {
  const click = () => {
    const url = URL.createObjectURL(new Blob([json], { type: "application/json" }));
    const link = h("a", { href: url, download: "seekwell.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return h("button", { type: "button", click }, "Download the data of this page as JSON");
}

export function environment(run: Run, json: string, prefix: string): HTMLElement {
  const { host, filesystem, device, notes, missing } = run.document.inspection;
  const gaps = missing.map((m) => [m.what, m.reason, m.from]);
  const gapColumns = [{ title: "what" }, { title: "why not" }, { title: "looked for in" }];
  const all: HTMLElement[] = [table("Machine", columns, known(host))];
  if (filesystem) all.push(table("File system", columns, known(filesystem)));
  if (device) all.push(...devices(device));
  return section(
    "Environment",
    `${prefix}-environment`,
    notes.length ? h("ul", { class: "notes" }, ...notes.map((n) => h("li", {}, n))) : null,
    h("h3", {}, "What could not be read"),
    gaps.length
      ? table("What could not be read", gapColumns, gaps)
      : h("p", {}, "Nothing: all that was looked for could be read."),
    h("details", { class: "environment" }, h("summary", {}, "What was read, and where"), ...all),
    h("p", {}, download(json)),
  );
}
