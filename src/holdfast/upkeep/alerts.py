"""Tells when something is wrong, once, and when it is right again."""

from __future__ import annotations

import json
import logging
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.engine.figures import statistics
from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

log = logging.getLogger("holdfast.alerts")

_COMMAND_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Beyond these a queue and type is in trouble; looked at over the last hour."""

    depth: float = 1_000
    age_s: float = 3_600
    success: float = 0.95
    dead_letters: float = 10
    p95_s: float = 10
    fewest_ended: int = 20  # a success rate of fewer endings says nothing


@dataclass(frozen=True, slots=True)
class Alert:
    """One fact that crossed its threshold, or came back."""

    rule: str
    queue: str
    type: str
    severity: str
    value: float
    threshold: float
    cleared: bool = False
    text: str = field(default="")

    def as_json(self) -> dict[str, Any]:
        """For sinks."""
        return {name: getattr(self, name) for name in self.__slots__}


class Alerts(Turn):
    """Compares the figures with the thresholds; each alert is told once, with an all-clear."""

    name = "alerts"
    leader_only = True
    interval = 300.0
    slack = 60.0

    def __init__(
        self, desk: Desk, thresholds: Thresholds | None = None, sinks: Sequence[Callable[[Alert], None]] | None = None
    ) -> None:
        self._desk = desk
        self.shares = not desk.store.writes_alone  # else nobody could write while all is counted
        self._thresholds = thresholds or Thresholds()
        self._sinks = [to_log] if sinks is None else list(sinks)
        self._told: dict[tuple[str, str, str], Alert] = {}

    def turn(self, tx: Transaction) -> dict[str, Any]:
        """The figures."""
        return statistics(tx)

    def run_once(self) -> dict[str, int]:
        """Both steps, with a look that keeps nobody waiting."""
        return self.conclude(self._desk.read(statistics))

    def conclude(self, answer: Mapping[str, Any]) -> dict[str, int]:
        """Tell what is new."""
        now = {(one.rule, one.queue, one.type): one for one in judge(answer, self._thresholds)}
        fresh = [one for key, one in now.items() if key not in self._told]
        over = [_cleared(one) for key, one in self._told.items() if key not in now]
        self._told = now
        for alert in fresh + over:
            for sink in self._sinks:
                self._deliver(sink, alert)
        return {"told": len(fresh), "cleared": len(over)}

    def _deliver(self, sink: Callable[[Alert], None], alert: Alert) -> None:
        try:
            sink(alert)
        except Exception:
            log.exception("an alert could not be delivered")


def judge(figures: Mapping[str, Any], limits: Thresholds) -> Iterator[Alert]:
    """Every fact beyond its threshold."""
    for line in figures["lines"]:
        ended = line["completed_1h"] + line["ended_badly_1h"]
        success = line["completed_1h"] / ended if ended >= limits.fewest_ended else 1.0
        p95_s = (line["run_p95_ms"] or 0) / 1000
        facts = (
            ("depth", "warning", line["waiting"], limits.depth, line["waiting"] > limits.depth),
            ("age", "warning", line["oldest_s"], limits.age_s, line["oldest_s"] > limits.age_s),
            ("success", "critical", success, limits.success, success < limits.success),
            ("dead_letters", "critical", line["dead"], limits.dead_letters, line["dead"] > limits.dead_letters),
            ("p95", "warning", p95_s, limits.p95_s, p95_s > limits.p95_s),
        )
        for rule, severity, value, threshold, wrong in facts:
            if wrong:
                text = f"{rule} of {line['type']} in {line['queue']} is {value:g}, beyond {threshold:g}"
                yield Alert(rule, line["queue"], line["type"], severity, value, threshold, text=text)


def to_log(alert: Alert) -> None:
    """The sink that is always there."""
    level = logging.INFO if alert.cleared else logging.WARNING
    log.log(level, "%s", alert.text, extra={"alert": alert.as_json()})


def to_command(command: Sequence[str]) -> Callable[[Alert], None]:
    """A sink that runs a command with the alert as JSON on its standard input."""

    def sink(alert: Alert) -> None:
        text = json.dumps(alert.as_json()).encode()
        subprocess.run(list(command), input=text, check=True, timeout=_COMMAND_SECONDS)  # noqa: S603  # the operator's own

    return sink


def _cleared(alert: Alert) -> Alert:
    return Alert(
        alert.rule,
        alert.queue,
        alert.type,
        alert.severity,
        alert.value,
        alert.threshold,
        cleared=True,
        text=f"{alert.rule} of {alert.type} in {alert.queue} is back within {alert.threshold:g}",
    )
