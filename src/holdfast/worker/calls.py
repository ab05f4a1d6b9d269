"""The part of a worker's loop that gathers jobs for handlers which take many at a time."""

from __future__ import annotations

import contextvars
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.model.failure import failure_of
from holdfast.model.outcome import Outcome, Raised, Unstarted
from holdfast.worker import slots as slot_words
from holdfast.worker.together import Call, Member, Together, run_together

if TYPE_CHECKING:
    from holdfast.engine.registry import Definition
    from holdfast.model.lease import Claim
    from holdfast.worker.worker import Worker


def gather(worker: Worker, claim: Claim, definition: Definition, pool: Together, now: float) -> None:
    """Begin a call with what is ready of a type, or let it wait a moment for more."""
    call = pool.open
    if call is not None and call.definition is definition:
        _add(worker, call, claim, now)
    else:
        call = Call(definition, pool, now)
        pool.running += 1
        _add(worker, call, claim, now)
    for _ in range(len(pool.ready)):
        if not call.missing or not worker.slots.free:
            break
        other, came = pool.ready.popleft()
        if other.type == claim.type and now - came <= pool.patience:
            _add(worker, call, other, now)
        else:
            pool.ready.append((other, came))
    if not call.missing or not definition.batch_wait or pool.open not in (None, call):
        _start(worker, call)
    elif pool.open is None:
        pool.open = call
        worker.loop.call_later(min(definition.batch_wait, pool.patience / 2), _start, worker, call)


def _add(worker: Worker, call: Call, claim: Claim, now: float) -> None:
    timeout_ms = claim.timeout_ms or call.definition.policy.timeout_ms
    run = Member(call, worker.slots, claim, call.definition, worker.desk, call.pool, since=now, timeout_ms=timeout_ms)
    run.slot = worker.slots.take(claim.id, claim.token, int(now * 1000), timeout_ms or 0)
    call.members.append(run)
    worker.begun(run)


def _start(worker: Worker, call: Call) -> None:
    if call.started:
        return
    call.started = True
    if call.pool.open is call:
        call.pool.open = None
        worker.look()  # there may be room for another
    call.task = worker.loop.create_task(_run(worker, call), context=contextvars.Context())


async def _run(worker: Worker, call: Call) -> None:
    late = monotonic() - call.since > call.pool.patience  # the supervisor may have handed them back
    outcomes: list[Outcome]
    if late:
        outcomes = [Unstarted()] * len(call.members)
    else:
        for member in call.members:
            worker.slots.enter(member.slot, slot_words.RUNNING)
        try:
            outcomes = await run_together(call.members, worker.executor)
        except BaseException as error:  # noqa: BLE001  # a cancellation that we did not ask for is the handler's own
            outcomes = [Raised(failure_of(error))] * len(call.members)
    worker.end_call(call.members, outcomes)
