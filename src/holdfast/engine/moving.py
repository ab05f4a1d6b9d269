"""Move a queue from one store to another, or back: every job, its history, its figures, its pauses.

One step at a time, each decided anew from what both stores remember, under a lock that another move waits for. So
the same call goes on where a killed one stopped, two at once do no harm, and at every instant at most one of the two
stores gives out jobs:

1. Claims are stopped and runs come to an end. Enqueueing goes on.
2. The source is closed. Whoever uses it is told where its jobs go.
3. All rows are copied and read back, in one transaction of the target. Its commit opens the target.

Failure cases: an error during the copy undoes it and opens the source again. If it cannot be known whether the target
was committed, because it no longer answers, the source stays closed until the same call, or one in the other
direction, has looked.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.ids import new_ids
from holdfast.model.moving import Mark, Step, are_related, moved, next_step
from holdfast.model.stamp import from_text
from holdfast.store.moving import TABLES, Busy, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Tell = Callable[[str, int, int], None]

_LOOK_S = 0.2
_TELL_EVERY = 1_000
_STATUS = 2  # the column of a job's row
_canonical = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Tally(NamedTuple):
    """A table as it was seen: how many rows, a hash over them in the order of their key, jobs by status."""

    rows: int
    sha256: str
    statuses: dict[str, int]


class Moved(NamedTuple):
    """How a move ended: `moved`, `reopened` (its jobs had not left the target), or `already` there."""

    outcome: str
    move: str
    tables: dict[str, Tally]


def move(source: Side, target: Side, *, wait: float, tell: Tell) -> Moved:
    """Bring the queue of the source to the target; waits so many seconds for runs under way."""
    end = monotonic() + wait
    while True:
        last, left = monotonic() > end, 1
        try:
            with _both(source, target):
                marks = source.mark(), target.mark()
                match next_step(*marks):
                    case Step.DONE:
                        return Moved("already", marks[1].filled_by, {})
                    case Step.REOPEN:
                        return _reopened(target, source, marks[1])
                    case Step.COPY:
                        _check_peer(source, target, marks[0])
                        return _carried(source, target, tell)
                    case Step.CLOSE:
                        left = _close(source, target, marks, last=last)
                        tell("runs to wait for", left, left)
                        if not left and target.turn < source.turn:
                            # The target's transaction goes on: an open target is still kept from other writers.
                            source.begin()
                            return _carried(source, target, tell)
        except Busy:
            if last:
                raise
        sleep(_LOOK_S if left else 0)


def undo(source: Side, target: Side, *, wait: float, tell: Tell) -> Moved:
    """Bring back to the source what came from it to the target, as it is now."""
    with _both(source, target):
        there, here = source.mark(), target.mark()
        unfinished = not there.is_open and there.peer == target.shown
        if not unfinished and not are_related(there, here):
            if there.is_open:
                source.resume()  # a move that was cut short while it waited for runs
                source.commit()
            raise StoreError(
                "NOTHING_TO_UNDO", f"the jobs of {target.shown} did not come from {source.shown}; nothing was changed"
            )
    return move(target, source, wait=wait, tell=tell)


def _reopened(closed: Side, other: Side, mark: Mark) -> Moved:
    _check_peer(closed, other, mark)
    closed.reopen()
    closed.commit()
    return Moved("reopened", "", {})


def _close(source: Side, target: Side, marks: tuple[Mark, Mark], *, last: bool) -> int:
    """Close the source if nothing runs; answers how many runs are left."""
    target.keep_still()
    target.check_room(marks[0])  # said before anything is changed
    source.keep_out()
    left = source.leases()
    if left and last:
        source.resume()
        source.commit()
        raise StoreError(
            "RUNS_UNDER_WAY",
            f"{source.shown}: {left} still running; nothing was moved, and claims go on. Stop the workers, or wait "
            "longer with --wait SECONDS",
        )
    if left:
        source.pause()
    else:
        (name,) = new_ids(from_text(source.stamp()), 1)
        source.shut(marks[0]._replace(is_open=False, closed_by=name, peer=target.shown))
    source.commit()
    return left


def _carried(source: Side, target: Side, tell: Tell) -> Moved:
    """The copy; if it fails, the source is open again, or it is told why not."""
    try:
        return _copied(source, target, tell)
    except BaseException as error:
        target.roll_back()
        source.roll_back()
        arrived = _settled(source, target, error)
        if arrived is None:
            raise
        return arrived


def _copied(source: Side, target: Side, tell: Tell) -> Moved:
    mark = source.mark()
    target.make_room(mark)
    source.lend()
    sizes = source.sizes()
    sent: dict[str, Tally] = {}
    for table in TABLES:
        seen = _Seen(tell, f"copying {table}", sizes[table])
        target.fill(table, seen.watch(source.rows(table)))
        sent[table] = seen.tally()
    for table in TABLES:
        seen = _Seen(tell, f"verifying {table}", sizes[table])
        for _ in seen.watch(target.rows(table)):
            pass
        if seen.tally() != sent[table]:
            raise StoreError(
                "MOVE_NOT_VERIFIED",
                f"{table}: {sent[table].rows:,} rows were sent and {seen.tally().rows:,} read back, and they are not "
                "the same; nothing was moved. Please report this",
            )
    target.remember(Mark(is_open=True, filled_by=mark.closed_by, peer=source.shown))
    tell("opening", 0, 1)
    target.commit()
    tell("opening", 1, 1)
    return Moved("moved", mark.closed_by, sent)


def _settled(source: Side, target: Side, error: BaseException) -> Moved | None:
    """After an error: the source is opened again, unless the target has it all."""
    try:
        with _both(source, target):
            marks = source.mark(), target.mark()
            if next_step(*marks) is Step.DONE:
                return Moved("moved", marks[1].filled_by, {})
            if next_step(*marks) is Step.COPY:
                source.reopen()
                source.commit()
    except HoldfastError:
        raise StoreError(
            "MOVE_UNFINISHED",
            f"{error}. {source.shown} stays closed, because it is not known whether the move was made: give the same "
            "command again to go on, or take it back with --undo",
        ) from error
    return None


def _check_peer(closed: Side, other: Side, mark: Mark) -> None:
    """Jobs on the way to one store are not brought to another."""
    if mark.peer != other.shown:
        raise moved(closed.shown, mark.peer)


@contextmanager
def _both(one: Side, other: Side) -> Iterator[None]:
    """A transaction in each; what is not committed is undone."""
    first, second = sorted((one, other), key=lambda side: side.turn)
    try:
        first.begin()
        second.begin()
        yield
    finally:
        second.roll_back()
        first.roll_back()


class _Seen:
    """Counts and hashes the rows that pass."""

    def __init__(self, tell: Tell, what: str, total: int) -> None:
        self._tell, self._what, self._total = tell, what, total
        self._rows = 0
        self._hash = sha256()
        self._statuses: Counter[str] = Counter()

    def watch(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            # One JSON array a line: whoever doubts can repeat it with any tool.
            self._hash.update(f"{_canonical(row)}\n".encode("utf-8", "surrogatepass"))
            if len(row) > 30:  # noqa: PLR2004  # a job: the only table this wide
                self._statuses[row[_STATUS]] += 1
            self._rows += 1
            if self._rows % _TELL_EVERY == 0:
                self._tell(self._what, self._rows, self._total)
            yield row
        self._tell(self._what, self._rows, self._total)

    def tally(self) -> Tally:
        return Tally(self._rows, self._hash.hexdigest(), dict(sorted(self._statuses.items())))
