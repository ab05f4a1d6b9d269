"""Queries live one to a file; this reads a folder of them, each when it is first needed."""

from __future__ import annotations

from _operator import itemgetter  # `operator` around it has a hundred functions more

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any


# `re` is imported where it is needed: it would cost a cold hook milliseconds.
_PARAMETER = r"(?<![:\w]):([a-z_]+)"
_CAST = rf"{_PARAMETER}(?=(::)?)"
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"
_numbered: dict[str, tuple[str, tuple[str, ...]]] = {}


class Queries(dict[str, str]):
    """Name of a query -> its text, in the form the driver takes."""

    def __init__(self, read: Callable[[str], bytes], compile_placeholders: Callable[[str], str] = str) -> None:
        super().__init__()
        self._read = read
        self._compile = compile_placeholders
        self._by_place: dict[str, tuple[str, itemgetter[Any]]] = {}
        self.kept: dict[str, Any] = {}  # what the verbs of one store remember for a few seconds

    def by_place(self, name: str) -> tuple[str, itemgetter[Any]]:
        """A query with numbered parameters, and what puts named ones in that order: for statements run once per job."""
        found = self._by_place.get(name)
        if found is None:
            names: dict[str, int] = {}
            found = self._by_place[name] = _by_number(self[name], names), itemgetter(*names)
        return found

    def __missing__(self, name: str) -> str:
        text = self._compile(self._read(f"sql/{name}.sql").decode())
        self[name] = text
        return text


def named_placeholders(text: str) -> str:
    """A query as a driver takes it that writes `%(name)s` where SQLite writes `:name`."""
    import re  # noqa: PLC0415

    return re.sub(_PARAMETER, r"%(\1)s", text.replace("%", "%%"))


def _by_number(text: str, names: dict[str, int]) -> str:
    """A query with a number for each name; `names` learns which is which. It finds what `_PARAMETER` finds."""
    done, *rest = text.split(":")
    for part in rest:
        name = part[: len(part) - len(part.lstrip(_LETTERS))]
        if not name or done[-1:].isalnum() or done[-1:] in {"_", ":"}:
            done += f":{part}"
        else:
            done += f"?{names.setdefault(name, len(names) + 1)}{part[len(name) :]}"
    return done


def numbered_placeholders(text: str) -> tuple[str, tuple[str, ...]]:
    """A query as a driver takes it that writes `$1`, and the names of its parameters in that order.

    Such a driver wants values of the types that the server expects. What the query casts is sent as text, as elsewhere,
    and read by the server.
    """
    if text in _numbered:
        return _numbered[text]
    import re  # noqa: PLC0415

    names: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        return f"${names.setdefault(match[1], len(names) + 1)}{'::text' if match[2] else ''}"

    _numbered[text] = re.sub(_CAST, numbered, text), tuple(names)
    return _numbered[text]
