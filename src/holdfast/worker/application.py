"""The user's application, and how it is described to a supervisor that never imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from holdfast.model.alert import Alarm
from holdfast.model.backoff import Backoff
from holdfast.model.lease import Lane
from holdfast.model.limit import Limit
from holdfast.model.policy import Policy
from holdfast.model.schedule import plan_from_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.desk import Desk
    from holdfast.engine.registry import Registry
    from holdfast.model.schedule import Plan
    from holdfast.signals.port import Signal


class Application(Protocol):
    """What a worker needs of the user's App."""

    url: str
    desk: Desk
    signal: Signal
    signal_by: str | None
    imports: tuple[str, ...]
    in_use: bool
    declared: dict[str, Plan]
    said: dict[str, Limit]
    alarm: Alarm | None

    @property
    def registry(self) -> Registry:
        """The handlers it knows."""

    def use(self, url: str) -> None:
        """Work with another store than the one the code names."""


def describe(app: Application) -> dict[str, Any]:
    """What a supervisor needs to know of an application, as JSON."""
    return {
        "url": app.url,
        "signal": app.signal_by,
        "types": [
            {
                "type": definition.type,
                "queue": definition.queue,
                "version": definition.version,
                "isolation": definition.isolation,
                "sweep_ms": definition.sweep_ms,
                "batch": definition.batch,
                "coroutine": definition.is_coroutine,
                "lease_ms": definition.policy.lease_ms,
                "timeout_ms": definition.policy.timeout_ms,
                "max_crashes": definition.policy.max_crashes,
                "backoff": _numbers(definition.policy.backoff),
            }
            for definition in app.registry
        ],
        "schedules": {name: plan.as_text() for name, plan in app.declared.items()},
        "limits": {name: limit.said() for name, limit in app.said.items()},
        "alarm": (app.alarm or Alarm()).as_json(),
    }


def _numbers(backoff: Backoff) -> list[int]:
    return [backoff.base_ms, backoff.cap_ms, backoff.jitter_ms]


class Described:
    """The same, as the supervisor uses it."""

    def __init__(self, told: Mapping[str, Any], queues: Mapping[str, int | None] | None) -> None:
        self.url: str = told["url"]
        self.signal_by: str | None = told["signal"]
        self.types: list[dict[str, Any]] = told["types"]
        self.coroutines = frozenset(one["type"] for one in self.types if one.get("coroutine"))
        self._schedules: dict[str, str] = told["schedules"]
        self.said = {name: Limit(name).as_said(text) for name, text in told["limits"].items()}
        self.alarm = Alarm.from_json(told["alarm"])
        self.queues = dict(queues) if queues else dict.fromkeys(sorted({one["queue"] for one in self.types}))

    def lanes(self, *, isolated: bool | None = None) -> tuple[Lane, ...]:
        """The lanes of all types, or only of those that (do not) run in processes of their own."""
        return tuple(
            Lane(queue, one["type"], version)
            for queue in self.queues
            for one in self.types
            if isolated is None or (one["isolation"] == "process") == isolated
            for version in range(1, one["version"] + 1)
        )

    def policies(self) -> dict[str, Policy]:
        """Type -> its rules, as far as a supervisor decides by them."""
        return {
            one["type"]: Policy(
                backoff=Backoff(base_ms=one["backoff"][0], cap_ms=one["backoff"][1], jitter_ms=one["backoff"][2]),
                max_crashes=one["max_crashes"],
                lease_ms=one["lease_ms"],
                timeout_ms=one["timeout_ms"],
            )
            for one in self.types
        }

    def together(self) -> int:
        """The most jobs that one call of a handler takes."""
        return max((one.get("batch") or 1 for one in self.types), default=1)

    def sweeps(self) -> list[tuple[str, str, int]]:
        """Type, queue and interval of each sweeper."""
        return [(one["type"], one["queue"], one["sweep_ms"]) for one in self.types if one["sweep_ms"]]

    def schedules(self) -> dict[str, Plan]:
        """Name -> what the code says of it."""
        return {name: plan_from_text(text) for name, text in self._schedules.items()}

    def shortest_lease(self) -> int:
        """In milliseconds."""
        return min((int(one["lease_ms"]) for one in self.types), default=60_000)
