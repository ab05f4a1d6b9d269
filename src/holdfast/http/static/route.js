// What the address says: which jobs are listed, and which one is open. So it can be sent to others, and be reloaded.

const NAMES = ["status", "queue", "type", "group", "tenant", "job"];
const listeners = [];

/** What the address asks for; null: nothing of that name. */
export function wishes() {
  const given = new URLSearchParams(location.hash.slice(1));
  // An empty tenant is one of them; anything else that is empty is as good as missing.
  return Object.fromEntries(NAMES.map((name) => [name, (name === "tenant" ? given.get(name) : given.get(name) || null)]));
}

/** The address that asks for these alone. It begins with "#": whatever the texts are, it leads nowhere else. */
export function address(wanted) {
  const query = new URLSearchParams();
  for (const name of NAMES) if (wanted[name] !== null && wanted[name] !== undefined) query.set(name, wanted[name]);
  return `#${query}`;
}

/** Ask for something else, as a step that the browser's own back button undoes. */
export function go(change) {
  const next = address({ ...wishes(), ...change });
  if (next === address(wishes())) return;
  history.pushState(null, "", next === "#" ? location.pathname + location.search : next);
  tell();
}

/** Call `told` with what the address asks for, now and whenever that changes. */
export function heed(told) {
  listeners.push(told);
  told(wishes());
}

function tell() {
  for (const told of listeners) told(wishes());
}

addEventListener("hashchange", tell); // a link, the back button, or an address that was pasted
