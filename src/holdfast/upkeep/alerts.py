"""Tells when something is wrong, once, and when it is right again."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from math import floor
from typing import TYPE_CHECKING, Any

from holdfast.engine.asking import enqueue
from holdfast.engine.figures import statistics
from holdfast.model import stamp
from holdfast.model.alert import Alarm, Alert, Thresholds
from holdfast.model.ids import new_ids
from holdfast.model.payload import encode
from holdfast.model.request import NewJob
from holdfast.model.subscription import ATTEMPTS, DELIVERY, QUEUE, message
from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

    Sink = Callable[[Alert], None]

log = logging.getLogger("holdfast.alerts")

_COMMAND_SECONDS = 30
# Rule -> what is counted of a line, how it crossed its threshold, and the unit.
_SAID = {
    "depth": ("waiting jobs of {}", "more than", ""),
    "age": ("oldest waiting job of {}", "older than", " s"),
    "success": ("jobs of {} that ended well", "less than", " %"),
    "dead_letters": ("dead letters of {}", "more than", ""),
    "p95": ("95th percentile of the runs of {}", "longer than", " s"),
}


class Alerts(Turn):
    """Compares the figures with the thresholds; each alert is told once, with an all-clear."""

    name = "alerts"
    leader_only = True

    def __init__(self, desk: Desk, thresholds: Thresholds, sinks: Sequence[Sink], every: float = 300.0) -> None:
        self._desk = desk
        self.shares = not desk.store.writes_alone  # else nobody could write while all is counted
        self.interval = every
        self._thresholds = thresholds
        self._sinks = sinks
        self._told: dict[tuple[str, str, str], Alert] = {}

    @property
    def slack(self) -> float:
        """A part of the interval."""
        return self.interval / 5

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
                _deliver(sink, alert)
        return {"told": len(fresh), "cleared": len(over)}


def alerts_of(desk: Desk, alarm: Alarm) -> Alerts:
    """The task for what an application asked for."""
    sinks: list[Sink] = [to_log]
    if alarm.command:
        sinks.append(to_command(alarm.command))
    if alarm.job is not None:
        sinks.append(to_job(desk, *alarm.job))
    if alarm.webhook is not None:
        sinks.append(to_webhook(desk, alarm.webhook))
    return Alerts(desk, alarm.thresholds, sinks, alarm.every)


def judge(figures: Mapping[str, Any], limits: Thresholds) -> Iterator[Alert]:
    """Every fact beyond its threshold."""
    for line in figures["lines"]:
        ended = line["completed_1h"] + line["ended_badly_1h"]
        success = line["completed_1h"] / ended if ended >= limits.fewest_ended else 1.0
        p95_s = (line["run_p95_ms"] or 0) / 1000
        facts = (
            ("depth", "warning", line["waiting"], limits.depth, line["waiting"] > limits.depth),
            ("age", "warning", line["oldest_s"], limits.age, line["oldest_s"] > limits.age),
            ("success", "critical", success, limits.success, success < limits.success),
            ("dead_letters", "critical", line["dead"], limits.dead_letters, line["dead"] > limits.dead_letters),
            ("p95", "warning", p95_s, limits.p95, p95_s > limits.p95),
        )
        for rule, severity, value, threshold, wrong in facts:
            if wrong:
                alert = Alert(rule, line["queue"], line["type"], severity, value, threshold)
                yield alert._replace(text=_text(alert))


def to_log(alert: Alert) -> None:
    """The sink that is always there."""
    level = logging.INFO if alert.cleared else logging.WARNING
    log.log(level, "%s", alert.text, extra={"alert": alert.as_json()})


def to_command(command: Sequence[str]) -> Sink:
    """A sink that runs a command with the alert as JSON on its standard input. Nobody waits for it."""

    def run(alert: Alert) -> None:
        text = json.dumps(alert.as_json()).encode()
        subprocess.run(list(command), input=text, check=True, timeout=_COMMAND_SECONDS)  # noqa: S603  # the operator's own

    return lambda alert: threading.Thread(target=_deliver, args=(run, alert), daemon=True).start()


def to_job(desk: Desk, kind: str, queue: str) -> Sink:
    """A sink that enqueues a job of the application's own, with the alert as its payload."""
    return lambda alert: _enqueue(desk, lambda _: NewJob(kind, encode(alert.as_json()), queue=queue))


def to_webhook(desk: Desk, endpoint: str) -> Sink:
    """A sink that enqueues a delivery to an endpoint."""

    def delivery(alert: Alert, now: int) -> NewJob:
        name = f"alert_{new_ids(now, 1)[0]}"
        payload = message(endpoint, f"alert.{alert.rule}", name, stamp.to_text(now), alert.as_json())
        return NewJob(DELIVERY, encode(payload), queue=QUEUE, max_attempts=ATTEMPTS)

    return lambda alert: _enqueue(desk, lambda now: delivery(alert, now))


def _enqueue(desk: Desk, job_at: Callable[[int], NewJob]) -> None:
    desk.write(lambda tx: enqueue(tx, [job_at(tx.now)]))


def _deliver(sink: Sink, alert: Alert) -> None:
    try:
        sink(alert)
    except Exception:
        log.exception("an alert could not be delivered")


def _cleared(alert: Alert) -> Alert:
    return alert._replace(cleared=True, text=_text(alert, over=True))


def _text(alert: Alert, *, over: bool = False) -> str:
    what, word, unit = _SAID[alert.rule]
    value, threshold = alert.value, alert.threshold
    if alert.rule == "success":  # rounded down, so that it stays below its threshold
        value, threshold = floor(value * 1000) / 10, threshold * 100
    crossed = f"no longer {word}" if over else f"{value:,.10g}{unit}, {word}"
    return f"{what.format(f'{alert.type} in {alert.queue}')}: {crossed} {threshold:,.10g}{unit}"
