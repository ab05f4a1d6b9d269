// The table of queues and types: how deep, how it went in the last minute, and the switch of each queue.

import { post } from "./api.js";
import { draw, makeCurve } from "./curves.js";
import { about, byId, count, lineUp, link, make, part, span, write } from "./dom.js";
import { address } from "./route.js";
import { isServed } from "./what.js";

const narrow = matchMedia("(max-width: 640px)");
const FOLDED = 2; // so many idle types or more make one line on a phone
let opened = false;

export function startQueues(again) {
  narrow.addEventListener("change", again);
  byId("idle").addEventListener("click", () => {
    opened = !opened;
    again();
  });
}

export function showQueues(picture, failed) {
  const paused = new Map(picture.paused.map((one) => [one.name, one]));
  const lines = fold(withEmptyQueues(picture.lines, paused));
  byId("no-queues").hidden = lines.length > 0 || !byId("idle").hidden;
  byId("queues").closest("table").hidden = lines.length === 0;
  lineUp(byId("queues"), lines, keyOf, () => makeRow(failed), (row, line) => {
    const first = lines.find((other) => other.queue === line.queue) === line;
    updateRow(row, line, { first, paused: paused.get(line.queue), cap: picture.cap });
  });
  showPaused(picture.paused, failed);
}

/** On a phone a type where nothing waits, runs or lies dead is not worth three lines. */
function fold(lines) {
  const open = (line) => line.waiting || line.blocked || line.running || line.dead || line.awaiting_auth;
  const idle = lines.filter((line) => line.type && !open(line));
  const folds = narrow.matches && idle.length >= FOLDED;
  byId("idle").hidden = !folds;
  byId("idle").setAttribute("aria-expanded", String(opened));
  write(byId("idle"), `${count(idle.length)} idle types`);
  return folds && !opened ? lines.filter((line) => !idle.includes(line)) : lines;
}

export const keyOf = (line) => JSON.stringify([line.queue, line.type]);

function withEmptyQueues(lines, paused) {
  const known = new Set(lines.map((line) => line.queue));
  const empty = [...paused.keys()].filter((name) => !known.has(name));
  const zero = { type: "", waiting: 0, oldest_s: 0, running: 0, completed_1h: 0, dead: 0, run_p95_ms: null };
  return [...lines, ...empty.map((queue) => ({ ...zero, queue }))];
}

function makeRow(failed) {
  const button = make("button", "small");
  button.type = "button";
  button.addEventListener("click", () => toggle(button, failed));
  const number = (classes, label = classes) => {
    const cell = part("td", `number ${classes}`);
    cell.dataset.label = label; // a phone shows it beside the number
    return cell;
  };
  return part(
    "tr", "",
    part("th", "name", link("", "#")), part("td", "name type", link("", "#")),
    number("waiting"), number("oldest"), part("td", "curve", makeCurve()),
    number("running"), number("done"), number("slow", "p95"), number("dead"),
    part("td", "action", button),
  );
}

function updateRow(row, line, { first, paused, cap }) {
  const [name, type, waiting, oldest, curve, running, done, slow, dead, action] = row.children;
  row.classList.toggle("first", first);
  lead(name.firstChild, first ? line.queue : "", { queue: line.queue });
  lead(type.firstChild, line.type, { queue: line.queue, type: line.type });
  number(waiting, line.waiting, cap);
  write(oldest, line.waiting && line.oldest_s >= 1 ? span(line.oldest_s) : "");
  draw(curve.firstChild, keyOf(line));
  number(running, line.running);
  showStranded(running, line);
  number(done, line.completed_1h);
  write(slow, line.run_p95_ms === null ? "–" : about(line.run_p95_ms));
  number(dead, line.dead, cap);
  dead.classList.toggle("bad", line.dead > 0);
  showSwitch(action.firstChild, line.queue, first, paused);
}

/** A name that narrows the list of jobs to its own. */
function lead(name, text, wanted) {
  write(name, text);
  name.hidden = text === "";
  name.title = `${text}: show its jobs`;
  name.href = address(wanted);
}

/** Jobs wait, and nobody is there who would take them: said where else would stand how many run. */
function showStranded(cell, line) {
  const stranded = line.waiting > 0 && line.running === 0 && !isServed(line.queue, line.type);
  cell.classList.toggle("warn", stranded);
  cell.title = stranded ? "no live worker takes jobs of this type from this queue" : "";
  cell.dataset.label = stranded ? "" : "running";
  if (stranded) write(cell, "no worker");
}

/** Zeros are quiet, so that what there is stands out. */
function number(cell, value, cap) {
  write(cell, count(value, cap));
  cell.classList.toggle("quiet", value === 0);
}

function showSwitch(button, queue, first, paused) {
  button.hidden = !first;
  button.dataset.queue = queue;
  button.dataset.verb = paused ? "resume" : "pause";
  write(button, paused ? "Resume" : "Pause");
  button.setAttribute("aria-label", `${paused ? "Resume" : "Pause"} queue ${queue}`);
}

async function toggle(button, failed) {
  button.disabled = true;
  try {
    await post(`/v1/queues/${encodeURIComponent(button.dataset.queue)}/${button.dataset.verb}`);
  } catch (error) {
    failed(new Error(`could not ${button.dataset.verb} queue ${button.dataset.queue}: ${error.message}`));
  } finally {
    button.disabled = false;
  }
}

function showPaused(paused, failed) {
  byId("paused-card").hidden = paused.length === 0;
  const makeLine = (one) => {
    const button = make("button", "small", "Resume");
    button.type = "button";
    button.setAttribute("aria-label", `Resume queue ${one.name}`);
    button.dataset.queue = one.name;
    button.dataset.verb = "resume";
    button.addEventListener("click", () => toggle(button, failed));
    return make("li", "row", make("span", "", make("b", "", one.name), make("small")), button);
  };
  lineUp(byId("paused"), paused, (one) => one.name, makeLine, (line, one) => {
    write(line.querySelector("small"), `by ${one.by} since ${new Date(one.since).toLocaleTimeString()}`);
  });
}
