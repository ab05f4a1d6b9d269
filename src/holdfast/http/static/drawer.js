// One job in full, while the address names it: it is shown, followed, and acted upon by three buttons.

import { get, post } from "./api.js";
import { show } from "./detail.js";
import { byId, write } from "./dom.js";
import { go, heed } from "./route.js";

const dialog = byId("drawer");
const WAITING = new Set(["queued", "in_progress", "awaiting_auth"]);
const AGAIN = new Set(["failed", "dead_letter"]);
let watching = null; // ends the long poll of the job that is shown

export function startDrawer() {
  const close = () => go({ job: null });
  byId("drawer-close").addEventListener("click", close);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close(); // the space beside the drawer
  });
  dialog.addEventListener("close", () => {
    watching?.abort();
    watching = null;
    close(); // where the keyboard did it
  });
  byId("drawer-cancel").addEventListener("click", () => act("cancel"));
  byId("drawer-retry").addEventListener("click", () => act("retry"));
  byId("drawer-resume").addEventListener("click", () => act("resume"));
  heed(({ job }) => {
    if (job === null) dialog.close();
    else if (!dialog.open || dialog.dataset.id !== job) open(job);
  });
}

async function open(id) {
  watching?.abort();
  watching = new AbortController();
  dialog.dataset.id = id;
  tell("");
  byId("drawer-body").replaceChildren();
  showButtons("");
  write(byId("drawer-title"), "…");
  write(byId("drawer-id"), id);
  if (!dialog.open) dialog.showModal();
  byId("drawer-close").focus(); // the link that led here may be gone
  await follow(id, watching.signal);
}

/** Show the job, wait for its next change, and so on until the drawer closes. */
async function follow(id, signal) {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  let job = null;
  let troubled = false;
  while (!signal.aborted) {
    try {
      const query = job ? `?wait=30&since=${job.version}` : "";
      const next = await get(path + query, { signal });
      if (job === null || next.version !== job.version) await look(path, next, signal);
      job = next;
      if (troubled) tell(""); // it is over
      troubled = false;
    } catch (error) {
      if (signal.aborted) return;
      tell(error.message);
      if (error.status >= 400 && error.status < 500) return; // there is no such job: asking again would not help
      troubled = true;
      await new Promise((resume) => setTimeout(resume, 2000));
    }
  }
}

async function look(path, job, signal) {
  const [why, history, batch] = await Promise.all([
    get(`${path}/explain`, { signal }),
    get(`${path}/history`, { signal }),
    job.batch ? get(`/v1/batches/${encodeURIComponent(job.batch.id)}`, { signal }).catch(() => null) : null,
  ]);
  if (signal.aborted) return; // another job is shown by now
  showButtons(job.status);
  show({ job, reasons: why.reasons, history: history.items, batch });
}

function showButtons(status) {
  byId("drawer-cancel").hidden = !WAITING.has(status);
  byId("drawer-retry").hidden = !AGAIN.has(status);
  byId("drawer-resume").hidden = status !== "awaiting_auth";
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
