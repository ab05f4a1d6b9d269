// Everything that is shown is made here, from text nodes: job data never becomes markup.

export const root = document.documentElement.dataset.root;

export const byId = (id) => document.getElementById(id);

/** An element with classes, texts and children: make("li", "run", "text", child). */
export function make(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function link(classes, href, ...children) {
  const element = make("a", classes, ...children);
  element.href = href;
  return element;
}

const ROLES = { tr: "row", td: "cell", th: "rowheader" };

/** A part of a table, with its role: a narrow window lays tables out anew, and browsers then forget that they are any. */
export function part(tag, classes = "", ...children) {
  const element = make(tag, classes, ...children);
  element.setAttribute("role", ROLES[tag]);
  return element;
}

/** Write a text only if it differs, so that a selection and a screen reader are left in peace. */
export function write(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

const kept = new WeakMap(); // parent -> its rows by key

/** Bring the children of a parent in line with items: rows are kept by key, made, moved and removed as needed. */
export function lineUp(parent, items, keyOf, makeRow, updateRow) {
  if (!kept.has(parent)) kept.set(parent, new Map());
  const rows = kept.get(parent);
  const wanted = new Set(items.map(keyOf));
  for (const [key, row] of rows) {
    if (!wanted.has(key)) {
      row.remove();
      rows.delete(key);
    }
  }
  items.forEach((item, index) => {
    const key = keyOf(item);
    let row = rows.get(key);
    if (!row) {
      row = makeRow(item);
      rows.set(key, row);
    }
    if (parent.children[index] !== row) parent.insertBefore(row, parent.children[index] ?? null);
    updateRow(row, item);
  });
}

/** A status as the page calls it; in data it keeps its own name. */
export const inWords = (status) => (status === "awaiting_auth" ? "asks a person" : status.replaceAll("_", " "));

export function chip(status) {
  const element = make("span", "chip");
  setChip(element, status);
  return element;
}

export function setChip(element, status) {
  element.dataset.status = status;
  write(element, inWords(status));
}

const number = new Intl.NumberFormat("en");

/** A count; one that reached the cap is at least that many. */
export function count(value, cap = Infinity) {
  return value >= cap ? `${number.format(cap)}+` : number.format(value);
}

export function span(seconds) {
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** A duration that is known within a tenth only: two figures are all that can be said of it. */
export function about(ms) {
  if (ms < 1) return "< 1 ms";
  const step = 10 ** Math.max(0, Math.floor(Math.log10(ms)) - 1);
  return span((Math.round(ms / step) * step) / 1000);
}

export const since = (stamp) => (Date.now() - Date.parse(stamp)) / 1000;

export function age(stamp) {
  const seconds = since(stamp);
  return seconds < 1 ? "now" : span(seconds < 10 ? Math.floor(seconds) + 1e-9 : seconds).replace(".0 ", " ");
}

export function clock(stamp) {
  const moment = new Date(stamp);
  const today = new Date().toDateString() === moment.toDateString();
  return today ? moment.toLocaleTimeString() : moment.toLocaleString();
}
