"""When a queue is in trouble, and who is told: said by the code, heard by a supervisor that never imports it."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.model.errors import BadInput
from holdfast.model.request import check_name, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST_EVERY, _MOST_EVERY = 1, 86_400  # seconds


class Thresholds(NamedTuple):
    """Beyond these a type of a queue is in trouble; looked at over the last hour."""

    depth: float = 1_000
    age: float = 3_600  # seconds
    success: float = 0.95
    dead_letters: float = 10
    p95: float = 10  # seconds
    fewest_ended: int = 20  # a success rate of fewer endings says nothing


class Alert(NamedTuple):
    """One fact that crossed its threshold, or came back."""

    rule: str
    queue: str
    type: str
    severity: str
    value: float
    threshold: float
    cleared: bool = False
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        """For those who are told."""
        return self._asdict()


class Alarm(NamedTuple):
    """Who is told beside the log, and how often it is looked."""

    thresholds: Thresholds = Thresholds()
    every: float = 300.0
    job: tuple[str, str] | None = None  # type and queue
    webhook: str | None = None  # the name of an endpoint
    command: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For `from_json`."""
        return self._asdict() | {"thresholds": self.thresholds._asdict()}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Alarm:
        """What `as_json` answered, perhaps after a way as text."""
        job = None if told["job"] is None else tuple(told["job"])
        return cls(Thresholds(**told["thresholds"]), told["every"], job, told["webhook"], tuple(told["command"]))


def alarm(
    thresholds: Mapping[str, object], *, every: object, job: tuple[str, str] | None, webhook: object, command: object
) -> Alarm:
    """A checked one."""
    numbers = {name: _number(name, value, 0, 1 if name == "success" else inf) for name, value in thresholds.items()}
    if (
        isinstance(command, str)
        or not isinstance(command, list | tuple)
        or not all(isinstance(one, str) for one in command)
    ):
        raise BadInput(
            "BAD_OPTION", f'command is a list of words, as in command=["logger", "-t", "jobs"], not {shown(command)}'
        )
    return Alarm(
        Thresholds(**numbers),  # type: ignore[arg-type]  # fewest_ended is not among them
        _number("every", every, _LEAST_EVERY, _MOST_EVERY),
        job,
        None if webhook is None else check_name("webhook", webhook),
        tuple(command),
    )


def _number(name: str, value: object, least: float, most: float) -> float:
    """Neither infinite nor a truth value."""
    if isinstance(value, int | float) and type(value) is not bool and least <= value <= most and isfinite(value):
        return value
    bounds = f"from {least} to {most}" if isfinite(most) else f"from {least}"
    raise BadInput("BAD_OPTION", f"{name} of alerts is a number {bounds}, not {shown(value)}")
