/** The page: unpack the runs, draw each when it is first shown, say so where that fails. */

import { parse, unpack } from "./decode.ts";
import { h } from "./dom.ts";
import { redrawAll } from "./plot.ts";
import { attachment } from "./sections/attachment.ts";
import { depth } from "./sections/depth.ts";
import { distribution } from "./sections/distribution.ts";
import { findings } from "./sections/findings.ts";
import { head } from "./sections/head.ts";
import { mix } from "./sections/mix.ts";
import { series } from "./sections/series.ts";
import { nameOf, side } from "./sections/side.ts";
import { environment, phases } from "./sections/tables.ts";
import type { Run } from "./types.ts";

function drawRun(run: Run, json: string, prefix: string): (HTMLElement | null)[] {
  return [
    head(run),
    findings(run, prefix),
    attachment(run, prefix),
    depth(run, prefix),
    distribution(run, prefix),
    mix(run, prefix),
    series(run, prefix),
    phases(run, prefix),
    environment(run, json, prefix),
  ];
}

/** What the content security policy refused so far: nothing, unless the page is broken. */
let refused = 0;
document.addEventListener("securitypolicyviolation", () => {
  refused += 1;
  document.documentElement.dataset["refused"] = String(refused);
});

/** Panels with tabs over them; a panel is drawn when it is first shown, for plots need a width. */
function tabbed(runs: Run[], json: string): HTMLElement[] {
  const panels = runs.map((_, i) =>
    h("div", { role: "tabpanel", id: `run-${i}`, "aria-labelledby": `tab-${i}`, hidden: true }),
  );
  const show = (at: number) => {
    panels.forEach((panel, i) => {
      panel.hidden = i !== at;
      tabs[i]!.setAttribute("aria-selected", String(i === at));
      tabs[i]!.tabIndex = i === at ? 0 : -1;
    });
    const panel = panels[at]!;
    if (panel.childElementCount > 0) return;
    panel.append(...drawRun(runs[at]!, json, `run-${at}`).filter((e) => e !== null));
  };
  const tabs = runs.map((run, i) => {
    const keydown = (event: Event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[(event as KeyboardEvent).key];
      if (step === undefined) return;
      const next = (i + step + runs.length) % runs.length;
      show(next);
      tabs[next]!.focus();
    };
    const click = () => show(i);
    const named = { type: "button", role: "tab", id: `tab-${i}`, "aria-controls": `run-${i}` };
    return h("button", { ...named, click, keydown }, nameOf(run));
  });
  show(0);
  return [h("div", { role: "tablist", "aria-label": "Runs", class: "tabs" }, ...tabs), ...panels];
}

function watchColours(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll);
}

async function start(): Promise<void> {
  const page = document.documentElement;
  const app = document.getElementById("app")!;
  const data = document.getElementById("data") as HTMLTemplateElement;
  try {
    const json = await unpack(data.content.textContent ?? "");
    const { runs } = parse(json);
    const drawn = runs.length === 1 ? drawRun(runs[0]!, json, "run") : [
      h("h1", {}, `${runs.length} runs`), side(runs), ...tabbed(runs, json),
    ];
    app.replaceChildren(...drawn.filter((e) => e !== null));
    watchColours();
    page.dataset["state"] = "drawn";
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text = `The data in this page could not be read (${why}). This is the summary alone.`;
    app.prepend(h("p", { class: "banner error", role: "alert" }, `✕ ${text}`));
    page.dataset["state"] = "failed";
  }
  page.dataset["refused"] = String(refused);
  page.dataset["requests"] = String(performance.getEntriesByType("resource").length);
}

void start();
