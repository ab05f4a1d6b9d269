"""The verbs for schedules: made by the code or at run time, looked at, changed, and ticked.

A tick is dealt with in one transaction: its jobs are stored and the schedule moves on, or neither. Any number of
processes may tick at once. Each holds the schedule's row, and a tick's job has a key of its own, so that none is made
twice, even after a clock was set back. A process that dies leaves the tick to the next one that looks.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.model.errors import BadInput, Conflict, NotFound
from holdfast.model.ids import new_ids
from holdfast.model.schedule import Plan, Schedule, check_schedule_name, key_by_hand, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

log = logging.getLogger("holdfast.schedules")

LONGEST_REST = 30.0  # a change that was not heard of is seen after so many seconds
_CODE = "code"


def declare(tx: Transaction, plans: Mapping[str, Plan], since: Mapping[str, int | None] | None = None) -> int:
    """Store what the code says; answers how many schedules that changed. What a person changed stays in force."""
    return sum(_declare(tx, name, plan, (since or {}).get(name)) for name, plan in sorted(plans.items()))


def add(tx: Transaction, name: str, plan: Plan, *, by: str) -> tuple[Schedule, bool]:
    """Make a schedule at run time, or change one; answers whether it is new. It beats the code until `reset`."""
    row = tx.hold_schedule(check_schedule_name(name))
    if row is None:
        row = _new(name, plan, None, by, plan.next_after(tx.now))
        if tx.add_schedule(row):
            return row, True
        row = _held(tx, name, removed_too=True)  # another process was faster
    change = replace(
        row, plan=plan, source="runtime", removed=False, updated_by=by, next_tick=_following(tx, row, plan)
    )
    return _changed(tx, change), row.removed


def schedules(tx: Transaction) -> list[Schedule]:
    """Every schedule by name, those too that a person removed although the code has them."""
    return tx.schedules()


def get(tx: Transaction, name: str) -> Schedule:
    """One schedule, as it is now."""
    found = tx.schedules(check_schedule_name(name))
    if not found:
        raise NotFound("SCHEDULE_NOT_FOUND", f"no schedule {name!a:.60}: `holdfast schedules` lists them")
    return found[0]


def pause(tx: Transaction, name: str, *, by: str) -> tuple[Schedule, bool]:
    """Let no tick make a job; answers whether that is new. Jobs that were made go on."""
    row = _held(tx, name)
    if row.paused_at is not None:
        return row, False
    return _changed(tx, replace(row, paused_at=stamp.to_text(tx.now), paused_by=by, updated_by=by)), True


def resume(tx: Transaction, name: str, *, by: str) -> tuple[Schedule, bool]:
    """Let ticks make jobs again, from the next one on; answers whether that is new."""
    row = _held(tx, name)
    if row.paused_at is None:
        return row, False
    following = row.plan.next_after(tx.now)
    return _changed(tx, replace(row, paused_at=None, paused_by=None, updated_by=by, next_tick=following)), True


def trigger(tx: Transaction, name: str) -> str:
    """Make its job now, beside its ticks; answers the job's id. Works while it is paused, too."""
    row = _held(tx, name)
    (mark,) = new_ids(tx.now, 1)
    job = row.plan.new_job(key_by_hand(name, mark), tx.now)
    ((job_id, _),) = tx.insert([job])
    if not _runs_still(tx, row):
        _changed(tx, replace(row, last_job=job_id), tell=False)
    return job_id


def remove(tx: Transaction, name: str, *, by: str) -> Schedule:
    """Make no more jobs. One that the code has stays on record, so that the next start does not bring it back."""
    row = _held(tx, name)
    if row.code is None:
        tx.drop_schedule(name)
        return replace(row, removed=True)
    return _changed(tx, replace(row, removed=True, source="runtime", updated_by=by))


def reset(tx: Transaction, name: str, *, by: str) -> Schedule:
    """Take back what was changed at run time: pauses, removals, other times."""
    row = _held(tx, name, removed_too=True)
    if row.code is None:
        raise Conflict(
            "NOT_IN_CODE", f"schedule {name!a:.60} was made at run time, not by the code: change or remove it"
        )
    change = replace(
        row,
        plan=row.code,
        source=_CODE,
        removed=False,
        paused_at=None,
        paused_by=None,
        updated_by=by,
        next_tick=row.code.next_after(tx.now),
    )
    return _changed(tx, change)


def tick(tx: Transaction, name: str) -> dict[str, int]:
    """Deal with the ticks of one schedule that have come; answers how many were fired, skipped and missed."""
    row = tx.hold_schedule(name)
    if row is None or row.idle or row.next_tick is None:
        return {}
    if row.last_tick is not None and row.last_tick > tx.now:
        # The clock was set back: the times it shows again are looked at again, and their keys tell what was done.
        _changed(tx, replace(row, last_tick=tx.now, next_tick=row.plan.next_after(tx.now)))
        return {"set_back": 1}
    if row.next_tick > tx.now:
        return {}  # another process was faster
    due = row.plan.due(row.next_tick, tx.now)
    fresh = [at for at in due.ticks if not tx.has_key(row.plan.tenant, key_of(name, at))]
    note, skipped = row.note, 0
    if fresh and row.plan.overlap == "skip" and _runs_still(tx, row):
        skipped, note = len(fresh), f"skipped {stamp.to_text(fresh[-1])}: job {row.last_job} had not ended"
        fresh = []
    made = tx.insert([row.plan.new_job(key_of(name, at), at) for at in fresh]) if fresh else []
    if due.missed:
        note = f"missed {due.missed} up to {stamp.to_text(due.last)}: nobody was there"
    change = replace(
        row,
        last_tick=due.last,
        next_tick=due.following,
        last_job=made[-1][0] if made else row.last_job,
        fired=row.fired + len(made),
        skipped=row.skipped + skipped,
        missed=row.missed + due.missed,
        note=note,
    )
    _changed(tx, change, tell=False)
    return {"fired": len(made), "skipped": skipped, "missed": due.missed}


def tick_due(tx: Transaction) -> tuple[dict[str, int], float]:
    """Deal with every tick that has come; answers the counts, and in how many seconds to come again."""
    names, rest = _look(tx)
    if not names:
        return {}, rest
    counts: dict[str, int] = {}
    for name in sorted(names):  # one order for all: two processes cannot wait for each other
        for what, number in _ticked(tx, name).items():
            counts[what] = counts.get(what, 0) + number
    names, rest = _look(tx)
    return counts, 0.0 if names and "failed" not in counts else rest


def tick_all(desk: Desk) -> tuple[dict[str, int], float]:
    """The same in a transaction of its own, which only reads while no tick has come."""
    names, rest = desk.read(_look)
    return desk.write(tick_due) if names else ({}, rest)


def _look(tx: Transaction) -> tuple[list[str], float]:
    names, following = tx.due_schedules()
    return names, LONGEST_REST if following is None else min(LONGEST_REST, (following - tx.now) / 1000)


def _ticked(tx: Transaction, name: str) -> dict[str, int]:
    """One that cannot be ticked does not keep the others from it: when it comes is worked out before it writes."""
    try:
        return tick(tx, name)
    except BadInput as error:
        log.error("schedule %s was not ticked: %s", name, error)  # noqa: TRY400  # its message says it all
        return {"failed": 1}


def _declare(tx: Transaction, name: str, plan: Plan, since: int | None) -> bool:
    row = tx.hold_schedule(name)
    if row is None:
        following = plan.next_after(tx.now if since is None else since)
        return tx.add_schedule(_new(name, plan, plan, _CODE, following))
    if row.code == plan:
        return False
    if row.source != _CODE:
        _changed(tx, replace(row, code=plan), tell=False)
        return False
    _changed(tx, replace(row, plan=plan, code=plan, updated_by=_CODE, next_tick=_following(tx, row, plan)))
    return True


def _following(tx: Transaction, row: Schedule, plan: Plan) -> int | None:
    """The tick to go on from under a new plan: the old one where its times are the same, so that none is lost."""
    return row.next_tick if row.plan.same_times(plan) and not row.removed else plan.next_after(tx.now)


def _held(tx: Transaction, name: str, *, removed_too: bool = False) -> Schedule:
    get(tx, name)
    row = tx.hold_schedule(name)
    if row is None or (row.removed and not removed_too):
        raise NotFound(
            "SCHEDULE_NOT_FOUND",
            f"schedule {name!a:.60} was removed: `holdfast schedule reset` brings back what the code has",
        )
    return row


def _runs_still(tx: Transaction, row: Schedule) -> bool:
    job = None if row.last_job is None else tx.get(row.last_job)
    return job is not None and not job.ended


def _changed(tx: Transaction, row: Schedule, *, tell: bool = True) -> Schedule:
    kept = tx.change_schedule(row, tell=tell)
    assert kept, "whoever changes a schedule holds its row"
    return replace(row, version=row.version + 1, updated_at=stamp.to_text(tx.now))


def _new(name: str, plan: Plan, code: Plan | None, by: str, following: int | None) -> Schedule:
    return Schedule(
        name=name,
        plan=plan,
        code=code,
        source="runtime" if code is None else _CODE,
        paused_at=None,
        paused_by=None,
        removed=False,
        last_tick=None,
        next_tick=following,
        last_job=None,
        fired=0,
        skipped=0,
        missed=0,
        note="",
        updated_at="",
        updated_by=by,
        version=1,
    )
