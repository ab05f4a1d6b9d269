"""Cancel a group, by scope and mode; and one job, with a wait for its handler.

A group may have a million jobs, so this takes many short transactions: these verbs are given a desk. First it is said
of the group as a whole, then a walk does it to what is there, part by part; others write in between. Whoever is stopped
in the middle calls again, and nothing is done twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from holdfast.engine import jobs
from holdfast.engine.pauses import patiently
from holdfast.model.errors import BadInput
from holdfast.model.request import check_name, shown
from holdfast.model.status import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

PART = 1_000  # jobs in one transaction
FULL_SECONDS = 0.5  # that `full` gives to handlers
LONGEST_WAIT = 30.0
_LOOK_EVERY = 0.025


class Cancel:
    """A cancel of a group: `begin` does it, then `still_running` tells how many handlers are yet to stop."""

    def __init__(
        self,
        desk: Desk,
        key: str,
        *,
        tenant: str = "",
        mode: str = "immediate",
        types: Sequence[str] | None = None,
        wait: float = 0.0,
        actor: str | None = None,
    ) -> None:
        self._desk = desk
        self._group = (tenant, check_name("group", key))
        self._mode = mode
        self._types = _check_types(types)
        self._actor = actor
        self.patience = _check_wait(mode, wait)
        self._by_type: dict[str, Counter[str]] = {}
        self._left_alone: Counter[str] = Counter()
        self._runs: list[str] = []

    def begin(self) -> None:
        """Say it, then walk."""
        tenant, key = self._group
        patiently(
            lambda: self._desk.write(_note_cancel, tenant, key, types=self._types, mode=self._mode, by=self._actor)
        )
        after: str | None = ""
        while after is not None:
            rows, after = self._desk.read(_open_part, tenant, key, after)
            wanted = [job_id for job_id, kind in rows if self._types is None or kind in self._types]
            self._left_alone.update(kind for _, kind in rows if self._types is not None and kind not in self._types)
            if wanted:
                self._count(self._desk.write(_cancel_part, wanted, graceful=self._graceful, actor=self._actor))

    def still_running(self, tx: Transaction) -> int:
        """How many handlers have not stopped."""
        if not self._runs:
            return 0
        if self._graceful:
            return sum(status == Status.IN_PROGRESS for _, status in tx.versions(self._runs).values())
        return len(tx.still_running(self._runs))

    def answer(self, still_running: int) -> dict[str, Any]:
        """What was done, by type and by the status that was left."""
        tenant, key = self._group
        left: Counter[str] = sum(self._by_type.values(), Counter())
        asked = left[Status.IN_PROGRESS] if self._graceful else 0
        return {
            "key": key,
            "tenant": tenant,
            "mode": self._mode,
            "cancelled": left.total() - asked,
            "asked": asked,
            "by_status": {str(status): count for status, count in sorted(left.items())},
            "by_type": {
                kind: {str(status): count for status, count in sorted(counts.items())}
                for kind, counts in sorted(self._by_type.items())
            },
            "left_alone": dict(sorted(self._left_alone.items())),
            "still_running": still_running,
        }

    @property
    def _graceful(self) -> bool:
        return self._mode == "graceful"

    def _count(self, changed: list[tuple[str, str, str]]) -> None:
        for job_id, kind, left in changed:
            self._by_type.setdefault(kind, Counter())[left] += 1
            if left == Status.IN_PROGRESS:
                self._runs.append(job_id)


def cancel(desk: Desk, key: str, **asked: Any) -> dict[str, Any]:
    """Stop the jobs of a group: all of them, or those of some types.

    `graceful` lets runs that have begun complete, and waits for them for at most `wait` seconds; `immediate` ends them
    now and stops their handlers; `full` also waits half a second until these have stopped.
    """
    order = Cancel(desk, key, **asked)
    order.begin()
    return order.answer(_drained(desk, order.still_running, order.patience))


async def acancel(desk: Desk, key: str, **asked: Any) -> dict[str, Any]:
    """The same from a coroutine; the waiting takes no thread."""
    order = Cancel(desk, key, **asked)
    await asyncio.to_thread(order.begin)
    return order.answer(await _adrained(desk, order.still_running, order.patience))


def cancel_job(desk: Desk, job_id: str, *, mode: str = "immediate", **more: Any) -> dict[str, Any]:
    """Stop one job; with `full`, wait half a second until its handler has stopped, and tell whether it has."""
    answer = desk.write(jobs.cancel, job_id, mode=mode, **more)
    if mode != "full":
        return answer
    return answer | {"still_running": _drained(desk, _handlers_of(job_id), FULL_SECONDS)}


async def acancel_job(desk: Desk, job_id: str, *, mode: str = "immediate", **more: Any) -> dict[str, Any]:
    """The same from a coroutine."""
    answer = await desk.awrite(jobs.cancel, job_id, mode=mode, **more)
    if mode != "full":
        return answer
    return answer | {"still_running": await _adrained(desk, _handlers_of(job_id), FULL_SECONDS)}


def _drained(desk: Desk, still_running: Callable[[Transaction], int], patience: float) -> int:
    """Wait until nothing runs any more; answers what does when the time is over."""
    left = 0
    for pause in _looks(patience):
        left = desk.read(still_running)
        if not left:
            break
        sleep(pause)
    return left


async def _adrained(desk: Desk, still_running: Callable[[Transaction], int], patience: float) -> int:
    left = 0
    for pause in _looks(patience):
        left = await desk.aread(still_running)
        if not left:
            break
        await asyncio.sleep(pause)
    return left


def _looks(patience: float) -> Iterator[float]:
    """How long to rest after each look; the last one comes when the time is over."""
    end = monotonic() + patience
    while (left := end - monotonic()) > 0:
        yield min(left, max(_LOOK_EVERY, (patience - left) / 10))
    yield 0.0


def _handlers_of(job_id: str) -> Callable[[Transaction], int]:
    return lambda tx: len(tx.still_running([job_id]))


def _note_cancel(tx: Transaction, /, tenant: str, key: str, **mark: Any) -> None:
    tx.cancel_note(tenant, key, **mark)


def _open_part(tx: Transaction, tenant: str, key: str, after: str) -> tuple[list[tuple[str, str]], str | None]:
    return tx.group_open(tenant, key, after=after, window=PART)


def _cancel_part(
    tx: Transaction, ids: Sequence[str], *, graceful: bool, actor: str | None
) -> list[tuple[str, str, str]]:
    return tx.cancel_many(ids, graceful=graceful, error=jobs.CANCELLED, actor=actor)


def _check_types(types: object) -> tuple[str, ...] | None:
    if types is None:
        return None
    if isinstance(types, str) or not hasattr(types, "__iter__"):
        raise BadInput("BAD_OPTION", f'types is a list, as in types=["mail"], not {shown(types)}')
    named = tuple(check_name("a type", kind) for kind in types)
    if not named:
        raise BadInput("BAD_OPTION", "types names none: leave it out to cancel all")
    return named


def _check_wait(mode: object, wait: object) -> float:
    if mode not in jobs.MODES:
        raise BadInput("BAD_OPTION", f"mode is immediate, graceful or full, not {shown(mode)}")
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait <= LONGEST_WAIT:
        raise BadInput("BAD_OPTION", f"wait is a number of seconds up to {LONGEST_WAIT:g}, not {shown(wait)}")
    if wait and mode != "graceful":
        raise BadInput("BAD_OPTION", f"wait goes with mode graceful; {mode} does not wait for runs to complete")
    return FULL_SECONDS if mode == "full" else float(wait)
