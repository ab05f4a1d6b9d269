// Calls to the server. An error carries the sentence of its problem details.

import { root } from "./dom.js";

export async function get(path, options = {}) {
  return answer(await fetch(root + path, { headers: { Accept: "application/json" }, ...options }));
}

export async function post(path, body = {}) {
  return answer(
    await fetch(root + path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
}

async function answer(response) {
  const value = await response.json().catch(() => null);
  if (response.ok) return value;
  const error = new Error(value?.detail ?? `the server answered ${response.status}`);
  error.code = value?.code;
  throw error;
}

/** Call `told` with each new picture of the house, and `state` with how the connection is. */
export function listen(told, state) {
  const events = new EventSource(`${root}/v1/events`);
  // An open stream alone shows nothing yet: it is live with its first picture.
  events.addEventListener("error", () => state("lost"));
  events.addEventListener("trouble", () => state("trouble"));
  events.addEventListener("picture", (event) => {
    state("live");
    told(JSON.parse(event.data));
  });
}
