"""A queue moves from one store to another: who holds its jobs now, and what is to be done next.

Each store remembers two moves: the one that closed it, and the one that filled it. That is enough to tell, after a
kill at any point, which of the two holds the newest state. A store that is closed gives out no job and takes none, so
however a move was cut short, at most one of the two is alive.

    open, empty          --filled by a move-->   open
    open                 --closed by a move-->   closed    (its jobs are on the way)
    closed               --step back------->     open      (they never arrived)
    closed               --filled by a move-->   open      (they came back)
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from holdfast.model.errors import StoreError


class Mark(NamedTuple):
    """What a store remembers: whether it is open, which move closed it, which one filled it, and the other store."""

    is_open: bool = True
    closed_by: str = ""
    filled_by: str = ""
    peer: str = ""


class Step(Enum):
    """What brings a move further."""

    CLOSE = "close the source"
    COPY = "copy from the closed source, then open the target"
    REOPEN = "the target was closed on the way to the source and never arrived there: open it again"
    DONE = "the target is open and has everything"


def next_step(source: Mark, target: Mark) -> Step:
    """The step that brings a move from source to target further."""
    if _target_holds(source, target):
        return Step.DONE if target.is_open else Step.REOPEN
    return Step.CLOSE if source.is_open else Step.COPY


def is_remnant(target: Mark, source: Mark) -> bool:
    """Whether all that a closed target holds has long been in the source, so that it may be overwritten."""
    return not target.is_open and source.filled_by == target.closed_by


def are_related(source: Mark, target: Mark) -> bool:
    """Whether jobs of one came to the other, so that there is something to undo."""
    return _arrived(source, target) or _arrived(target, source)


def moved(shown: str, peer: str) -> StoreError:
    """What whoever opens a closed store is told."""
    return StoreError(
        "STORE_MOVED",
        f"{shown}: its jobs were moved to {peer} by `holdfast promote`: set HOLDFAST_URL to that address. (If the move "
        "was cut short, give the same command again, or take it back with --undo.)",
    )


def _target_holds(source: Mark, target: Mark) -> bool:
    if _arrived(source, target):
        return True
    if _arrived(target, source):
        return False
    return source.is_open and not target.is_open


def _arrived(source: Mark, target: Mark) -> bool:
    """Whether the move that closed the source came to its end in the target."""
    return not source.is_open and source.closed_by == target.filled_by
