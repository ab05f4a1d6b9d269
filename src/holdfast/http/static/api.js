// Calls to the server. An error carries the sentence of its problem details.

import { root } from "./dom.js";

const AGAIN_MS = 3000;

export async function get(path, options = {}) {
  return send(path, { headers: { Accept: "application/json" }, ...options });
}

export async function post(path, body = {}) {
  return send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function send(path, options) {
  const response = await reach(path, options);
  const value = await response.json().catch(() => null);
  options.signal?.throwIfAborted(); // half an answer is none
  if (response.ok) return value;
  const error = new Error(value?.detail ?? `the server answered ${response.status}`);
  error.status = response.status;
  throw error;
}

async function reach(path, options) {
  try {
    return await fetch(root + path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("the server does not answer");
  }
}

/** Call `told` with each new picture of the house, and `state` with how the connection is, and why. */
export function listen(told, state) {
  const events = new EventSource(`${root}/v1/events`);
  // An open stream alone shows nothing yet: it is live with its first picture.
  events.addEventListener("error", () => {
    state("lost", "the server does not answer");
    // A browser tries again by itself, but not after a refusal.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => listen(told, state), AGAIN_MS);
  });
  events.addEventListener("trouble", (event) => state("trouble", JSON.parse(event.data).detail));
  events.addEventListener("picture", (event) => {
    state("live", "");
    told(JSON.parse(event.data));
  });
}
