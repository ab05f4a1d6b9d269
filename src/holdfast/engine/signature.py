"""A handler's parameters as the schema of its payload: checked when a job is enqueued, and again before it runs."""

from __future__ import annotations

import inspect
import typing
from typing import TYPE_CHECKING, Any

import typing_extensions
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from holdfast.model.errors import BadInput, PayloadError
from holdfast.model.payload import SIZE_LIMIT, admit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MOST_FAULTS = 5


class Signature:
    """What a handler takes. `context_name` is its parameter for the job's context, if it has one."""

    def __init__(self, function: Callable[..., Any], context_type: type) -> None:
        self._parameters = inspect.signature(function)
        hints = typing.get_type_hints(function, include_extras=True)
        self.context_name: str | None = None
        self._name = function.__qualname__
        fields: dict[str, Any] = {}
        extra: typing.Literal["allow", "forbid"] = "forbid"
        for name, parameter in self._parameters.parameters.items():
            hint = hints.get(name, Any)
            if hint is context_type:
                self.context_name = name
            elif parameter.kind is parameter.VAR_KEYWORD:
                extra = "allow"
            elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
                raise BadInput("BAD_OPTION", f"{self._name}: a payload has names, so *{name} cannot be filled: name it")
            else:
                needed = parameter.default is parameter.empty
                fields[name] = (typing_extensions.Required if needed else typing_extensions.NotRequired)[hint]
        make: Any = typing_extensions.TypedDict  # made at run time: no type checker can follow
        shape = make(function.__name__, fields)
        shape.__pydantic_config__ = ConfigDict(extra=extra, ser_json_inf_nan="constants")
        self._adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(shape)

    def dump(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], limit: int = SIZE_LIMIT) -> str:
        """The payload's JSON text, from the arguments of a call."""
        values = self._named(args, kwargs) if args else kwargs
        try:
            text = self._adapter.dump_json(self._adapter.validate_python(values), warnings="error").decode()
        except ValidationError as error:
            raise self._refused(error) from None
        except (PydanticSerializationError, ValueError) as error:
            raise PayloadError("PAYLOAD_NOT_JSON", f"payload of {self._name} is not strict JSON: {error}") from None
        return admit(text, limit=limit)

    def load(self, payload: str) -> dict[str, Any]:
        """The handler's arguments, from stored JSON text."""
        try:
            return self._adapter.validate_json(payload)
        except ValidationError as error:
            raise self._refused(error) from None

    def json_schema(self) -> dict[str, Any]:
        """The payload's JSON Schema, for forms and tools."""
        return self._adapter.json_schema()

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = [name for name in self._parameters.parameters if name != self.context_name]
        given = dict(zip(names, args, strict=False))
        if len(args) > len(names) or set(given) & set(kwargs):
            raise PayloadError("PAYLOAD_INVALID", f"{self._name} takes {', '.join(names) or 'no arguments'}")
        return given | dict(kwargs)

    def _refused(self, error: ValidationError) -> PayloadError:
        # Never the offending value: it may be a secret, and this text ends up in logs.
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'payload'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_FAULTS]
        ]
        more = error.error_count() - len(faults)
        text = "; ".join(faults) + (f"; and {more} more" if more else "")
        return PayloadError("PAYLOAD_INVALID", f"payload does not fit {self._name}: {text}")
