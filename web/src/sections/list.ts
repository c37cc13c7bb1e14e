/** What is kept, for a page that is served: newest first, each with a way to its own page. */

import { type Child, h, table } from "../dom.ts";
import type { Kept } from "../types.ts";
import { when } from "../units.ts";

function state(run: Kept): Child {
  const words = [
    run.state === "running" ? "● running" : run.state,
    run.invalid && run.state !== "invalid" ? "✕ invalid" : null,
    run.modelled ? "◇ modelled" : null,
  ];
  return words.filter((word) => word !== null).join(", ");
}

const pageOf = (run: Kept) => (run.kind === "experiment" ? "experiment" : "run");

export function list(kept: Kept[]): HTMLElement[] {
  const columns = ["id", "made by", "state", "target", "disk", "label", "started"];
  const rows = kept.map((run) => [
    // Ids are digits, lower-case letters and dashes; the rest of the address is this page's own.
    h("a", { href: `/${pageOf(run)}/${run.id}${location.search}` }, run.id),
    run.kind, state(run), run.target, run.device_model ?? "—", run.label ?? "",
    when(run.started_at),
  ]);
  const titles = columns.map((title) => ({ title }));
  const body = kept.length > 0
    ? table("Runs and experiments, newest first", titles, rows)
    : h("p", {}, "Nothing is kept yet. ", h("code", {}, "seekwell checkup"), " makes a run.");
  return [h("h1", {}, "What is kept"), body];
}
