"""Runs a chunk of a batch: the handler is called for one item after the other.

How items ended is stored in groups, under the chunk's token; a run that begins anew skips what is stored. An item that
raises becomes a job of its own, so it never takes its chunk along. Nor does one that kills or blocks its process: a
chunk that crashed or overran hands its rest out as jobs of their own, which then run, fail and crash each for itself.

Failure cases: the lease is lost (nothing more is stored, and the run stops); the worker stops (the chunk ends between
two items and is handed back); the store is away (the run waits for it).
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import random
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from holdfast.engine import batches
from holdfast.model.batch import DONE, FAILED, OWN, ItemEnd
from holdfast.model.decide import decide
from holdfast.model.errors import BadInput, StoreError
from holdfast.model.failure import timed_out
from holdfast.model.outcome import Outcome, Raised, Returned, Stopped
from holdfast.model.status import TERMINAL, Status
from holdfast.worker.context import JobContext
from holdfast.worker.runner import Run, call_function, run_coroutine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.desk import Desk
    from holdfast.engine.registry import Definition
    from holdfast.model.lease import Claim
    from holdfast.worker.transaction import EndingBlock

MOST_UNSTORED = 50  # items
LONGEST_UNSTORED = 0.5  # seconds
SLOW = 0.05  # seconds: after an item that took longer, nothing is kept back
_PAUSE = 0.2  # before the store is tried again
_FOR_GOOD = frozenset({"STORE_REFUSED", "STORE_CLOSED"})  # trying again would not help


def is_chunk(claim: Claim) -> bool:
    """Whether a job is a chunk of a batch."""
    return claim.batch is not None and claim.item is None


def new_run(claim: Claim, definition: Definition, desk: Desk, pool: Any = None, **more: Any) -> Run:
    """A run of a job, or of a chunk."""
    return (ChunkRun if is_chunk(claim) else Run)(claim, definition, desk, pool, **more)


class ChunkRun(Run):
    """A run whose time-out begins anew with each item."""

    __slots__ = ("_asked", "_began", "_leaving", "current", "item_ms")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._began = self.since
        self.current: Run | None = None
        self._leaving = self._asked = False
        self.item_ms = self.claim.timeout_ms or self.definition.policy.timeout_ms
        if self.definition.is_coroutine:
            self.timeout_ms = None  # each item has a clock of its own

    @property
    def ends_early(self) -> bool:
        """Whether no further item should begin."""
        return self._leaving or self._asked or self.lost

    def leave(self) -> None:
        self._leaving = True

    def ask_to_stop(self) -> None:
        self._asked = True
        if self.current is not None:
            self.current.ask_to_stop()

    def begin(self, item: Run) -> None:
        """The next item begins."""
        self.current = item
        self.restart()

    def restart(self) -> None:
        """Nothing that came before counts for the time-out."""
        self.since = monotonic()
        if self.slots is not None and self.slot >= 0:
            self.slots.restart(self.slot, int(self.since * 1000))

    def over(self) -> None:
        """The last item has ended: nothing can overrun any more, and the run is as long as all of them."""
        self.current = self.timeout_ms = None
        self.since = self._began

    def heeded(self) -> Outcome | None:
        """The time-out that was declared while an item ran in a thread: it is the item's, and not the chunk's."""
        if not isinstance(self.verdict, Raised):
            return None
        self.restart()  # first: else the same time-out would be declared once more, for the next item
        verdict, self.verdict, self.stopping_since, self._asked = self.verdict, None, None, False
        return verdict


class _ItemRun(Run):
    """The run of one item."""

    __slots__ = ()

    def new_context(self) -> JobContext:
        return _ItemContext(self.claim, self.desk, self.enter)


class _ItemContext(JobContext):
    """What an item's handler sees. The progress of a chunk counts its items, so theirs is not shown."""

    def transaction(self) -> EndingBlock:
        """Its chunk's lease is that of all its items: none of them may end the run."""
        raise BadInput("BAD_OPTION", "an item of a chunk cannot end its run in a transaction: map with chunk=1")

    def _show(self, *, final: bool) -> None:
        del final


class _Chunk:
    """What is known of a chunk while it runs."""

    def __init__(self, run: ChunkRun, items: list[tuple[int, Any]], stored: dict[int, tuple[str, str]]) -> None:
        self.run = run
        self.left = [(number, payload) for number, payload in items if number not in stored]
        self.left.reverse()
        self.total = len(items)
        self.counts = {DONE: 0, FAILED: 0, OWN: 0}
        for status, job_id in stored.values():
            self.counts[OWN if job_id != run.claim.id else DONE if status == DONE else FAILED] += 1
        self.ends: list[ItemEnd] = []
        self._stored_at = monotonic()
        self._took = 0.0
        if run.claim.failed or run.claim.crashed:
            self._split()

    def items(self) -> Iterator[Run]:
        """The items to run, as long as nobody wants the run to stop."""
        claim = self.run.claim._replace(attempts=1, failed=0, crashed=0)
        while self.left and not self.run.ends_early:
            number, payload = self.left.pop()
            item = _ItemRun(claim._replace(item=number, payload=_text(payload)), self.run.definition, self.run.desk)
            self.run.begin(item)
            yield item

    def end(self, item: Run, outcome: Outcome) -> None:
        """An item has ended. What comes before the next one begins is nobody's time."""
        self._took = monotonic() - self.run.since
        self.run.restart()
        policy = self.run.definition.policy
        move = decide(item.claim, outcome, policy, spread=random.random())
        number = item.claim.item
        assert number is not None, "an item has a number"
        if move.status is Status.COMPLETED:
            asked = outcome.follow_ups if isinstance(outcome, Returned) else ()
            end = ItemEnd(number, DONE, move.result, follow_ups=asked)
        elif move.status in TERMINAL:
            end = ItemEnd(number, FAILED, error=move.error)
        else:
            payload, attempts = item.claim.payload, 1 - move.give_back
            end = ItemEnd(number, OWN, None, move.error, payload, move.wait_ms or 0, attempts, move.failed)
        self._add(end)

    def is_due(self) -> bool:
        """Whether what has ended should be stored now."""
        since = monotonic() - self._stored_at
        return len(self.ends) >= MOST_UNSTORED or since >= LONGEST_UNSTORED or self._took >= SLOW

    def group(self) -> tuple[Claim, list[ItemEnd], str]:
        """What is to be stored."""
        ended = sum(self.counts.values())
        shown = {"done": ended, "total": self.total, "message": "", "items": self.counts}
        return self.run.claim, self.ends, json.dumps(shown)

    def stored(self) -> None:
        """It was."""
        self.ends = []
        self._stored_at = monotonic()

    def outcome(self) -> Outcome:
        """How the chunk itself ended."""
        self.run.over()
        return Stopped() if self.left else Returned(json.dumps({"items": self.total, **self.counts}))

    def _split(self) -> None:
        """Something in here ended a process, or would not end: from now on each item is on its own."""
        for number, payload in reversed(self.left):
            self._add(ItemEnd(number, OWN, payload=_text(payload)))
        self.left = []

    def _add(self, end: ItemEnd) -> None:
        self.counts[end.status] += 1
        self.ends.append(end)


async def run_chunk(run: ChunkRun) -> Outcome:
    """Run the items of a chunk whose handler is a coroutine."""
    items = _items(run)
    stored = None
    while stored is None:
        stored = await _aread(run, items)
    chunk = _Chunk(run, items, stored)
    try:
        for item in chunk.items():
            chunk.end(item, await _timed(item, run.item_ms))
            if chunk.is_due() and not await _astore(chunk):
                return Stopped()
    except asyncio.CancelledError:
        if not run.lost:
            await _astore(chunk)  # the items that ended need not run again
        run.over()
        raise
    return chunk.outcome() if await _astore(chunk) else Stopped()


def call_chunk(run: ChunkRun) -> Outcome:
    """Run the items of a chunk whose handler is a plain function, here and now."""
    items = _items(run)
    stored = None
    while stored is None:
        stored = _read(run, items)
    chunk = _Chunk(run, items, stored)
    for item in chunk.items():
        outcome = contextvars.Context().run(call_function, item)
        chunk.end(item, run.heeded() or outcome)
        if chunk.is_due() and not _store(chunk):
            return Stopped()
    return chunk.outcome() if _store(chunk) else Stopped()


async def _timed(item: Run, timeout_ms: int | None) -> Outcome:
    try:
        async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
            return await run_coroutine(item)
    except TimeoutError as error:
        return Raised(timed_out(timeout_ms or 0, error.__cause__))


async def _aread(run: Run, items: list[tuple[int, Any]]) -> dict[int, tuple[str, str]] | None:
    """What is stored of its items; None while the store is away."""
    try:
        return await run.desk.aread(batches.stored_items, *_place(run, items))
    except StoreError as error:
        _give_up(error)
        await asyncio.sleep(_PAUSE)
    return None


def _read(run: Run, items: list[tuple[int, Any]]) -> dict[int, tuple[str, str]] | None:
    try:
        return run.desk.read(batches.stored_items, *_place(run, items))
    except StoreError as error:
        _give_up(error)
        sleep(_PAUSE)
    return None


async def _astore(chunk: _Chunk) -> bool:
    while chunk.ends:
        try:
            if not await chunk.run.desk.awrite(batches.store_items, *chunk.group()):
                return False
            chunk.stored()
        except StoreError as error:
            _give_up(error)
            await asyncio.sleep(_PAUSE)
            chunk.run.restart()
    return True


def _store(chunk: _Chunk) -> bool:
    while chunk.ends:
        try:
            if not chunk.run.desk.write(batches.store_items, *chunk.group()):
                return False
            chunk.stored()
        except StoreError as error:
            _give_up(error)
            sleep(_PAUSE)
            chunk.run.restart()
    return True


def _give_up(error: StoreError) -> None:
    if error.code in _FOR_GOOD:
        raise error


def _items(run: Run) -> list[tuple[int, Any]]:
    items: list[tuple[int, Any]] = json.loads(run.claim.payload)["items"]
    return items


def _place(run: Run, items: list[tuple[int, Any]]) -> tuple[str, int, int]:
    return str(run.claim.batch), items[0][0], items[-1][0]


def _text(payload: Any) -> str:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
