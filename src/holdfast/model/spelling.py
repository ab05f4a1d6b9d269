"""Which known name was meant by one that nobody knows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

ALIKE = 0.7  # of 1: a letter too many, or two that changed places


def nearest(name: str, known: Collection[str], *, alike: float = ALIKE) -> str | None:
    """The known name that is spelt most like this one, if any is."""
    from difflib import get_close_matches  # noqa: PLC0415  # only where something is wrong

    return next(iter(get_close_matches(name, sorted(known), 1, alike)), None)
