/**
 * Newer data from the server a page came from, while something runs. A page that was opened from a
 * file, or that was not made by the server, never asks: it has no leave to, and no reason.
 */

const EVERY = 2_000;
/** After this many failures in a row the server is taken for gone and polling stops. */
const MOST_FAILURES = 15;

export interface Live {
  /** The text that is shown now. */
  json: string;
  /** Whether what a text says is still going on. */
  running: (json: string) => boolean;
  /** Shows a newer text. */
  show: (json: string) => void;
  /** Says what became of the asking. */
  tell: (text: string) => void;
}

/** Whether this page may ask its server. */
export const isServed = () =>
  "served" in document.documentElement.dataset && location.protocol.startsWith("http");

/** The address of another page of this server, with the reader's token. */
export function address(path: string, parameters: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, value);
  }
  const token = new URLSearchParams(location.search).get("token");
  if (token !== null) query.set("token", token);
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Asks until nothing runs any more. */
export async function follow(live: Live): Promise<void> {
  const address = location.pathname === "/" ? "/api/runs" : `/api${location.pathname}`;
  let { json } = live;
  let failures = 0;
  while (live.running(json) && failures < MOST_FAILURES) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if (document.hidden) continue;
    try {
      const answer = await fetch(address + location.search, { cache: "no-store" });
      if (!answer.ok) throw new Error(`${answer.status}`);
      const text = await answer.text();
      failures = 0;
      if (text === json) continue;
      json = text;
      live.show(json);
    } catch {
      failures += 1;
      live.tell("The server does not answer; what was known last is shown.");
    }
  }
}
