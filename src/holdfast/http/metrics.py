"""Prometheus text: depth, age, runs, endings and durations by queue and type. Never a job id, never a tenant."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from holdfast.app import App
from holdfast.engine.queues import workers
from holdfast.http import verbs
from holdfast.model.figures import duration_of
from holdfast.store.port import Transaction

KEPT_SECONDS = 5.0
_MINUTE_MS = 60_000
_STEP = 4  # every fourth bucket of the store: each limit is twice the one before
_HIGHEST = 96  # about four and a half hours; longer ones count as +Inf

Key = tuple[str, str, str, str, int]  # queue, type, status, measure, bucket

# name -> (field of a line, what it says)
BY_LINE: dict[str, tuple[str, str]] = {
    "holdfast_queue_depth": ("waiting", "Jobs that wait, due or not."),
    "holdfast_limited_jobs": ("limited", "Those of the waiting jobs that stand in line for a limit."),
    "holdfast_blocked_jobs": ("blocked", "Jobs that wait for other jobs."),
    "holdfast_jobs_in_progress": ("running", "Jobs that run."),
    "holdfast_expired_leases": ("expired", "Runs whose lease ran out and which the watchdog has not ended yet."),
    "holdfast_dead_letters": ("dead", "Jobs that used up their attempts and wait for a person."),
    "holdfast_failed_jobs": ("failed", "Jobs ended by an error that retrying cannot cure, still kept."),
    "holdfast_awaiting_auth_jobs": ("awaiting_auth", "Jobs parked until a person acts."),
    "holdfast_completed_last_hour": ("completed_1h", "Jobs completed within the last hour."),
    "holdfast_failed_last_hour": ("ended_badly_1h", "Jobs that ended failed or dead_letter within the last hour."),
}


class Metrics:
    """The text of `GET /metrics`; the store is asked at most once in five seconds, however many scrape."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._totals = Totals()
        self._lock = asyncio.Lock()
        self._families: list[Metric] = []
        self._read_at = -KEPT_SECONDS

    async def render(self, accept: str) -> tuple[bytes, str]:
        """The text and its media type."""
        async with self._lock:
            if monotonic() - self._read_at >= KEPT_SECONDS:
                seen = await self._app.desk.aread(self._read)
                self._families = list(families(*seen, self._known_queues()))
                self._read_at = monotonic()
        encode, media_type = choose_encoder(accept)
        return encode(_Collected(self._families)), media_type

    def _read(self, tx: Transaction) -> tuple[dict[str, Any], Counter[Key], list[dict[str, Any]]]:
        return verbs.figures(tx), self._totals.read(tx), workers(tx)

    def _known_queues(self) -> set[str]:
        # An autoscaler wants a zero, not a series that is not there.
        return {definition.queue for definition in self._app.registry}


class Totals:
    """Counts that only grow, out of figures that are forgotten after a while."""

    def __init__(self) -> None:
        self._settled: Counter[Key] = Counter()
        self._open_since = 0

    def read(self, tx: Transaction) -> Counter[Key]:
        """All endings that were kept when this began, and every one since."""
        # The minute before the present one stays open too: a commit may carry its last stamp and land after it.
        since = max(tx.now - tx.now % _MINUTE_MS - _MINUTE_MS, 0)
        still_open = _counted(tx, since)
        if since > self._open_since:
            self._settled.update(_counted(tx, self._open_since) - still_open)
            self._open_since = since
        return self._settled + still_open


class _Collected(Collector):
    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def collect(self) -> Iterable[Metric]:
        return self._found


def _counted(tx: Transaction, since: int) -> Counter[Key]:
    return Counter(
        {
            (queue, kind, status, measure, bucket): count
            for queue, kind, status, measure, bucket, count in tx.figures(since)
        }
    )


def families(
    seen: dict[str, Any], totals: Counter[Key], workers: list[dict[str, Any]], queues: set[str]
) -> Iterator[Metric]:
    """Every metric, from one reading of the store."""
    lines = seen["lines"]
    for name, (counted, text) in BY_LINE.items():
        yield _gauge(name, text, ("queue", "type"), (((line["queue"], line["type"]), line[counted]) for line in lines))
    ages = [((line["queue"], line["type"]), max(line["oldest_s"], 0.0)) for line in lines]
    yield _gauge(
        "holdfast_oldest_job_age_seconds", "How long the oldest waiting job has been due.", ("queue", "type"), ages
    )
    yield from _by_queue(lines, queues | set(seen["paused"]))
    yield _gauge("holdfast_queue_paused", "1 for each paused queue.", ("queue",), (((q,), 1) for q in seen["paused"]))
    yield _gauge("holdfast_workers", "Workers heard of lately.", (), [((), len(workers))])
    yield _gauge(
        "holdfast_worker_places", "Places of all workers.", (), [((), sum(worker["places"] for worker in workers))]
    )
    yield _quantiles(lines)
    yield from _counters(totals)
    yield _latency(totals)


def _by_queue(lines: list[dict[str, Any]], queues: set[str]) -> Iterator[Metric]:
    """The short names that autoscalers and alerts are written for."""
    depth, age = Counter(dict.fromkeys(queues, 0)), dict.fromkeys(queues, 0.0)
    for line in lines:
        queue = line["queue"]
        depth[queue] += line["waiting"]
        age[queue] = max(age.get(queue, 0.0), line["oldest_s"])
    yield _gauge("queue_depth", "Jobs that wait in a queue.", ("queue",), (((q,), n) for q, n in depth.items()))
    yield _gauge(
        "queue_age_sec", "Age of the oldest waiting job, from its due time.", ("queue",),
        (((queue,), seconds) for queue, seconds in age.items()),
    )  # fmt: skip


def _quantiles(lines: list[dict[str, Any]]) -> Metric:
    return _gauge(
        "holdfast_run_duration_seconds",
        "How long completed runs of the last hour took.",
        ("queue", "type", "quantile"),
        (
            ((line["queue"], line["type"], quantile), line[name] / 1000)
            for line in lines
            for quantile, name in (("0.5", "run_p50_ms"), ("0.95", "run_p95_ms"), ("0.99", "run_p99_ms"))
            if line[name] is not None
        ),
    )


def _counters(totals: Counter[Key]) -> Iterator[Metric]:
    ended: Counter[tuple[str, str, str]] = Counter()
    for (queue, kind, status, measure, _), count in totals.items():
        if measure == "run":
            ended[queue, kind, status] += count
    every = CounterMetricFamily("holdfast_jobs", "Jobs that ended, by outcome.", labels=("queue", "type", "outcome"))
    dead = CounterMetricFamily("jobs_failed", "Moves to dead_letter.", labels=("queue", "type"))
    for labels, count in sorted(ended.items()):
        every.add_metric(labels, count)
        if labels[2] == "dead_letter":
            dead.add_metric(labels[:2], count)
    yield every
    yield dead


def _latency(totals: Counter[Key]) -> Metric:
    family = HistogramMetricFamily(
        "task_end_to_end_latency", "Seconds from enqueue to completion.", labels=("queue", "type")
    )
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for (queue, kind, status, measure, bucket), count in totals.items():
        if measure == "total" and status == "completed":
            counts[queue, kind][bucket] += count
    for labels, histogram in sorted(counts.items()):
        steps = [
            (f"{_edge(limit):.6g}", float(sum(n for b, n in histogram.items() if b <= limit)))
            for limit in range(_STEP, _HIGHEST + 1, _STEP)
        ]
        total = sum(duration_of(bucket) * count for bucket, count in histogram.items()) / 1000
        family.add_metric(labels, [*steps, ("+Inf", float(histogram.total()))], total)
    return family


def _edge(bucket: int) -> float:
    """Where a bucket of the store ends, in seconds."""
    return (duration_of(bucket) + duration_of(bucket + 1)) / 2000


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for these, value in values:
        family.add_metric(these, value)
    return family
