"""What a caller may send inside `with app.transaction()`: anything but the words that end or split it."""

from __future__ import annotations

import re

from holdfast.model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTROL = re.compile("begin|start|commit|end|rollback|abort|savepoint|release")
_BODY = re.compile("(?i)begin")  # of a trigger
_PART = re.compile(
    r"""(?x) '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\] | --[^\n]* | /\*.*?(?:\*/|\Z) | ; | \w+""",
    re.DOTALL,
)
_LOOK_AHEAD = 3  # create [temp] trigger


def check_statement(sql: object) -> None:
    """Refuse a statement that would end the block's transaction behind its back."""
    if not isinstance(sql, str):
        raise BadInput("BAD_OPTION", f"a statement is text, not {type(sql).__name__}: pass values as parameters")
    in_trigger = False
    for words in _statements(sql):
        if in_trigger:
            in_trigger = words[0] != "end"
        elif _CONTROL.fullmatch(words[0]):
            raise BadInput(
                "BAD_OPTION",
                f"{words[0]} cannot be sent here: the block commits when it is left, and an error that leaves it rolls "
                "all of it back",
            )
        else:
            in_trigger = words[0] == "create" and "trigger" in words


def _statements(sql: str) -> Iterator[list[str]]:
    """The first words of each statement; a trigger's own statements count, too."""
    words: list[str] = []
    for part in _PART.findall(sql):
        # In `create trigger ... begin insert ...; end` the word begin starts the trigger's first statement.
        ends = part == ";" or (_BODY.fullmatch(part) and "trigger" in words)
        if ends and words:
            yield words
            words = []
        elif len(words) < _LOOK_AHEAD and part[0].isalpha():
            words.append(part.lower())
    if words:
        yield words
