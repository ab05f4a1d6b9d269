// What an empty house proposes: a job that a live worker takes, if there is one.

import { byId, write } from "./dom.js";

const PLAIN = /^[\w.:-]+$/; // the line is pasted into a shell: a name that could mean something there is not proposed

export function propose(workers) {
  const [call] = byId("command").textContent.split(" -d ");
  const lane = workers.flatMap((worker) => worker.lanes).filter(isOurs).sort(byType)[0];
  const job = lane ? jobOf(lane) : { type: "hello", payload: { name: "world" } };
  write(byId("command"), `${call} -d '${JSON.stringify(job)}'`);
  write(byId("command-note"), lane
    ? `A live worker takes ${lane.type}. Put into the payload what its handler takes.`
    : "No live worker takes this type: the job will wait for one.");
}

/** Holdfast's own types are not for people. */
const isOurs = ({ queue, type }) => PLAIN.test(queue) && PLAIN.test(type) && !type.startsWith("holdfast");

const byType = (a, b) => (a.type < b.type ? -1 : 1);

function jobOf({ queue, type }) {
  return queue === "default" ? { type, payload: {} } : { type, queue, payload: {} };
}
