/** The page: unpack what it holds, draw each part when first shown, say so where that fails. */

import { parse, unpack } from "./decode.ts";
import { h } from "./dom.ts";
import { address, follow, isServed } from "./live.ts";
import { discard, redrawAll } from "./plot.ts";
import { attachment } from "./sections/attachment.ts";
import { depth } from "./sections/depth.ts";
import { distribution } from "./sections/distribution.ts";
import { fidelity } from "./sections/fidelity.ts";
import { findings } from "./sections/findings.ts";
import { drawFleet } from "./sections/fleet.ts";
import { drawHistory } from "./sections/history.ts";
import { head } from "./sections/head.ts";
import { limits } from "./sections/limits.ts";
import { list } from "./sections/list.ts";
import { mix } from "./sections/mix.ts";
import { series } from "./sections/series.ts";
import { drawPlan } from "./sections/plan.ts";
import { drawSheets } from "./sections/sheet.ts";
import { nameOf, side } from "./sections/side.ts";
import { study } from "./sections/study.ts";
import { environment, phases, steps } from "./sections/tables.ts";
import { drawTrace } from "./sections/trace.ts";
import type { Payload, Run } from "./types.ts";

function drawRun(run: Run, json: string, prefix: string): (HTMLElement | null)[] {
  return [
    head(run),
    ...study(run, prefix),
    steps(run, prefix),
    limits(run, prefix),
    fidelity(run, prefix),
    findings(run, prefix),
    attachment(run, prefix),
    // A sweep draws its own, several targets have no curve in common, nor have rounds of cells.
    /^(sweep|together|pts)$/.test(run.document.study?.kind ?? "") ? null : depth(run, prefix),
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

const drawRuns = (runs: Run[], json: string) =>
  runs.length === 1 ? drawRun(runs[0]!, json, "run")
    : [h("h1", {}, `${runs.length} runs`), side(runs), ...tabbed(runs, json)];

/** What the page shows of what it holds. */
function draw(payload: Payload, json: string): HTMLElement[] {
  if ("list" in payload && payload.of === undefined) return list(payload.list);
  if ("trace" in payload) return drawTrace(payload.trace, payload.document, json);
  const drawn = "list" in payload ? list(payload.list, payload.of)
    : "history" in payload ? drawHistory(payload.history)
    : "fleet" in payload ? drawFleet(payload.fleet, payload.document, json)
    : "plan" in payload ? drawPlan(payload.plan, json)
    : "sheets" in payload ? drawSheets(payload.sheets, json)
    : drawRuns(payload.runs, json);
  const [to, text] = location.pathname === "/" ? ["/runs", "all runs →"] : ["/", "← overview"];
  const other = h("p", {}, h("a", { href: address(to) }, text));
  return [isServed() ? other : null, ...drawn].filter((e) => e !== null);
}

const isRunning = (json: string) => {
  const payload = parse(json);
  if ("list" in payload) return payload.of === undefined;
  if ("sheets" in payload) return payload.state === "running";
  return "runs" in payload && payload.runs.some((run) => run.state === "running");
};

/** What a part that can be opened is called. */
const named = (details: Element) => details.querySelector("summary")?.textContent ?? "";

/** Redraws what a server sent; open sections stay open. */
function watchServer(app: HTMLElement, json: string): void {
  const told = h("p", { class: "hint", role: "status" });
  app.before(told);
  const show = (text: string) => {
    const drawn = draw(parse(text), text);
    const open = new Set([...app.querySelectorAll("details[open]")].map(named));
    discard(app);
    app.replaceChildren(...drawn);
    for (const details of app.querySelectorAll("details")) details.open = open.has(named(details));
    told.textContent = "";
    document.documentElement.dataset["updates"] =
      String(Number(document.documentElement.dataset["updates"] ?? 0) + 1);
  };
  void follow({ json, running: isRunning, show, tell: (text) => (told.textContent = text) });
}

async function start(): Promise<void> {
  const page = document.documentElement;
  const app = document.getElementById("app")!;
  const data = document.getElementById("data") as HTMLTemplateElement;
  const packed = (data.content.textContent ?? "").trim();
  if (packed === "") {
    // All there is to see is in the page already.
    page.dataset["state"] = "static";
    return;
  }
  try {
    const json = await unpack(packed);
    app.replaceChildren(...draw(parse(json), json));
    watchColours();
    page.dataset["state"] = "drawn";
    if (isServed()) watchServer(app, json);
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
