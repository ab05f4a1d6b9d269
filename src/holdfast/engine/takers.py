"""Who could take a job, in words.

A worker tells the queues it draws from and the types it knows, each with each. It does not tell which queue a type's
own handler names, so no queue is called the right one here: what is spelt alike is asked about, the rest is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.engine.over_limit import Reason
from holdfast.model.spelling import nearest
from holdfast.store.port import ALIVE_MS

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

_SHOWN = 3


def nobody_takes(tx: Transaction, job: Job) -> list[Reason]:
    """Why no worker that lives would take the job; empty if one would."""
    workers = tx.workers(tx.now - ALIVE_MS)
    lanes = [lane for worker in workers for lane in worker["lanes"]]
    if not workers:
        return [Reason("NO_WORKER", "no worker has been heard of lately: start one with `holdfast worker MODULE:APP`")]
    drawn = {queue for queue, _, _ in lanes}
    theirs = sorted({queue for queue, kind, _ in lanes if kind == job.type})
    reasons = [] if theirs else [_unknown(job, {kind for _, kind, _ in lanes})]
    if job.queue not in drawn:
        return [*reasons, _undrawn(job, theirs)]
    if theirs and job.queue not in theirs:
        reasons.append(_apart(job, theirs))
    known = sorted({version for queue, kind, version in lanes if (queue, kind) == (job.queue, job.type)})
    if known and job.payload_version not in known:
        text = f"workers know version {known[-1]} of its payload, not {job.payload_version}"
        reasons.append(Reason("UNKNOWN_VERSION", text))
    return reasons


def _unknown(job: Job, known: set[str]) -> Reason:
    near = nearest(job.type, known)
    meant = f"was {near!r} meant? then {_anew(job)}" if near else "is it spelt right?"
    return Reason("UNKNOWN_TYPE", f"no live worker knows the type {job.type!r}: {meant}")


def _undrawn(job: Job, theirs: list[str]) -> Reason:
    near = nearest(job.queue, theirs)
    if near:
        text = f"was {near!r} meant? then {_anew(job)} there; else add {job.queue!r} to the --queues of a worker"
    else:
        others = f" (those that know its type draw from {_named(theirs)})" if theirs else ""
        text = f"add it to the --queues of a worker{others}; if the queue is a slip, {_anew(job)}"
    return Reason("NO_WORKER_FOR_QUEUE", f"no worker draws from queue {job.queue!r}: {text}")


def _apart(job: Job, theirs: list[str]) -> Reason:
    text = f"those that know it draw from {_named(theirs)}: add {job.queue!r} to their --queues, or {_anew(job)} there"
    return Reason("UNKNOWN_TYPE", f"no worker of its queue knows the type {job.type!r}; {text}")


def _anew(job: Job) -> str:
    return f"`holdfast job cancel {job.id}` and enqueue it anew"


def _named(queues: list[str]) -> str:
    more = f" and {len(queues) - _SHOWN} more" if len(queues) > _SHOWN else ""
    return f"queue{'s' * (len(queues) > 1)} {', '.join(map(repr, queues[:_SHOWN]))}{more}"
