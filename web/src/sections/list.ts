/** Runs and experiments on a page that is served: newest first, each with a way to its own page. */

import { type Child, h, table } from "../dom.ts";
import { address } from "../live.ts";
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

/** All that is kept, or what `of` says. */
export function list(kept: Kept[], of?: string): HTMLElement[] {
  const hosts = kept.some((run) => run.host !== undefined);
  const columns = ["id", hosts ? "host" : null, "made by", "state", "target", "disk", "label",
    "started"].filter((title) => title !== null);
  const rows = kept.map((run) => {
    const page = address(`/${pageOf(run)}/${run.id}`, { host: run.host });
    const host = run.host ?? "";
    return [
      h("a", { href: page }, run.id),
      ...(hosts ? [h("a", { href: address("/runs", { host }) }, host)] : []),
      run.kind, state(run), run.target, run.device_model ?? "—", run.label ?? "",
      when(run.started_at),
    ];
  });
  const titles = columns.map((title) => ({ title }));
  const body = kept.length > 0
    ? table("Newest first", titles, rows)
    : of !== undefined ? h("p", {}, "There are none.")
    : h("p", {}, "Nothing is kept yet. ", h("code", {}, "seekwell checkup"), " makes a run.");
  return [h("h1", {}, of ?? "What is kept"), body];
}
