// What runs, and the list of jobs with its filter.

import { get } from "./api.js";
import { age, byId, chip, lineUp, make, setChip, since, span, write } from "./dom.js";

const PAGE = 25;
let status = ""; // the filter; empty: all
let pages = 1; // how many pages of older jobs are open
let shown = []; // the jobs in the list
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
  byId("running").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) open(button.dataset.id);
  });
}

/** With a new picture: the newest jobs come with it; what is filtered or older is asked for. */
export function showJobs(picture, failed) {
  showRunning(picture.running);
  if (status === "" && pages === 1) {
    asked += 1;
    show(picture.recent, picture.recent.length === PAGE);
  } else {
    refresh(failed);
  }
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
  const row = make("tr");
  row.dataset.id = job.id;
  const open = make("button", "link", job.type);
  open.type = "button";
  open.title = job.id;
  row.append(
    make("td", "", chip(job.status)),
    make("td", "", open),
    make("td", "quiet", job.queue),
    make("td", "number"),
    make("td", "what"),
    make("td", "number quiet"),
  );
  return row;
}

function updateRow(row, job) {
  const [state, , , attempts, what, when] = row.children;
  setChip(state.firstChild, job.status);
  write(attempts, `${job.attempts}/${job.max_attempts}`);
  write(what, describe(job));
  write(when, age(job.created_at));
}

function describe(job) {
  const wait = -since(job.scheduled_at);
  if (job.status === "queued" && wait > 0) {
    return job.error ? `again in ${span(wait)}: ${job.error.class}` : `due in ${span(wait)}`;
  }
  if (job.status === "in_progress") return job.progress?.message ?? `running for ${span(since(job.started_at))}`;
  if (job.error) return `${job.error.class}: ${job.error.message}`;
  if (job.status === "completed") return `took ${span((Date.parse(job.completed_at) - Date.parse(job.started_at)) / 1000)}`;
  return "";
}

function showRunning(jobs) {
  byId("no-running").hidden = jobs.length > 0;
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
