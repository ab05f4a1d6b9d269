"""The state of the house in numbers."""

from __future__ import annotations

import pytest

from holdfast.engine import limits
from holdfast.engine.figures import statistics
from holdfast.model.limit import limit_of
from tests.engine.given import (
    DONE,
    HOUR,
    MINUTE,
    REFUSED,
    SECOND,
    claim,
    dead,
    ended,
    enqueue,
    finish,
    parked,
    running,
)  # fmt: skip


def lines(desk, **how):
    return {(line["queue"], line["type"]): line for line in desk.read(statistics, **how)["lines"]}


def mail(desk, **how):
    return lines(desk, **how)["default", "mail"]


def test_an_empty_house_has_no_lines(desk):
    told = desk.read(statistics)
    assert (told["lines"], told["paused"], told["at"]) == ([], [], "2025-01-16T12:00:00.000Z")


def test_every_state_is_counted_where_it_belongs(desk):
    enqueue(desk, priority=9)
    enqueue(desk, priority=9)
    running(desk)
    dead(desk)
    ended(desk, REFUSED)
    parked(desk)
    told = mail(desk)
    assert {name: told[name] for name in ("waiting", "running", "expired", "dead", "failed", "awaiting_auth")} == {
        "waiting": 2, "running": 1, "expired": 0, "dead": 1, "failed": 1, "awaiting_auth": 1,
    }  # fmt: skip


def test_jobs_that_wait_for_others_or_for_limits_are_told_apart(desk):
    desk.write(limits.set_limit, limit_of("api", concurrency=1), by="me")
    parent = enqueue(desk, kind="parent")
    for _ in range(3):
        enqueue(desk, kind="child", depends_on=[parent])
    for _ in range(2):
        enqueue(desk, kind="call", limits=["api"])
    lines = {line["type"]: line for line in desk.read(statistics)["lines"]}
    assert {kind: (line["waiting"], line["limited"], line["blocked"]) for kind, line in lines.items()} == {
        "parent": (1, 0, 0),
        "child": (0, 0, 3),
        "call": (2, 2, 0),
    }
    assert [line["blocked"] for line in desk.read(statistics, cap=2)["lines"] if line["type"] == "child"] == [2]


def test_lines_are_kept_apart_by_queue_and_type_and_sorted(desk):
    enqueue(desk, queue="gpu")
    enqueue(desk, "image")
    enqueue(desk)
    assert list(lines(desk)) == [("default", "image"), ("default", "mail"), ("gpu", "mail")]


def test_versions_of_a_payload_are_one_line(desk):
    enqueue(desk, payload_version=1)
    enqueue(desk, payload_version=2)
    assert mail(desk)["waiting"] == 2


def test_the_age_of_the_oldest_waiting_job_is_told(desk, clock):
    enqueue(desk)
    clock.forward(90 * SECOND)
    enqueue(desk)
    assert mail(desk)["oldest_s"] == 90


def test_a_better_priority_does_not_hide_an_older_job(desk, clock):
    enqueue(desk, priority=9)
    clock.forward(90 * SECOND)
    enqueue(desk, priority=1)
    assert mail(desk)["oldest_s"] == 90


def test_a_job_that_is_due_later_has_no_age(desk):
    enqueue(desk, delay=60)
    assert (mail(desk)["waiting"], mail(desk)["oldest_s"]) == (1, 0)


def test_expired_leases_are_counted(desk, clock):
    running(desk)
    clock.forward(2 * MINUTE)
    assert (mail(desk)["running"], mail(desk)["expired"]) == (1, 1)


def test_endings_of_the_last_hour_are_counted(desk, clock):
    ended(desk)
    clock.forward(HOUR + MINUTE)
    ended(desk)
    ended(desk)
    ended(desk, REFUSED)
    dead(desk)
    assert (mail(desk)["completed_1h"], mail(desk)["ended_badly_1h"]) == (2, 2)
    assert mail(desk, since_ms=2 * HOUR)["completed_1h"] == 3


def test_durations_are_told_as_percentiles(desk, clock):
    for ms in (100,) * 8 + (10_000,) * 2:
        run = running(desk)
        clock.forward(ms)
        finish(desk, run, DONE)
    told = mail(desk)
    assert told["run_p50_ms"] == pytest.approx(100, rel=0.15)
    assert told["run_p95_ms"] == told["run_p99_ms"] == pytest.approx(10_000, rel=0.15)


def test_the_total_counts_the_wait_too(desk, clock):
    enqueue(desk)
    clock.forward(5 * SECOND)
    (run,) = claim(desk)
    clock.forward(SECOND)
    finish(desk, run, DONE)
    assert mail(desk)["run_p95_ms"] == pytest.approx(1_000, rel=0.15)
    assert mail(desk)["total_p95_ms"] == pytest.approx(6_000, rel=0.15)


def test_a_type_that_never_completed_has_no_durations(desk):
    dead(desk)
    assert [mail(desk)[name] for name in ("run_p50_ms", "run_p95_ms", "run_p99_ms", "total_p95_ms")] == [None] * 4


def test_counts_stop_at_the_cap(desk):
    for _ in range(5):
        enqueue(desk)
    told = desk.read(statistics, cap=3)
    assert (told["cap"], told["lines"][0]["waiting"]) == (3, 3)


def test_paused_queues_are_named(desk):
    desk.write(lambda tx: tx.pause("b", "ann"))
    desk.write(lambda tx: tx.pause("a", "ann"))
    assert desk.read(statistics)["paused"] == ["a", "b"]
    desk.write(lambda tx: tx.resume("a"))
    assert desk.read(statistics)["paused"] == ["b"]
