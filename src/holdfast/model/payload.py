"""Strict JSON: what may be stored as payload, context, result or progress.

A value is refused or comes back identical. Refused: not a number and infinities, lone surrogates, keys that are not
text, objects without a JSON form, nesting beyond 64 levels, and texts over the size limit.
"""

from __future__ import annotations

from _json import encode_basestring, make_encoder

from holdfast.model.errors import PayloadError
from holdfast.model.request import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

SIZE_LIMIT = 256 * 1024
DEPTH_LIMIT = 64
_LONGEST_PATH = 200
_INTEGER_BITS = 14_284  # 4,300 digits, the most that Python itself reads


def _encode(value: object) -> str:
    """By the C code of `json`, without the package: that imports `re` and would cost a cold hook milliseconds."""
    write = make_encoder(None, repr, encode_basestring, None, ":", ",", False, False, False)  # noqa: FBT003
    return "".join(write(value, 0))


def encode(
    value: object, *, what: str = "payload", limit: int = SIZE_LIMIT, write: Callable[[object], str] = _encode
) -> str:
    """The JSON text of a plain value (dict, list, str, int, float, bool, None). `write` may be a faster writer."""
    _check(value, what, "", 0)
    return _sized(write(value), what, limit)


def _sized(text: str, what: str, limit: int) -> str:
    if len(text) * 4 > limit:  # a character takes at most four bytes
        size = len(text.encode())
        if size > limit:
            raise PayloadError(
                "PAYLOAD_TOO_LARGE",
                f"{what} has {size} bytes, the limit is {limit}: store the data elsewhere and pass a reference",
            )
    return text


def decode(text: str | bytes, *, what: str = "payload", limit: int = SIZE_LIMIT) -> Any:
    """The value of JSON text from outside. Duplicate keys are refused: two readers could see two values."""
    if len(text) > limit or (isinstance(text, str) and len(text) * 4 > limit and len(_utf8(text, what)) > limit):
        raise PayloadError("PAYLOAD_TOO_LARGE", f"{what} has over {limit} bytes: pass a reference to the data instead")
    import json  # noqa: PLC0415

    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except RecursionError:
        raise _too_deep(what) from None
    except ValueError as error:
        raise PayloadError("PAYLOAD_NOT_JSON", f"{what} is not strict JSON: {error}") from None
    _check(value, what, "", 0)
    return value


def same(one: str, other: str) -> bool:
    """Whether two stored texts say the same, whatever the order of their fields."""
    return one == other or _in_order(one) == _in_order(other)


def _in_order(text: str) -> str:
    import json  # noqa: PLC0415

    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:  # another program stored it
        return text


def _check(value: object, what: str, path: str, depth: int) -> None:
    kind = type(value)
    if kind is dict or kind is list:
        if depth >= DEPTH_LIMIT:
            raise _too_deep(what)
        if kind is list:
            for item in value:  # type: ignore[attr-defined]
                _check(item, what, path, depth + 1)
            return
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                raise PayloadError("PAYLOAD_NOT_JSON", f"{what}{path}: key {shown(key)} must be text")
            _check_leaf(key, str, what, path)
            _check(item, what, f"{path}.{key}" if len(path) < _LONGEST_PATH else path, depth + 1)
    else:
        _check_leaf(value, kind, what, path)


def _too_deep(what: str) -> PayloadError:
    return PayloadError("PAYLOAD_TOO_DEEP", f"{what} is nested deeper than {DEPTH_LIMIT} levels: flatten it")


def _check_leaf(value: Any, kind: type, what: str, path: str) -> None:
    if kind is str:
        if not value.isascii():
            _utf8(value, what)
    elif kind is int:
        if value.bit_length() > _INTEGER_BITS:
            raise PayloadError(
                "PAYLOAD_NOT_JSON", f"{what}{path} is an integer that no reader can take: pass it as text"
            )
    elif kind is float:
        if value - value != 0:  # true of infinities and of not-a-number alone
            raise PayloadError("PAYLOAD_NOT_JSON", f"{what}{path} is {value}: JSON has no such number")
    elif kind is not bool and value is not None:
        raise PayloadError(
            "PAYLOAD_NOT_JSON",
            f"{what}{path} is a {kind.__name__}, which has no JSON form: pass text, numbers, lists and dicts",
        )


def _utf8(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise PayloadError(
            "PAYLOAD_NOT_JSON",
            f"{what} holds half a surrogate pair, which is no character: clean the text first",
        ) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has the same key twice")
    return value
