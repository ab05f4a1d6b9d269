// One job in full: why it stands where it stands, what happened to it, what it holds, and the two buttons.

import { get, post } from "./api.js";
import { byId, chip, clock, make, span, write } from "./dom.js";

const dialog = byId("drawer");
const WAITING = new Set(["queued", "in_progress", "awaiting_auth"]);
const AGAIN = new Set(["failed", "dead_letter"]);
let watching = null; // ends the long poll of the job that is shown

export function startDrawer() {
  byId("drawer-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the space beside the drawer
  });
  dialog.addEventListener("close", () => {
    watching?.abort();
    watching = null;
  });
  byId("drawer-cancel").addEventListener("click", () => act("cancel"));
  byId("drawer-retry").addEventListener("click", () => act("retry"));
  byId("drawer-resume").addEventListener("click", () => act("resume"));
}

export async function openDrawer(id) {
  watching?.abort();
  watching = new AbortController();
  dialog.dataset.id = id;
  tell("");
  byId("drawer-body").replaceChildren();
  write(byId("drawer-title"), "…");
  write(byId("drawer-id"), id);
  if (!dialog.open) dialog.showModal();
  await follow(id, watching.signal);
}

/** Show the job, wait for its next change, and so on until the drawer closes. */
async function follow(id, signal) {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  let job = null;
  while (!signal.aborted) {
    try {
      const query = job ? `?wait=30&since=${job.version}` : "";
      const next = await get(path + query, { signal });
      if (job === null || next.version !== job.version) {
        const [why, history] = await Promise.all([
          get(`${path}/explain`, { signal }),
          get(`${path}/history`, { signal }),
        ]);
        show(next, why.reasons, history.items);
      }
      job = next;
    } catch (error) {
      if (signal.aborted) return;
      tell(error.message);
      if (error.code === "JOB_NOT_FOUND") return;
      await new Promise((resume) => setTimeout(resume, 2000));
    }
  }
}

function errorText(error) {
  const lines = Array.isArray(error.where) ? [...error.where].reverse().map((line) => `at ${line}`) : [];
  return [`${error.class} (${error.code})`, error.message, ...lines].join("\n");
}

function show(job, reasons, history) {
  write(byId("drawer-title"), job.type);
  byId("drawer-cancel").hidden = !WAITING.has(job.status);
  byId("drawer-retry").hidden = !AGAIN.has(job.status);
  byId("drawer-resume").hidden = job.status !== "awaiting_auth";
  byId("drawer-body").replaceChildren(
    make("p", "state", chip(job.status), make("span", "", reasons.map((reason) => reason.text).join("; "))),
    counters(job),
    ...question(job),
    ...progress(job),
    make("h3", "", "What happened"),
    timeline(job, history),
    ...block("Error", job.error && errorText(job.error)),
    ...block("Payload", JSON.stringify(job.payload, null, 2)),
    ...block("Result", job.result === null ? null : JSON.stringify(job.result, null, 2)),
    details(job),
  );
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
  if (/^https?:\/\//i.test(url)) {
    const link = make("a", "", url);
    link.href = url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    line.append(" ", link);
  }
  const until = job.auth.until ? [make("p", "quiet", `until ${clock(job.auth.until)}`)] : [];
  return [make("h3", "", "Waits for a person"), line, ...until];
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
  const lines = [{ at: job.created_at, what: `enqueued to ${job.queue}` }];
  for (const line of history) {
    const rest = [line.error_class, line.worker && `at ${line.worker}`, line.actor && `by ${line.actor}`];
    lines.push({ at: line.at, what: `${line.why} → ${line.to_status.replaceAll("_", " ")}`, rest: rest.filter(Boolean).join(", ") });
  }
  if (job.started_at) lines.push({ at: job.started_at, what: `attempt ${job.attempts} started` });
  if (job.status === "completed") {
    lines.push({ at: job.completed_at, what: "completed", rest: `after ${span((Date.parse(job.completed_at) - Date.parse(job.started_at)) / 1000)}` });
  }
  if (job.status === "queued" && Date.parse(job.scheduled_at) > Date.now()) lines.push({ at: job.scheduled_at, what: "due" });
  lines.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const list = make("ol", "timeline");
  for (const line of lines) {
    list.append(make("li", "", make("time", "", clock(line.at)), make("span", "", line.what), line.rest ? make("small", "", line.rest) : null));
  }
  return list;
}

function block(title, text) {
  if (!text) return [];
  const box = make("pre", "", text);
  box.tabIndex = 0; // so that the keyboard can scroll it
  return [make("h3", "", title), box];
}

function details(job) {
  const list = make("dl", "details");
  const entries = { Queue: job.queue, Priority: job.priority, Group: job.group, Tenant: job.tenant, Key: job.idempotency_key, Holder: job.lease_owner, Version: job.version };
  for (const [name, value] of Object.entries(entries)) {
    if (value !== null && value !== "") list.append(make("dt", "", name), make("dd", "", String(value)));
  }
  return list;
}

async function act(verb) {
  const button = byId(`drawer-${verb}`);
  button.disabled = true;
  try {
    await post(`/v1/jobs/${encodeURIComponent(dialog.dataset.id)}/${verb}`);
    tell("");
  } catch (error) {
    tell(error.message);
  } finally {
    button.disabled = false;
  }
}

function tell(text) {
  byId("drawer-notice").hidden = text === "";
  write(byId("drawer-notice"), text);
}
