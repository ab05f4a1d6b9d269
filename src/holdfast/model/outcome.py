"""How a run ended. Everything that can happen to a run becomes exactly one of these."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.model.failure import Failure
from holdfast.model.request import NewJob


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler returned; `result` is JSON text. What it asked to be done next is stored with the completion."""

    result: str | None = None
    follow_ups: tuple[NewJob, ...] = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised, or ran past its time-out."""

    failure: Failure
    permanent: bool = False
    after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process died, or the lease ran out. `alone`: run it in a process of its own from now on."""

    failure: Failure
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Suspected:
    """The process died with several runs in it: nobody knows whose fault it was, so each is tried again alone."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The handler asked to run later; no attempt is spent."""

    for_ms: int


@dataclass(frozen=True, slots=True)
class Parked:
    """The handler asked for a person; no attempt is spent. `key`: what several jobs wait for together."""

    reason: str
    url: str | None
    key: str | None
    for_ms: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """The worker stopped the run, as a deploy does; the attempt is given back."""


@dataclass(frozen=True, slots=True)
class Unstarted:
    """Claimed, handed back before it began; nothing is counted."""


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The handler gave up because a cancel was asked for."""


Outcome = Returned | Raised | Crashed | Suspected | Snoozed | Parked | Stopped | Unstarted | Abandoned
