// The table of queues and types: how deep, how it went in the last minute, and the switch of each queue.

import { post } from "./api.js";
import { byId, count, lineUp, make, span, write } from "./dom.js";

const POINTS = 60;
const WIDTH = 96;
const HEIGHT = 22;
const samples = new Map(); // queue and type -> depths, one a second

export function showQueues(picture, failed) {
  const paused = new Map(picture.paused.map((one) => [one.name, one]));
  const lines = withEmptyQueues(picture.lines, paused);
  const deepest = Math.max(1, ...lines.map((line) => line.waiting));
  byId("no-queues").hidden = lines.length > 0;
  byId("queues").closest("table").hidden = lines.length === 0;
  lineUp(byId("queues"), lines, keyOf, () => makeRow(failed), (row, line) => {
    const first = lines.find((other) => other.queue === line.queue) === line;
    updateRow(row, line, { first, paused: paused.get(line.queue), deepest, cap: picture.cap });
  });
  showPaused(picture.paused, failed);
}

/** Once a second: remember the depths, so that the little curves have a minute behind them. */
export function sample(picture) {
  const seen = new Set();
  for (const line of picture.lines) {
    const key = keyOf(line);
    seen.add(key);
    const points = samples.get(key) ?? [];
    points.push(line.waiting);
    samples.set(key, points.slice(-POINTS));
  }
  for (const key of samples.keys()) if (!seen.has(key)) samples.delete(key);
}

const keyOf = (line) => JSON.stringify([line.queue, line.type]);

function withEmptyQueues(lines, paused) {
  const known = new Set(lines.map((line) => line.queue));
  const empty = [...paused.keys()].filter((name) => !known.has(name));
  const zero = { type: "", waiting: 0, oldest_s: 0, running: 0, completed_1h: 0, dead: 0, run_p95_ms: null };
  return [...lines, ...empty.map((queue) => ({ ...zero, queue }))];
}

function makeRow(failed) {
  const row = make("tr");
  const name = make("th", "name");
  name.scope = "row";
  const fill = make("i");
  const depth = make("td", "depth", make("span", "bar", fill), make("b"), make("small"));
  const curve = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  curve.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  curve.setAttribute("width", WIDTH);
  curve.setAttribute("height", HEIGHT);
  curve.setAttribute("class", "spark");
  curve.setAttribute("role", "img");
  curve.append(
    document.createElementNS("http://www.w3.org/2000/svg", "polygon"),
    document.createElementNS("http://www.w3.org/2000/svg", "polyline"),
  );
  const button = make("button", "small");
  button.type = "button";
  button.addEventListener("click", () => toggle(button, failed));
  row.append(name, make("td", "name type"), depth, make("td", "", curve));
  for (let column = 0; column < 4; column += 1) row.append(make("td", "number"));
  row.append(make("td", "action", button));
  return row;
}

function updateRow(row, line, { first, paused, deepest, cap }) {
  const [name, type, depth, curve, running, done, slow, dead, action] = row.children;
  row.classList.toggle("first", first);
  write(name, first ? line.queue : "");
  name.title = line.queue;
  write(type, line.type);
  type.title = line.type;
  depth.querySelector("i").style.width = `${Math.round((line.waiting / deepest) * 100)}%`;
  write(depth.querySelector("b"), count(line.waiting, cap));
  write(depth.querySelector("small"), line.waiting && line.oldest_s >= 1 ? span(line.oldest_s) : "");
  depth.querySelector("small").title = "age of the oldest job that is due";
  draw(curve.firstChild, samples.get(keyOf(line)) ?? []);
  write(running, count(line.running));
  write(done, count(line.completed_1h));
  write(slow, line.run_p95_ms === null ? "–" : span(line.run_p95_ms / 1000));
  write(dead, count(line.dead));
  dead.classList.toggle("bad", line.dead > 0);
  showSwitch(action.firstChild, line.queue, first, paused);
}

function showSwitch(button, queue, first, paused) {
  button.hidden = !first;
  button.dataset.queue = queue;
  button.dataset.verb = paused ? "resume" : "pause";
  write(button, paused ? "Resume" : "Pause");
  button.setAttribute("aria-label", `${paused ? "Resume" : "Pause"} queue ${queue}`);
}

function draw(curve, points) {
  const highest = Math.max(1, ...points);
  const left = WIDTH - ((points.length - 1) / (POINTS - 1)) * WIDTH;
  const place = (value, index) => {
    const x = left + (index / (POINTS - 1)) * WIDTH;
    const y = HEIGHT - 2 - (value / highest) * (HEIGHT - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const line = points.map(place).join(" ");
  const [area, stroke] = curve.children;
  stroke.setAttribute("points", points.length > 1 ? line : "");
  area.setAttribute("points", points.length > 1 ? `${left.toFixed(1)},${HEIGHT} ${line} ${WIDTH},${HEIGHT}` : "");
  curve.setAttribute("aria-label", points.length ? `from ${points[0]} to ${points.at(-1)} waiting` : "no figures yet");
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
