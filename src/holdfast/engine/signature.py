"""A handler's parameters as the schema of its payload: checked when a job is enqueued, and again before it runs."""

from __future__ import annotations

import inspect
import json
import types
import typing
from typing import TYPE_CHECKING, Any

import typing_extensions
from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from holdfast.model.errors import BadInput, PayloadError
from holdfast.model.payload import SIZE_LIMIT, encode
from holdfast.model.request import OPTIONS
from holdfast.model.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_MOST_FAULTS = 5
_SIMPLE = (str, int, bool, float)
_SHORT = 4_000  # characters: within every limit of size, and no integer in it has more digits than Python reads

# Of a stored payload: who enqueued it had another handler in mind, or none.
_ELSEWHERE = "; was it enqueued by another version, or by another application? give types or queues names of their own"


class Signature:
    """What a handler takes. `context_name` is its parameter for the job's context, if it has one."""

    list_name = ""  # of one that is called for many jobs at a time: its parameter for their payloads

    def __init__(self, function: Callable[..., Any], context_type: type) -> None:
        self.context_name: str | None = None
        self._name = function.__qualname__.rpartition("<locals>.")[2]  # where it was defined is of no use to a caller
        self._positional: list[str] = []
        self._more: TypeAdapter[dict[str, Any]] | None = None
        fields: dict[str, Any] = {}
        try:
            hints = _hints(function)
            for name, parameter in inspect.signature(function).parameters.items():
                hint = hints.get(name, Any)
                if context_type in (hint, *typing.get_args(hint)):  # `JobContext | None` too
                    self.context_name = name
                elif parameter.kind is parameter.VAR_KEYWORD:
                    self._more = TypeAdapter(dict[str, hint])  # type: ignore[valid-type]
                else:
                    fields[name] = self._field(parameter, hint)
            self._adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(_shape(function.__name__, fields))
        except (PydanticUserError, NameError, TypeError, AttributeError) as error:
            raise BadInput("BAD_OPTION", f"{self._name} cannot be a handler: {error}") from error
        self._fields = frozenset(fields)
        self._simple = self._more is None and all(_is_plain(hints.get(name)) for name in fields)
        self._floats = any(_holds_floats(hints.get(name)) for name in fields)

    def dump(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], limit: int = SIZE_LIMIT) -> str:
        """The payload's JSON text, from the arguments of a call."""
        values = self._named(args, kwargs) if args else kwargs
        return (self._simple and self._quickly(values, limit)) or self._thoroughly(values, limit)

    def dump_all(
        self, calls: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]], limit: int = SIZE_LIMIT
    ) -> list[str]:
        """The payloads of many calls."""
        if not self._simple:
            return [self.dump(args, kwargs, limit) for args, kwargs in calls]
        quickly = self._quickly
        return [(not args and quickly(kwargs, limit)) or self.dump(args, kwargs, limit) for args, kwargs in calls]

    def load(self, payload: str) -> dict[str, Any]:
        """The handler's arguments, from stored JSON text."""
        try:
            if self._more is None:
                return self._adapter.validator.validate_json(payload)  # type: ignore[no-any-return]
            known, more = self._split(self._object(payload))
            return self._adapter.validate_python(known) | self._more.validate_python(more)
        except ValidationError as error:
            raise self._refused(error, _ELSEWHERE) from None

    def missing(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> frozenset[str]:
        """Names of parameters that a call leaves out."""
        return self._fields - set(self._positional[: len(args)]) - set(kwargs)

    def json_schema(self) -> dict[str, Any]:
        """The payload's JSON Schema, for forms and tools."""
        return self._adapter.json_schema()

    def _field(self, parameter: inspect.Parameter, hint: Any) -> Any:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise BadInput(
                "BAD_OPTION", f"{self._name}: a payload has names, so *{parameter.name} cannot be filled: name it"
            )
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            self._positional.append(parameter.name)
        needed = parameter.default is parameter.empty
        return (typing_extensions.Required if needed else typing_extensions.NotRequired)[hint]

    def _quickly(self, values: Mapping[str, Any], limit: int) -> str | None:
        """The text of plain values that fit, unless it is so long, or so odd, that each value needs a look."""
        try:
            text = to_json(self._adapter.validator.validate_python(values), inf_nan_mode="constants")
        except ValueError:  # which of them, and why, is found out below
            return None
        if len(text) > _SHORT or len(text) > limit or (self._floats and (b"NaN" in text or b"Infinity" in text)):
            return None
        return text.decode()

    def _thoroughly(self, values: Mapping[str, Any], limit: int) -> str:
        try:
            plain = self._plain(values)
        except ValidationError as error:
            raise self._refused(error) from None
        except (PydanticSerializationError, ValueError) as error:
            raise PayloadError("PAYLOAD_NOT_JSON", f"payload of {self._name} is not strict JSON: {error}") from None
        return encode(plain, limit=limit, write=write_json)

    def _plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Checked, and as JSON has it. Not by `dump_json`, which writes null for numbers that JSON lacks."""
        if self._simple:
            return self._adapter.validator.validate_python(values)  # type: ignore[no-any-return]
        if self._more is None:
            return _as_json(self._adapter, values)
        known, more = self._split(values)
        return _as_json(self._adapter, known) | _as_json(self._more, more)

    def _object(self, payload: str) -> dict[str, Any]:
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            raise self._foreign() from None
        if not isinstance(value, dict):
            raise PayloadError("PAYLOAD_INVALID", f"payload does not fit {self._name}: it is no object{_ELSEWHERE}")
        return value

    def _foreign(self) -> PayloadError:
        return PayloadError("PAYLOAD_NOT_JSON", f"payload of {self._name} is not JSON: another program wrote it")

    def _split(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        known = {name: value for name, value in values.items() if name in self._fields}
        return known, {name: value for name, value in values.items() if name not in self._fields}

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = self._positional
        given = dict(zip(names, args, strict=False))
        if len(args) > len(names) or set(given) & set(kwargs):
            raise PayloadError("PAYLOAD_INVALID", f"{self._name} takes {', '.join(names) or 'no arguments'}")
        return given | dict(kwargs)

    def _refused(self, error: ValidationError, advice: str = "") -> PayloadError:
        if error.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid":
            return self._foreign()
        # Never the offending value: it may be a secret, and this text ends up in logs.
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'payload'}: {fault['msg'] if advice else self._reason(fault)}"
            for fault in error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_FAULTS]
        ]
        more = error.error_count() - len(faults)
        text = "; ".join(faults) + (f"; and {more} more" if more else "") + advice
        return PayloadError("PAYLOAD_INVALID", f"payload does not fit {self._name}: {text}")

    def _reason(self, fault: Any) -> str:
        """What the caller can do about it, where that can be told."""
        extra = fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1
        return self._unknown(str(fault["loc"][0])) if extra else str(fault["msg"])

    def _unknown(self, name: str) -> str:
        if name in OPTIONS:
            return f"it is an option: {self._name}.using({name}=...).enqueue(...)"
        near = nearest(name, self._fields)
        takes = f"did you mean {near}?" if near else f"it takes {', '.join(sorted(self._fields)) or 'no arguments'}"
        return f"no such parameter; {takes}"


class ListSignature(Signature):
    """What a handler takes that is called for many jobs at a time.

    The type in the list is the schema of one job's payload; `context_name` takes a list of their contexts.
    """

    def __init__(self, function: Callable[..., Any], context_type: type) -> None:
        self.context_name = None
        self._name = function.__qualname__.rpartition("<locals>.")[2]  # where it was defined is of no use to a caller
        self._more = None
        self._simple = False
        try:
            hints = _hints(function)
            for name in inspect.signature(function).parameters:
                hint = hints.get(name, list)
                if context_type in typing.get_args(hint):
                    self.context_name = name
                else:
                    _check_list(hint, more=bool(self.list_name))
                    self.list_name = name
                    self._take(*(typing.get_args(hint) or (dict,)))
        except (PydanticUserError, NameError, TypeError, AttributeError) as error:
            raise BadInput("BAD_OPTION", f"{self._name} cannot be a handler: {error}") from error
        if not self.list_name:
            raise BadInput(
                "BAD_OPTION", f"{self._name} cannot be a handler: with batch= it takes a list, as in `jobs: list[Item]`"
            )

    def _take(self, kind: Any) -> None:
        origin = typing.get_origin(kind) or kind
        self._open = origin is dict or kind is Any
        self._adapter = TypeAdapter(dict[str, Any] if self._open and not typing.get_args(kind) else kind)
        names = () if self._open else _field_names(kind)
        self._positional = list(names)
        self._fields = frozenset(names)

    def _plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        unknown = set() if self._open else set(values) - self._fields
        if unknown:
            faults = "; ".join(f"{name}: {self._unknown(name)}" for name in sorted(unknown)[:_MOST_FAULTS])
            raise PayloadError("PAYLOAD_INVALID", f"payload does not fit {self._name}: {faults}")
        return _as_json(self._adapter, values)


def _check_list(hint: Any, *, more: bool) -> None:
    if more or (typing.get_origin(hint) or hint) is not list:
        raise TypeError("with batch= it takes one list, as in `jobs: list[Item]`, and no more")


def _field_names(kind: Any) -> tuple[str, ...]:
    """What an object of this type is made of, by the names that its JSON has."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return tuple(str(field.validation_alias or field.alias or name) for name, field in fields)
    if typing_extensions.is_typeddict(kind):
        return tuple(typing_extensions.get_type_hints(kind))
    if hasattr(kind, "__dataclass_fields__"):
        return tuple(kind.__dataclass_fields__)
    raise TypeError("a list of models, dataclasses, TypedDicts or dicts is needed: a payload has names")


def _is_plain(hint: Any) -> bool:
    """Text, numbers, truth values, and lists and objects of them are JSON already: they need no serialiser."""
    if hint in _SIMPLE:
        return True
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind is list:
        return _is_plain(inner[0])
    if kind is dict:
        return inner[0] is str and _is_plain(inner[1])
    return kind in (typing.Union, types.UnionType) and all(one is types.NoneType or _is_plain(one) for one in inner)


def _holds_floats(hint: Any) -> bool:
    return hint is float or any(map(_holds_floats, typing.get_args(hint)))


def quick_json(plain: dict[str, Any]) -> str | None:
    """The text of an object of plain values, unless it is so long, or so odd, that each value needs a look."""
    try:
        text = to_json(plain, inf_nan_mode="constants").decode()
    except PydanticSerializationError:  # half a surrogate pair
        return None
    odd = len(text) > _SHORT or "NaN" in text or "Infinity" in text
    return None if odd else text


def write_json(value: object) -> str:
    """Checked JSON as text, several times faster than the standard library."""
    return to_json(value).decode()


def _as_json(adapter: TypeAdapter[dict[str, Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    checked = adapter.validate_python(dict(values))
    plain: dict[str, Any] = adapter.dump_python(checked, mode="json", warnings="error")
    numbers = to_jsonable_python(checked, inf_nan_mode="constants", serialize_unknown=True)
    if not _faithful(checked, plain) or not _is_finite(numbers):
        raise ValueError("a number that JSON lacks, or two keys of one object that become the same text")
    return plain


def _faithful(before: Any, after: Any) -> bool:
    """Whether nothing was lost: pydantic writes null for infinities, and makes one key of 1 and "1"."""
    kind = type(before)
    if kind is float:
        return after is not None
    if kind is dict and type(after) is dict:
        return len(before) == len(after) and all(map(_faithful, before.values(), after.values()))
    if kind is list and type(after) is list:
        return all(map(_faithful, before, after))
    if isinstance(before, BaseModel) and type(after) is dict:
        return all(_faithful(getattr(before, name, None), value) for name, value in after.items())
    return True


def _is_finite(value: Any) -> bool:
    """Whether all numbers are: what hides in tuples, sets and objects has become plain here, and kept its numbers."""
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, list) else True


def _shape(name: str, fields: dict[str, Any]) -> Any:
    """A dictionary type, made at run time: no type checker can follow."""
    make: Any = typing_extensions.TypedDict
    shape = make(name, fields)
    shape.__pydantic_config__ = ConfigDict(extra="forbid", ser_json_inf_nan="constants")
    return shape


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters' types. What the handler returns does not matter, so it need not even be resolvable."""

    def stand_in() -> None: ...

    annotations = inspect.get_annotations(function)
    stand_in.__annotations__ = {name: hint for name, hint in annotations.items() if name != "return"}
    return typing.get_type_hints(stand_in, globalns=getattr(function, "__globals__", {}), include_extras=True)
