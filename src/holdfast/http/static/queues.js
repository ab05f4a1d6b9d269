// The table of queues and types: how deep, how it went in the last minute, and the switch of each queue.

import { post } from "./api.js";
import { draw, makeCurve } from "./curves.js";
import { about, byId, count, lineUp, make, part, span, write } from "./dom.js";

export function showQueues(picture, failed) {
  const paused = new Map(picture.paused.map((one) => [one.name, one]));
  const lines = withEmptyQueues(picture.lines, paused);
  byId("no-queues").hidden = lines.length > 0;
  byId("queues").closest("table").hidden = lines.length === 0;
  lineUp(byId("queues"), lines, keyOf, () => makeRow(failed), (row, line) => {
    const first = lines.find((other) => other.queue === line.queue) === line;
    updateRow(row, line, { first, paused: paused.get(line.queue), cap: picture.cap });
  });
  showPaused(picture.paused, failed);
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
    part("th", "name"), part("td", "name type"),
    number("waiting"), number("oldest"), part("td", "curve", makeCurve()),
    number("running"), number("done"), number("slow", "p95"), number("dead"),
    part("td", "action", button),
  );
}

function updateRow(row, line, { first, paused, cap }) {
  const [name, type, waiting, oldest, curve, running, done, slow, dead, action] = row.children;
  row.classList.toggle("first", first);
  write(name, first ? line.queue : "");
  name.title = line.queue;
  write(type, line.type);
  type.title = line.type;
  number(waiting, line.waiting, cap);
  write(oldest, line.waiting && line.oldest_s >= 1 ? span(line.oldest_s) : "");
  draw(curve.firstChild, keyOf(line));
  number(running, line.running);
  number(done, line.completed_1h);
  write(slow, line.run_p95_ms === null ? "–" : about(line.run_p95_ms));
  number(dead, line.dead, cap);
  dead.classList.toggle("bad", line.dead > 0);
  showSwitch(action.firstChild, line.queue, first, paused);
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
    failed(error);
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
