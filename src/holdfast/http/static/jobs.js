// What runs, and the list of jobs with its filter. The filter is in the address: see route.js.

import { get } from "./api.js";
import { age, byId, chip, count, lineUp, make, part, setChip, write } from "./dom.js";
import { go, heed } from "./route.js";
import { describe, isStranded, learn } from "./what.js";

const PAGE = 25;
const NARROWED = ["queue", "type", "group", "tenant"];
let statuses = []; // the filter; empty: all
let narrowed = {}; // name -> the only value that is shown
let pages = 1; // how many pages of older jobs are open
let shown = []; // the jobs in the list
let seen = false; // there was a picture: before it the list waits
let over = false; // a mouse rests on the list; what a finger touched last does not count
let asking = false; // a question that news led to is under way
let again = false; // and it was not the last
let asked = 0; // grows with each question, so that a late answer to an older one is dropped

export function startJobs(failed) {
  heed((wanted) => follow(wanted, failed));
  byId("filter").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go({ status: button.dataset.status || null });
  });
  byId("narrowed").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go({ [button.dataset.name]: null });
  });
  byId("more").addEventListener("click", () => {
    pages += 1;
    refresh(failed);
  });
  byId("jobs").addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) go({ job: row.dataset.id });
  });
  // Only a hand that moves takes it away: when the table of queues grows, the list slips from under the pointer by itself.
  document.addEventListener("pointermove", (event) => (over = event.pointerType === "mouse" && byId("jobs").contains(event.target)));
  document.documentElement.addEventListener("pointerleave", () => (over = false));
  byId("running").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go({ job: button.dataset.id });
  });
  for (const id of ["totals", "queues"]) {
    byId(id).addEventListener("click", (event) => event.target.closest("a") && showList());
  }
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // its address would be taken for a filter
    showList();
  });
}

/** Bring the list before the eyes, and the keyboard to it. */
function showList() {
  byId("jobs-card").scrollIntoView();
  byId("jobs-title").focus({ preventScroll: true });
}

/** The address asks for other jobs. */
function follow(wanted, failed) {
  const known = new Set([...byId("filter").children].map((button) => button.dataset.status));
  const before = JSON.stringify([statuses, narrowed]);
  statuses = (wanted.status ?? "").split(",").filter((status) => status && known.has(status));
  narrowed = Object.fromEntries(NARROWED.filter((name) => wanted[name] !== null).map((name) => [name, wanted[name]]));
  if (JSON.stringify([statuses, narrowed]) === before) return;
  pages = 1;
  for (const button of byId("filter").children) {
    const on = statuses.length ? statuses.includes(button.dataset.status) : button.dataset.status === "";
    button.setAttribute("aria-pressed", String(on));
  }
  showNarrowed();
  if (seen) refresh(failed);
}

function showNarrowed() {
  const makeButton = ([name]) => {
    const button = make("button", "small");
    button.type = "button";
    button.dataset.name = name;
    return button;
  };
  byId("narrowed").hidden = Object.keys(narrowed).length === 0;
  lineUp(byId("narrowed"), Object.entries(narrowed), ([name]) => name, makeButton, (button, [name, value]) => {
    write(button, `${name} ${value || "(none)"} ✕`);
    button.title = `jobs of one ${name} alone: click to show all`;
  });
}

const isPlain = () => statuses.length === 0 && Object.keys(narrowed).length === 0;

/** With a new picture: the newest jobs come with it; what is filtered or older is asked for. */
export function showJobs(picture, failed) {
  seen = true;
  learn(picture);
  showRunning(picture.running, picture.totals.running);
  if (held()) {
    const news = new Map(picture.recent.map((job) => [job.id, job]));
    show(shown.map((job) => news.get(job.id) ?? job), !byId("more").hidden);
  } else if (isPlain() && pages === 1) {
    asked += 1;
    show(picture.recent, picture.recent.length === PAGE);
  } else {
    renew(failed);
  }
}

/** Ask because of news: one question at a time, and one more when it was answered if there was news meanwhile. */
async function renew(failed) {
  again = true;
  if (asking) return;
  asking = true;
  while (again) {
    again = false;
    await refresh(failed);
  }
  asking = false;
}

/** Under a pointer rows stay where they are, and only what they tell goes on: nobody should click on a row that slips. */
function held() {
  const still = isPlain() && shown.length > 0 && over;
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
  const most = Math.min(PAGE * pages, 200);
  const ask = (status) => get(`/v1/jobs?${new URLSearchParams({ limit: String(most), view: "summary", ...narrowed, ...status })}`);
  try {
    const answers = await Promise.all(statuses.length ? statuses.map((status) => ask({ status })) : [ask({})]);
    if (question !== asked) return;
    const found = answers.flatMap((page) => page.items).sort((a, b) => (a.id < b.id ? 1 : -1)); // newest first
    const more = found.length > most || answers.some((page) => page.next !== null);
    show(found.slice(0, most), more && most < 200);
  } catch (error) {
    failed(error);
  }
}

function show(jobs, more) {
  shown = jobs;
  lineUp(byId("jobs"), jobs, (job) => job.id, makeRow, updateRow);
  byId("no-jobs").hidden = jobs.length > 0;
  write(byId("no-jobs"), isPlain() ? "No jobs yet." : "No job matches this filter.");
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
  attempts.title = `${job.attempts} ${job.attempts === 1 ? "run" : "runs"} so far, ${job.max_attempts} at most`;
  attempts.classList.toggle("quiet", job.attempts < 2);
  write(what, describe(job));
  what.classList.toggle("warn", isStranded(job));
  what.title = what.textContent + (job.batch ? ` (${job.batch.id})` : ""); // long ones are cut
  write(when, age(job.created_at));
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
