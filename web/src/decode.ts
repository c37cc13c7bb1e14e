/** From the text in the page's template to the runs it holds. */

import type { Payload } from "./types.ts";

export const SCHEMA = "seekwell/run/1";

/** The JSON text inside base64 of gzip. */
export async function unpack(text: string): Promise<string> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** The runs of a JSON text; throws a sentence for people where there is none this page knows. */
export function parse(json: string): Payload {
  const payload = JSON.parse(json) as Payload;
  if (!Array.isArray(payload.runs) || payload.runs.length === 0) {
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
