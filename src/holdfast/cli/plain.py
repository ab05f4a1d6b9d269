"""Values as a person reads them, and safe to put on a terminal whatever they hold."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACES = frozenset("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000")
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_BEING_MADE_MS = 5_000


def clean(value: object) -> str:
    """One line that a terminal shows and does not obey: everything that is no visible character is spelt out."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(letter if _is_visible(letter) else _spelt(letter) for letter in text)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON as it is read by people: other scripts stay readable, control characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(letter if letter == "\n" or _is_visible(letter) else json.dumps(letter)[1:-1] for letter in text)


def json_lines(values: list[Any]) -> str:
    """An array with one element a line: one document for a parser, lines for everything else."""
    return "[" + ",".join(f"\n{json_text(value)}" for value in values) + ("\n]" if values else "]")


def span(seconds: float) -> str:
    """A duration in one unit: `850 ms`, `12 s`, `4 min`, `3 h`, `2 d`."""
    seconds = abs(seconds)
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def age(at: int | None, now: int) -> str:
    """An instant as seen from now: `3 min ago`, `in 4 min`."""
    if at is None:
        return ""
    seconds = (now - at) / 1000
    if seconds < 0:
        return f"in {span(seconds)}"
    return "just now" if seconds < 1 else f"{span(seconds)} ago"


def coming(at: int, now: int) -> str:
    """The same of what is due: one that is being made is due now; one that is late shows by how much."""
    return "now" if 0 <= now - at < _BEING_MADE_MS else age(at, now)


def count(number: int, cap: int | None = None) -> str:
    """A number with its thousands apart; with a plus where counting stopped."""
    return f"{number:,}+" if cap is not None and number >= cap else f"{number:,}"


def many(number: int, what: str, cap: int | None = None, *, plural: str = "") -> str:
    """How many of something: `1 job`, `2 jobs`."""
    return f"{count(number, cap)} {what if number == 1 else plural or what + 's'}"


def size(octets: float) -> str:
    """A number of bytes in the unit that fits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if octets < 1024:  # noqa: PLR2004
            return f"{octets:.0f} {unit}"
        octets /= 1024
    return f"{octets:.1f} TiB"


def _is_visible(letter: str) -> bool:
    return letter.isprintable() or letter in _SPACES


def _spelt(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
