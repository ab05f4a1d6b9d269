// What runs, and the list of jobs with its filter.

import { get } from "./api.js";
import { age, byId, chip, count, lineUp, make, part, setChip, since, span, write } from "./dom.js";

const PAGE = 25;
let status = ""; // the filter; empty: all
let pages = 1; // how many pages of older jobs are open
let shown = []; // the jobs in the list
let mouse = false; // the last pointer over the list was one: what a finger touched last counts as hovered for long
let pausedQueues = new Set();
let asked = 0; // grows with each question, so that a late answer to an older one is dropped

export function startJobs(open, failed) {
  byId("filter").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    status = button.dataset.status;
    pages = 1;
    for (const other of byId("filter").children) other.setAttribute("aria-pressed", String(other === button));
    refresh(failed);
  });
  byId("more").addEventListener("click", () => {
    pages += 1;
    refresh(failed);
  });
  byId("jobs").addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) open(row.dataset.id);
  });
  byId("jobs").addEventListener("pointerover", (event) => (mouse = event.pointerType === "mouse"));
  byId("running").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) open(button.dataset.id);
  });
}

/** With a new picture: the newest jobs come with it; what is filtered or older is asked for. */
export function showJobs(picture, failed) {
  pausedQueues = new Set(picture.paused.map((one) => one.name));
  showRunning(picture.running, picture.totals.running);
  if (held()) {
    const news = new Map(picture.recent.map((job) => [job.id, job]));
    show(shown.map((job) => news.get(job.id) ?? job), !byId("more").hidden);
  } else if (status === "" && pages === 1) {
    asked += 1;
    show(picture.recent, picture.recent.length === PAGE);
  } else {
    refresh(failed);
  }
}

/** Under a pointer rows stay where they are, and only what they tell goes on: nobody should click on a row that slips. */
function held() {
  const still = status === "" && shown.length > 0 && mouse && byId("jobs").matches(":hover");
  byId("held").hidden = !still;
  return still;
}

/** Once a second: ages go on without news. */
export function tick() {
  show(shown, !byId("more").hidden);
  for (const row of byId("running").children) write(row.querySelector(".time"), age(row.dataset.since));
}

async function refresh(failed) {
  const question = (asked += 1);
  const query = new URLSearchParams({ limit: String(Math.min(PAGE * pages, 200)), view: "summary" });
  if (status) query.set("status", status);
  try {
    const page = await get(`/v1/jobs?${query}`);
    if (question === asked) show(page.items, page.next !== null && PAGE * pages < 200);
  } catch (error) {
    failed(error);
  }
}

function show(jobs, more) {
  shown = jobs;
  lineUp(byId("jobs"), jobs, (job) => job.id, makeRow, updateRow);
  byId("no-jobs").hidden = jobs.length > 0;
  byId("jobs").closest("table").hidden = jobs.length === 0;
  byId("more").hidden = !more;
}

function makeRow(job) {
  const open = make("button", "link", job.type);
  open.type = "button";
  open.title = `${job.type}, ${job.id}`;
  const row = part(
    "tr", "",
    part("td", "status", chip(job.status)), part("td", "type", open), part("td", "queue quiet", job.queue),
    part("td", "runs number"), part("td", "what"), part("td", "when number quiet"),
  );
  row.dataset.id = job.id;
  return row;
}

function updateRow(row, job) {
  const [state, , , attempts, what, when] = row.children;
  setChip(state.firstChild, job.status);
  write(attempts, `${job.attempts}/${job.max_attempts}`);
  attempts.classList.toggle("quiet", job.attempts < 2);
  write(what, describe(job));
  what.title = what.textContent; // long ones are cut
  write(when, age(job.created_at));
}

/** What is most worth knowing beside the status: never nothing. */
function describe(job) {
  switch (job.status) {
    case "queued":
      return waiting(job);
    case "in_progress":
      return job.progress?.message ?? `running for ${span(since(job.started_at))}`;
    case "awaiting_auth":
      return `asks a person: ${job.auth?.reason ?? "someone must act first"}`;
    case "completed":
      return `took ${span((Date.parse(job.completed_at) - Date.parse(job.started_at)) / 1000)}`;
    default:
      return job.error ? `${job.error.class}: ${job.error.message}` : "stopped on request";
  }
}

function waiting(job) {
  const wait = -since(job.scheduled_at);
  if (wait > 0) return job.error ? `again in ${span(wait)}: ${job.error.class}` : `due in ${span(wait)}`;
  if (job.held_back) return job.held_back;
  if (pausedQueues.has(job.queue)) return "its queue is paused";
  return job.error ? `again: ${job.error.class}` : "in line";
}

function showRunning(jobs, all) {
  byId("no-running").hidden = jobs.length > 0;
  byId("more-running").hidden = all <= jobs.length;
  write(byId("more-running"), `and ${count(all - jobs.length)} more, which began later`);
  lineUp(byId("running"), jobs, (job) => job.id, makeRun, updateRun);
}

function makeRun(job) {
  const open = make("button", "link", job.type);
  open.type = "button";
  open.dataset.id = job.id;
  const bar = make("progress");
  bar.setAttribute("aria-label", `progress of ${job.type}`);
  return make(
    "li",
    "run",
    make("span", "row", open, make("small", "time")),
    bar,
    make("small", "message"),
  );
}

function updateRun(row, job) {
  row.dataset.since = job.started_at;
  const bar = row.querySelector("progress");
  const { done, total, message } = job.progress ?? {};
  if (typeof done === "number" && typeof total === "number" && total > 0) {
    bar.max = total;
    bar.value = Math.min(done, total);
  } else {
    bar.removeAttribute("value");
  }
  write(row.querySelector(".time"), age(job.started_at));
  const steps = typeof done === "number" ? `${done}${typeof total === "number" ? ` of ${total}` : ""}` : "";
  write(row.querySelector(".message"), [steps, message].filter(Boolean).join(" · "));
}
