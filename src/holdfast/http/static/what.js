// What is most worth knowing of a job beside its status, in a few words.

import { since, span } from "./dom.js";

const TAIL = 6; // ids made in one minute differ at their end
let paused = new Set(); // queues
let lanes = new Set(); // what live workers draw, by queue and type

/** With each picture: who draws what, and what is paused. */
export function learn(picture) {
  paused = new Set(picture.paused.map((one) => one.name));
  lanes = new Set(picture.workers.flatMap((worker) => worker.lanes.map((lane) => key(lane.queue, lane.type))));
}

const key = (queue, type) => JSON.stringify([queue, type]);

/** Whether a live worker takes jobs of this type from this queue. */
export const isServed = (queue, type) => lanes.has(key(queue, type));

/** Due, and nobody there who would run it: it looks like any other job in line, and waits for ever. */
export const isStranded = (job) => job.status === "queued" && since(job.scheduled_at) >= 0 && !isServed(job.queue, job.type);

/** Never nothing. */
export function describe(job) {
  const state = isStranded(job) ? stranded(job) : standing(job);
  // What tells it from its neighbours comes first: the end may be cut.
  return job.batch ? `${partOf(job.batch)}: ${state} · batch …${job.batch.id.slice(-TAIL)}` : state;
}

/** Which items of its batch a job runs. */
export function partOf({ first, last }) {
  if (first === null) return "some items";
  return first === last ? `item ${first}` : `items ${first} to ${last}`;
}

function standing(job) {
  switch (job.status) {
    case "queued":
      return waiting(job);
    case "in_progress":
      return job.progress?.message ?? `running for ${span(since(job.started_at))}`;
    case "awaiting_auth":
      return job.auth?.reason ?? "someone must act first";
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
  if (paused.has(job.queue)) return "its queue is paused";
  return job.error ? `again: ${job.error.class}` : "in line";
}

function stranded(job) {
  const besides = waiting(job);
  return besides === "in line" ? "no live worker takes it" : `no live worker takes it; ${besides}`;
}
