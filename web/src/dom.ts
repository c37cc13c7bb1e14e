/**
 * Elements from data. Data becomes text nodes and attribute values only, never markup: model names
 * and paths come from disks, and nobody vouches for those.
 */

export type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | null>;

/** Control characters, less line end and tab, and characters that reorder or hide other text. */
const deceiving = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\ufeff]",
  "g",
);
const picture = (c: string) => (c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd");
const shown = (text: string) => text.replace(deceiving, picture);

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : shown(String(value)));
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === "string" ? shown(child) : child);
  }
}

/** An HTML element; attributes whose value is a function become listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A section with a heading that names it. */
export function section(title: string, id: string, ...children: Child[]): HTMLElement {
  const heading = h("h2", { id }, title);
  return h("section", { "aria-labelledby": id }, heading, ...children);
}

export interface Column {
  title: string;
  number?: boolean;
}

/** A table whose first cell in every row is that row's heading; it scrolls sideways by itself. */
export function table(caption: string, columns: Column[], rows: Child[][]): HTMLElement {
  const kind = (i: number) => (columns[i]?.number ? "number" : null);
  const head = columns.map((c, i) => h("th", { scope: "col", class: kind(i) }, c.title));
  const body = rows.map((cells) => {
    const filled = cells.map((cell, i) =>
      i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: kind(i) }, cell),
    );
    return h("tr", {}, ...filled);
  });
  return h(
    "div",
    { class: "scroll", role: "region", tabindex: 0, "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, ...head)),
      h("tbody", {}, ...body)),
  );
}
