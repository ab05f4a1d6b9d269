"""Fold the log of a SQLite file back into it, in turn with everything else that goes to the store."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.desk import Desk


def fold(desk: Desk) -> bool:
    """Whether the log is empty now; a store without a log of its own has nothing to fold."""
    checkpoint = getattr(desk.store, "checkpoint", None)
    if checkpoint is None:
        return True
    desk._take_turn()  # noqa: SLF001  # a neighbour: the turn is the desk's, and this is a call of it
    try:
        return bool(checkpoint())
    finally:
        desk._give_turn()  # noqa: SLF001
