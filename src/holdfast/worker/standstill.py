"""Tells of an event loop that stands still, while it does.

A coroutine that blocks (`time.sleep`, long computing) holds up every other job of its process, and that process can
say so only afterwards. Who looks on from outside sees it at once: the loop's beat in the slot map grows old. The map
does not show which run is at work, so each is named that may be: coroutines, the newest first; if there are none, plain
functions, of which one may keep the interpreter to itself.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.worker.slots import RUNNING

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction
    from holdfast.worker.slots import SlotMap, Started

log = logging.getLogger("holdfast.worker")

LONG = 1.5  # seconds without a beat
SELDOM = 60.0  # seconds between two words on the same types
_MOST_NAMED = 3
_LOOP = (
    'make the handler a plain function, which gets a thread, or give it isolation="process", or await what it waits for'
)
_INTERPRETER = 'a call into C that keeps the interpreter to itself needs isolation="process"'


class Standstill:
    """What was told of one process."""

    def __init__(self, owner: str, slots: SlotMap) -> None:
        self._owner = owner
        self._slots = slots
        self._said = float("-inf")
        self._types: frozenset[str] = frozenset()

    def look(self, runs: Collection[Started], now: float, desk: Desk, coroutines: Collection[str]) -> None:
        """Tell of a standstill, once; `coroutines` are the types that run on the loop."""
        entered = {(run.id, run.token): run.since for run in runs if run.phase == RUNNING}
        beat = self._slots.beaten() or min(entered.values(), default=0)  # the very first run may block before any beat
        still = now - beat / 1000
        if not entered or still <= LONG or self._slots.told() == beat:
            return
        held = desk.read(_types_held, self._owner)
        newest = sorted((key for key in entered if key in held), key=lambda key: -entered[key])
        on_loop = [key for key in newest if held[key] in coroutines]
        blamed = on_loop or newest
        if not blamed:
            return
        self._slots.tell(beat)  # else it would tell afterwards, too
        types = frozenset(held[key] for key in blamed)
        if types <= self._types and now - self._said < SELDOM:
            return
        self._said, self._types = now, types
        named = [f"{key[0]} ({held[key]})" for key in blamed]
        what, first = "block it" if on_loop else "hold it up", blamed[0]
        log.warning(
            "the event loop of %s stands still for %.1f s now, and no other job of its process goes on: does %s %s? %s",
            self._owner.rpartition("/")[2], still, _one_of(named), what, _LOOP if on_loop else _INTERPRETER,
            extra={"event": "standstill", "job_id": first[0], "job_type": held[first], "worker_id": self._owner},
        )  # fmt: skip


def _types_held(tx: Transaction, owner: str) -> dict[tuple[str, int], str]:
    return {(claim.id, claim.token): claim.type for claim in tx.held_by(owner)}


def _one_of(named: list[str]) -> str:
    more = len(named) - _MOST_NAMED
    if more > 0:
        named = [*named[:_MOST_NAMED], f"one of {more} more"]
    return f"job {', '.join(named[:-1])}{' or ' if named[1:] else ''}{named[-1]}"
