// The overview page: it listens, and hands each new picture of the house to its parts.

import { listen } from "./api.js";
import { sample } from "./curves.js";
import { byId, count, lineUp, make, span, write } from "./dom.js";
import { startDrawer } from "./drawer.js";
import { showJobs, startJobs, tick } from "./jobs.js";
import { propose } from "./proposal.js";
import { keyOf, showQueues, startQueues } from "./queues.js";

const STATES = { connecting: "connecting", live: "live", lost: "connection lost, trying again", trouble: "the store is away" };
const SPEAK_EVERY = 10_000;
const SPOKEN_FOR = 2_000;
let picture = null;
let live = false;
let lostAt = null; // until when the picture was true
let silence = 0; // a timer, until the totals may be spoken again
let spoken = ""; // what was said last

function show(next) {
  picture = next;
  sample(next.lines, keyOf);
  showTotals(next);
  showJobs(next, failed); // it learns first who draws what, which the queues show, too
  showQueues(next, failed);
  showWorkers(next.workers);
  const quiet = next.recent.length === 0 && next.lines.length === 0 && next.paused.length === 0;
  byId("totals").hidden = false;
  byId("empty").hidden = !quiet;
  if (quiet) propose(next.workers);
  byId("columns").hidden = quiet && next.workers.length === 0;
}

function showTotals({ totals, lines, workers, cap }) {
  for (const box of byId("totals").children) {
    const name = box.dataset.total;
    write(box.children[1], count(totals[name], name === "running" ? Infinity : cap));
    box.classList.toggle("bad", (name === "dead" || name === "ended_badly_1h") && totals[name] > 0);
  }
  const oldest = Math.max(0, ...lines.filter((line) => line.waiting).map((line) => line.oldest_s));
  const places = workers.reduce((sum, worker) => sum + worker.places, 0);
  const ended = totals.completed_1h + totals.ended_badly_1h;
  beside("waiting", oldest >= 1 ? `oldest ${span(oldest)}` : "");
  beside("running", inPlaces(totals, places));
  beside("completed_1h", ended ? `${((100 * totals.completed_1h) / ended).toFixed(1)} % went well` : "");
  beside("ended_badly_1h", totals.ended_badly_1h ? "will not be tried again" : "");
  beside("dead", totals.dead ? "Retry, or holdfast dlq" : "", "one: open it, and Retry; many: holdfast dlq retry or purge");
  beside("awaiting_auth", totals.awaiting_auth ? "until someone acts" : "");
  speak();
}

/** A worker may hold a few more jobs than it has places, so that the next ones begin at once. */
function inPlaces({ running, expired }, places) {
  if (expired) return `${count(expired)} past their lease`;
  if (!places) return "";
  return running > places ? `${count(running - places)} of them held ready` : `of ${count(places)} places`;
}

/** A tile holds few words; what else there is to say stands in the title. */
function beside(name, text, more = "") {
  const line = byId("totals").querySelector(`[data-total=${name}] .beside`);
  write(line, text);
  line.title = text && more;
}

/** Screen readers hear the totals now and then, not four times a second: always as the tiles show them at that moment. */
function speak() {
  const { totals } = picture;
  const text = `${totals.waiting} waiting, ${totals.running} running, ${totals.dead} dead letters, ${totals.awaiting_auth} ask a person`;
  if (silence || !live || text === spoken) return;
  spoken = text;
  write(byId("spoken"), text);
  setTimeout(() => write(byId("spoken"), ""), SPOKEN_FOR); // who comes by later finds the tiles, and no older figures
  silence = setTimeout(() => {
    silence = 0;
    speak();
  }, SPEAK_EVERY);
}

function showWorkers(workers) {
  byId("no-workers").hidden = workers.length > 0;
  const makeLine = () => {
    const bar = make("progress");
    bar.setAttribute("aria-label", "places in use");
    return make("li", "worker", make("span", "row", make("b"), make("small")), bar, make("small", "message"));
  };
  lineUp(byId("workers"), workers, (worker) => worker.id, makeLine, (line, worker) => {
    write(line.querySelector("b"), `${worker.host}:${worker.pid}`);
    write(line.querySelector(".row small"), `${worker.running} of ${worker.places}`);
    const bar = line.querySelector("progress");
    bar.max = Math.max(1, worker.places);
    bar.value = Math.min(worker.running, bar.max);
    const types = [...new Set(worker.lanes.map((lane) => lane.type))].sort().join(", ");
    write(line.querySelector(".message"), types);
    line.querySelector(".message").title = types; // the line is cut
  });
}

function connection(state, why) {
  live = state === "live";
  lostAt = live ? null : (lostAt ?? new Date());
  byId("connection").dataset.state = state;
  write(byId("connection").querySelector("b"), STATES[state]);
  byId("away").hidden = live;
  document.body.classList.toggle("stale", !live);
  if (!live) write(byId("away"), away(state, why));
}

/** What cannot be known now is said on top, and the figures that were known last turn grey. */
function away(state, why) {
  const what = state === "trouble" ? `The store is away: ${why}.` : `Nothing new is known: ${why}.`;
  const rest = picture ? `What stands here was so at ${lostAt.toLocaleTimeString()}.` : "Until it is back there is nothing to show.";
  return `${what} This page tries again by itself. ${rest}`;
}

let hide = 0;
function failed(error) {
  byId("notice").hidden = false;
  write(byId("notice"), error.message);
  clearTimeout(hide);
  hide = setTimeout(() => (byId("notice").hidden = true), 8000);
}

byId("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(byId("command").textContent);
  write(byId("copy"), "Copied");
  setTimeout(() => write(byId("copy"), "Copy"), 2000);
});

setInterval(() => {
  if (!picture || !live) return; // while nothing is known, nothing goes on
  sample(picture.lines, keyOf);
  showQueues(picture, failed);
  tick();
}, 1000);

startDrawer();
startJobs(failed);
startQueues(() => picture && showQueues(picture, failed));
listen(show, connection);
