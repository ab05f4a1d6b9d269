"""JSON by the interpreter's own C code, without the package around it.

`json` imports `re`, and that `enum` and `functools`: together they take a cold hook longer than all that it does.
It is the same code that the package runs, so a text means the same here.
"""

from __future__ import annotations

from _json import encode_basestring_ascii, make_encoder, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_read: Any = make_scanner
_BLANK = " \t\n\r"


class _Ways:
    """What the reader is told, as `json.loads` tells it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


def loads(text: str) -> Any:
    """The value of a JSON text; ValueError if it is none."""
    whole = text.strip(_BLANK)
    try:
        value, end = _read(_Ways)(whole, 0)
    except (StopIteration, SystemError):  # the second where the class of its own error is not loaded
        value, end = None, -1
    if end != len(whole):
        raise ValueError("this is not JSON")
    return value


def dumps(value: object) -> str:
    """The JSON text of a value of plain kinds."""
    write = make_encoder({}, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, True)  # noqa: FBT003
    return "".join(write(value, 0))


def _refuse(value: object) -> None:
    raise TypeError(f"a {type(value).__name__} has no JSON form")
