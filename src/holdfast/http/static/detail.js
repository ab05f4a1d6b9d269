// The parts of a job's page: what is shown of it, in the page's own words.

import { byId, chip, clock, inWords, link, make, root, span, write } from "./dom.js";
import { readable } from "./readable.js";
import { address, wishes } from "./route.js";
import { partOf } from "./what.js";

// How a run ended, by the word of its history.
const ENDS = {
  retry: "failed",
  failed: "failed for good",
  crashed: "crashed",
  suspected: "was lost: the process it ran in died",
  snoozed: "put itself off",
  parked: "stopped to ask",
  interrupted: "was interrupted by a stop of its worker",
  released: "was handed back before it began",
  cancel: "was cancelled",
  cancelled: "was cancelled",
  "attempts exhausted": "was the last: attempts exhausted",
  "crashes exhausted": "crashed once too often: crashes exhausted",
  "parks exhausted": "asked once too often: parks exhausted",
};

export function show({ job, reasons, history, batch }) {
  write(byId("drawer-title"), job.type);
  byId("drawer-body").replaceChildren(
    make("p", "state", chip(job.status), make("span", "", ...sentence(job, reasons))),
    counters(job),
    ...question(job),
    ...progress(job),
    make("h3", "", "What happened"),
    timeline(job, history),
    ...block("Error", job.error && errorText(job.error)),
    ...relatives("Parents: it waits for them", job.parents),
    ...relatives("Children: they wait for it", job.children),
    ...block("Payload", readable(job.payload)),
    ...block("Result", job.result === null ? null : readable(job.result)),
    details(job, batch),
  );
}

/** Why it stands where it stands. Explanations name commands; where the page has a button or tells it below, it says that. */
function sentence(job, reasons) {
  const texts = reasons.filter((reason) => reason.code !== "IN_BATCH").map((reason) => {
    if (reason.code === "ENDED") return ended(job);
    return reason.code === "AWAITING_AUTH" ? parked(job) : reason.text;
  });
  return texts.flatMap((text, place) => [place ? "; " : "", ...withCode(text)]);
}

function withCode(text) {
  return text.split("`").map((piece, index) => (index % 2 ? make("code", "", piece) : piece));
}

function ended(job) {
  const after = `after ${job.attempts} ${job.attempts === 1 ? "attempt" : "attempts"}`;
  const badly = job.status === "failed" || job.status === "dead_letter";
  return badly ? `${after}; when the cause is gone, Retry below sends it round again` : after;
}

function parked(job) {
  const until = job.auth?.until ? `; at ${clock(job.auth.until)} it would end as a dead letter` : "";
  return `once someone has done what it asks, Resume below lets it go on${until}`;
}

function counters(job) {
  const list = make("dl", "counters");
  const entries = { Attempts: `${job.attempts} of ${job.max_attempts}`, Failed: job.failed, Crashed: job.crashed, Interrupted: job.interrupted };
  for (const [name, value] of Object.entries(entries)) {
    list.append(make("div", value === 0 ? "zero" : "", make("dt", "", name), make("dd", "", String(value))));
  }
  return list;
}

/** What a person is asked. Only an address of the web becomes a link: a script's address must not run here. */
function question(job) {
  if (!job.auth) return [];
  const line = make("p", "question", job.auth.reason ?? "a person must act first");
  const url = job.auth.url ?? "";
  if (/^https?:\/\//i.test(url)) line.append(" ", outside(url, url));
  const key = job.auth.key ? [make("p", "quiet", `as all that wait for the key ${job.auth.key}`)] : [];
  return [make("h3", "", "It asks"), line, ...key];
}

function outside(href, text) {
  const found = link("", href, text);
  found.target = "_blank";
  found.rel = "noopener noreferrer";
  return found;
}

function progress(job) {
  const { done, total, message } = job.progress ?? {};
  if (typeof done !== "number") return [];
  const bar = make("progress");
  bar.setAttribute("aria-label", "progress");
  if (typeof total === "number" && total > 0) {
    bar.max = total;
    bar.value = Math.min(done, total);
  }
  return [bar, make("p", "quiet", [`${done} of ${total ?? "?"}`, message].filter(Boolean).join(" · "))];
}

function timeline(job, history) {
  const list = make("ol", "timeline");
  for (const line of events(job, history)) {
    list.append(make("li", "", make("time", "", line.at ? clock(line.at) : ""), make("span", "", line.what), line.rest ? make("small", "", line.rest) : null));
  }
  return list;
}

/** All that the row and the history know, oldest first: every run's end, and when the last one began. */
function events(job, history) {
  const lines = history.map((line) => ({ at: line.at, what: eventOf(line), rest: aboutEvent(line) }));
  const last = history.findLastIndex(isRun);
  const goesOn = job.status === "in_progress" || job.status === "completed";
  const number = goesOn ? job.attempts : history[last]?.attempt;
  if (job.started_at && number !== undefined) {
    const began = { at: job.started_at, what: `attempt ${number} began`, rest: job.lease_owner && `at ${job.lease_owner}` };
    lines.splice(goesOn ? lines.length : last, 0, began);
  }
  if (job.status === "completed") {
    const took = span((Date.parse(job.completed_at) - Date.parse(job.started_at)) / 1000);
    lines.push({ at: job.completed_at, what: `attempt ${number} completed`, rest: `after ${took}` });
  }
  if (job.status === "queued" && Date.parse(job.scheduled_at) > Date.now()) lines.push({ at: job.scheduled_at, what: "due" });
  const since = history.findLastIndex((line) => line.why === "retry by a person") + 1; // it counts anew from there
  const unknown = unknownRuns(job, history.slice(since), goesOn ? job.attempts - 1 : job.attempts);
  return [{ at: job.created_at, what: `enqueued to ${job.queue}` }, ...unknown, ...lines];
}

const isRun = (line) => line.from_status === "in_progress";

function eventOf(line) {
  const what = isRun(line) ? `attempt ${line.attempt} ${ENDS[line.why] ?? `ended: ${line.why}`}` : line.why;
  return `${what} → ${inWords(line.to_status)}`;
}

function aboutEvent(line) {
  return [line.error_class, line.worker && `at ${line.worker}`, line.actor && `by ${line.actor}`].filter(Boolean).join(", ");
}

/** Runs that were counted and left no line: those of an item in its chunk, or before the oldest lines that are kept. */
function unknownRuns(job, history, ended) {
  const known = new Set(history.filter(isRun).map((line) => line.attempt));
  const missing = Array.from({ length: ended }, (_, index) => index + 1).filter((one) => !known.has(one));
  if (missing.length === 0) return [];
  const which = missing.length === 1 ? `attempt ${missing[0]}` : `attempts ${missing[0]} to ${missing.at(-1)}`;
  return [{ at: null, what: `${which}: not on record`, rest: job.batch ? "it ran with other items of its batch" : "" }];
}

function errorText(error) {
  const causes = Array.isArray(error.causes) ? error.causes : [];
  return [
    `${error.class} (${error.code})`, error.message, ...raisedAt(error),
    ...causes.flatMap((cause) => [`from ${cause.class}: ${cause.message}`, ...raisedAt(cause)]),
  ].join("\n");
}

/** Where an error was raised, the innermost line first. */
function raisedAt(error) {
  return Array.isArray(error.where) ? [...error.where].reverse().map((line) => `at ${line}`) : [];
}

function relatives(title, jobs) {
  if (!jobs) return [];
  const list = make("ul", "relatives");
  for (const job of jobs) {
    const name = link("", address({ ...wishes(), job: job.id }), job.type);
    list.append(make("li", "", chip(job.status), name, make("small", "id", job.id)));
  }
  return [make("h3", "", title), list];
}

function block(title, text) {
  if (!text) return [];
  const box = make("pre", "", text);
  box.tabIndex = 0; // so that the keyboard can scroll it
  return [make("h3", "", title), box];
}

function details(job, batch) {
  const list = make("dl", "details");
  const entries = {
    Queue: link("", address({ queue: job.queue }), job.queue),
    Priority: job.priority,
    Group: job.group && link("", address({ group: job.group, tenant: job.tenant }), job.group),
    Batch: job.batch && batchLine(job.batch, batch),
    Tenant: job.tenant,
    Key: job.idempotency_key,
    Holder: job.lease_owner,
  };
  for (const [name, value] of Object.entries(entries)) {
    if (value === null || value === undefined || value === "") continue;
    list.append(make("dt", "", name), make("dd", "", value instanceof Node ? value : String(value)));
  }
  return list;
}

/** Its part of the batch, and how far the whole is, where that is known. */
function batchLine(mine, batch) {
  const id = outside(`${root}/v1/batches/${encodeURIComponent(mine.id)}`, mine.id);
  const failed = batch?.failed ? `, ${batch.failed} failed` : "";
  const far = batch ? `: ${batch.done} of ${batch.total} items done${failed}` : "";
  return make("span", "", `${partOf(mine)} of `, id, far);
}
