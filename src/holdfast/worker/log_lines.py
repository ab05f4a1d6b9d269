"""What a worker says in its log of runs, and of a loop that stood still. Never a payload."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.model.outcome import Raised
from holdfast.model.status import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.model.decide import Move
    from holdfast.worker.runner import Run
    from holdfast.worker.slots import SlotMap

log = logging.getLogger("holdfast.worker")

LONG = 1.0  # seconds in which a loop should have gone round many times
SELDOM = 60.0  # seconds between two such words


def log_run(event: str, run: Run, level: int = logging.INFO) -> None:
    """One line, for people and as fields for programs; never a payload."""
    claim = run.claim
    fields = {
        "job_id": claim.id,
        "job_type": claim.type,
        "worker_id": claim.lease_owner,
        "attempts": claim.attempts,
        "duration_ms": round((monotonic() - run.since) * 1000, 1),
    }
    if isinstance(run.outcome, Raised):  # its message may hold what the payload held
        fields |= run.outcome.failure.for_logs()
    text = " ".join(f'{name}="{value}"' if name == "where" else f"{name}={value}" for name, value in fields.items())
    log.log(level, "%s %s", event, text, extra={"event": event, **fields})


def word(move: Move) -> str:
    """What became of a run."""
    if move.status is Status.QUEUED:
        return "retried" if move.why == "retry" else move.why
    return move.status.replace("dead_letter", "dead-lettered")


class Pulse:
    """Notices a loop that stood still, as while a coroutine handler blocks it: nothing else of the process ran then."""

    def __init__(self, slots: SlotMap) -> None:
        self._slots = slots
        self._last = float("inf")
        self._said = float("-inf")
        self._types: set[str] = set()

    def beat(self, now: float, runs: Iterable[Run]) -> None:
        """The loop goes round; `runs` are those under way."""
        before, self._types = self._types, {run.claim.type for run in runs if run.definition.is_coroutine}
        last, self._last = self._last, now
        stood = now - last
        if stood < LONG:
            return
        if self._slots.told() == int(last * 1000):  # while it stood still, by who looks on from outside
            log.info("the event loop goes on, after %.1f s", stood)
            return
        if now - self._said < SELDOM:
            return
        self._said = now
        types = ", ".join(sorted(before | self._types)) or "a short one"
        log.warning(
            "the event loop stood still for %.1f s, and no other job of this process went on: does a coroutine handler "
            "block (%s)? make it a plain function, which gets a thread, or await what it waits for",
            stood, types,
        )  # fmt: skip
