/** What reads suffer from writes beside them: each alone, and both in the mix. */

import { h, section, table } from "../dom.ts";
import { type Distribution, type Mix, distributionsOf, latency, mixes } from "../select.ts";
import type { Phase, Run } from "../types.ts";
import { iops, time } from "../units.ts";
import { tailPlot } from "./distribution.ts";

interface Part {
  label: string;
  phase: Phase;
  op: string;
}

function partsOf(mix: Mix): Part[] {
  const parts: Part[] = [];
  if (mix.readAlone) parts.push({ label: "read alone", phase: mix.readAlone, op: "read" });
  parts.push({ label: "read in the mix", phase: mix.mixed, op: "read" });
  if (mix.writeAlone) parts.push({ label: "write alone", phase: mix.writeAlone, op: "write" });
  parts.push({ label: "write in the mix", phase: mix.mixed, op: "write" });
  return parts;
}

function one(run: Run, mix: Mix): HTMLElement {
  const parts = partsOf(mix);
  const rows = parts.map(({ label, phase, op }) => {
    const rate = phase.metrics[`${op}.requests_per_s`];
    const at = (q: string) => {
      const found = latency(phase, op, q);
      return found ? time(found.median) : "—";
    };
    return [label, rate ? iops(rate.median) : "—", at("p50"), at("p99"), at("p99_9")];
  });
  const columns = ["", "requests a second", "p50", "p99", "p99.9"].map((title, i) => ({
    title,
    number: i > 0,
  }));
  const shown = parts.flatMap(({ label, phase, op }): Distribution[] => {
    const all = distributionsOf(phase, run.detail.repeats);
    const found = all.find((d) => d.key === `${phase.name} ${op}`);
    return found ? [{ ...found, label }] : [];
  });
  const caption = `${mix.mixed.title}: medians of the repeats`;
  return h(
    "div",
    { class: "pair" },
    shown.length > 0 ? tailPlot(shown, mix.mixed.title) : null,
    h("div", {}, table(caption, columns, rows)),
  );
}

export function mix(run: Run, prefix: string): HTMLElement | null {
  const found = mixes(run.document.phases);
  if (found.length === 0) return null;
  const drawn = found.map((m) => one(run, m));
  return section("Reads and writes together", `${prefix}-mix`, ...drawn);
}
