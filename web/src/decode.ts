/** From the text in the page's template to what it holds. */

import type { Payload } from "./types.ts";

export const SCHEMA = "seekwell/run/1";
export const SHEETS = ["seekwell/compare/1", "seekwell/experiment/1"];
export const TRACE = "seekwell/trace-stats/1";
export const FLEET = "seekwell/fleet/1";
export const PLAN = "seekwell/plan/1";

/** The JSON text inside base64 of gzip. */
export async function unpack(text: string): Promise<string> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** What a JSON text holds; throws a sentence for people where it is nothing this page knows. */
export function parse(json: string): Payload {
  const payload = JSON.parse(json) as Payload;
  if ("list" in payload && Array.isArray(payload.list)) return payload;
  if ("history" in payload && Array.isArray(payload.history?.points)) return payload;
  if ("sheets" in payload && Array.isArray(payload.sheets) && payload.sheets.length > 0) {
    const found = String(payload.document?.schema);
    if (SHEETS.includes(found)) return payload;
    throw new Error(`this page shows ${SHEETS.join(" and ")}, and what is in it is ${found}`);
  }
  if ("trace" in payload || "fleet" in payload || "plan" in payload) {
    const known = "trace" in payload ? TRACE : "fleet" in payload ? FLEET : PLAN;
    const found = String(payload.document?.schema);
    if (found === known) return payload;
    throw new Error(`this page shows ${known}, and what is in it is ${found}`);
  }
  if (!("runs" in payload) || !Array.isArray(payload.runs) || payload.runs.length === 0) {
    throw new Error("there is no run in this page");
  }
  for (const run of payload.runs) {
    if (run.document?.schema !== SCHEMA) {
      const found = String(run.document?.schema);
      throw new Error(`this page shows ${SCHEMA}, and a run in it is ${found}`);
    }
  }
  return payload;
}
