/** How faithfully a trace was played back: who was late, and the numbers under the verdict. */

import { h, section, table } from "../dom.ts";
import type { Faith, Run } from "../types.ts";

const banners: Record<Faith["verdict"], string> = {
  "kept-up": "banner",
  "device-full": "banner warning",
  "program-late": "banner error",
  untimed: "banner",
};

function one(faith: Faith): HTMLElement[] {
  const repeats = Math.max(0, ...faith.rows.map(([, values]) => values.length));
  const numbers = Array.from({ length: repeats }, (_, i) => ({
    title: `repeat ${i + 1}`,
    number: true,
  }));
  const rows = faith.rows.map(([name, values]) => [name, ...values]);
  return [
    h("p", { class: banners[faith.verdict] }, faith.sentence),
    table(faith.title, [{ title: "what" }, ...numbers], rows),
  ];
}

export function fidelity(run: Run, prefix: string): HTMLElement | null {
  const all = run.fidelity ?? [];
  if (all.length === 0) return null;
  return section(
    "Fidelity",
    `${prefix}-fidelity`,
    ...all.flatMap(one),
    h("p", { class: "hint" }, "Late: handed over later than the bound after its time. Drift: how ",
      "much longer issuing took than recorded. Gaps off: largest difference between the ",
      "distributions of gaps due and gaps issued. In flight: requests outstanding as each came."),
  );
}
