"""The handlers a process knows, by type. What is not here is neither checked at enqueue nor claimed."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.engine.signature import ListSignature, Signature
from holdfast.model.errors import BadInput
from holdfast.model.lease import Lane
from holdfast.model.policy import Policy
from holdfast.model.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

_ALIKE = 0.8  # of 1: types that are meant to differ are often more alike than a slip needs
_MOST_DOUBTED = 1_000  # a process that enqueues more types of others has made no slip


@dataclass(kw_only=True)
class Definition:
    """One type: its handler and what it settles for all its jobs."""

    type: str
    function: Callable[..., Any]
    context_type: Any
    queue: str = "default"
    policy: Policy = field(default_factory=Policy)
    version: int = 1
    isolation: str | None = None
    sweep_ms: int | None = None  # of a sweeper: how often it runs
    batch: int | None = None  # of a handler that takes many jobs at a time: how many
    batch_wait: float = 0.0  # seconds that a call may wait for more of them

    @cached_property
    def signature(self) -> Signature:
        """Read when first needed: names in annotations may be defined further down in the module."""
        if self.batch is not None:
            return ListSignature(self.function, self.context_type)
        return Signature(self.function, self.context_type)

    @cached_property
    def is_coroutine(self) -> bool:
        """Whether the handler is awaited, or called in a thread."""
        return inspect.iscoroutinefunction(self.function)

    def lanes(self) -> Iterable[Lane]:
        """Where its jobs wait: its own version of the payload and every older one."""
        return (Lane(self.queue, self.type, version) for version in range(1, self.version + 1))


class Registry:
    """Type -> definition."""

    def __init__(self) -> None:
        self._definitions: dict[str, Definition] = {}
        self._doors: dict[str, Any] = {}
        self._foreign: set[str] = set()  # types that were asked for and are not known: each is doubted once

    def add(self, definition: Definition, door: Any = None) -> None:
        """Know a handler; one type has one handler. `door` is what users hold of it."""
        known = self._definitions.get(definition.type)
        if known is not None and known.function is not definition.function:
            raise BadInput(
                "BAD_OPTION",
                f"type {definition.type!r} has a handler already ({known.function.__qualname__}): give another type=",
            )
        self._definitions[definition.type] = definition
        self._doors[definition.type] = door

    def door(self, kind: str) -> Any:
        """What users hold of a known type, else None."""
        return self._doors.get(kind)

    def doubt(self, kind: str, stacklevel: int) -> None:
        """Warn of a type that is not known here but is spelt much like one that is. Others may well know it."""
        if kind in self._definitions or kind in self._foreign or len(self._foreign) >= _MOST_DOUBTED:
            return
        self._foreign.add(kind)
        near = nearest(kind, self._definitions, alike=_ALIKE)
        if near is not None:
            warnings.warn(
                f"no handler of the type {kind!r} is registered here: was {near!r} meant? if another application runs "
                "it, all is well",
                UserWarning,
                stacklevel + 1,
            )

    def get(self, kind: str) -> Definition | None:
        """The definition of a type, if it is known here."""
        return self._definitions.get(kind)

    def __iter__(self) -> Any:
        return iter(self._definitions.values())

    def lanes(self, queues: Collection[str] | None = None) -> tuple[Lane, ...]:
        """Every lane of the known types, in the named queues or in each type's own."""
        lanes: dict[Lane, None] = {}
        for definition in self:
            for lane in definition.lanes():
                for queue in (lane.queue,) if queues is None else queues:
                    lanes[lane._replace(queue=queue)] = None
        return tuple(lanes)

    def policies(self) -> dict[str, Policy]:
        """Type -> its rules."""
        return {definition.type: definition.policy for definition in self}
