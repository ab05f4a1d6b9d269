"""Rates of starts, and the pace of calls inside handlers: the same buckets."""

from __future__ import annotations

from holdfast.engine import limits
from holdfast.model.lease import Lane
from tests.store.given import DONE, SECOND, enqueue, finish, write
from tests.store.limited import limit, take


def started(store, clock, seconds, *, step=20):
    """How many start in so many seconds, looked at every few milliseconds; all end at once."""
    count = 0
    for _ in range(int(seconds * 1000 / step)):
        for run in take(store, limit=100):
            finish(store, run, DONE)
            count += 1
        clock.forward(step)
    return count


def test_starts_keep_to_the_rate(store, clock):
    limit(store, "api", rate=100)
    for _ in range(300):
        enqueue(store, limits=["api"])
    assert 98 <= started(store, clock, 1) <= 100
    assert 98 <= started(store, clock, 1) <= 100


def test_a_time_in_which_nothing_started_is_made_up_for_only_in_part(store, clock):
    limit(store, "api", rate=10)
    for _ in range(100):
        enqueue(store, limits=["api"])
    started(store, clock, 1)
    clock.forward(60 * SECOND)
    assert len(take(store, limit=100)) == 2


def test_a_burst_of_its_own(store, clock):
    limit(store, "api", rate=10, burst=5)
    for _ in range(100):
        enqueue(store, limits=["api"])
    assert len(take(store, limit=100)) == 1  # nothing is saved up at the beginning
    clock.forward(60 * SECOND)
    assert len(take(store, limit=100)) == 5
    clock.forward(101)
    assert len(take(store, limit=100)) == 1


def test_starts_that_nobody_makes_do_not_pile_up(store, clock):
    limit(store, "api", rate=100)
    for _ in range(100):
        enqueue(store, queue="other", limits=["api"])
    for _ in range(100):
        take(store)  # admits, and takes none
        clock.forward(50)
    due = len(take(store, Lane("other", "mail"), limit=100))
    assert due <= 21


def test_a_rate_of_nothing_closes_the_line(store, clock):
    limit(store, "api", rate=0)
    enqueue(store, limits=["api"])
    assert take(store) == []
    clock.forward(3600 * SECOND)
    assert take(store) == []
    assert write(store, lambda tx: limits.pace(tx, "api", None)) is None
    limit(store, "api", rate=1)
    assert len(take(store)) == 1


def test_a_rate_and_a_number_at_once(store, clock):
    limit(store, "api", rate=1, concurrency=1)
    for _ in range(3):
        enqueue(store, limits=["api"])
    (run,) = take(store)
    clock.forward(5 * SECOND)
    assert take(store) == []
    finish(store, run, DONE)
    assert len(take(store)) == 1


def test_calls_inside_handlers_are_paced(store, clock):
    limit(store, "api", rate=10)
    waits = [write(store, lambda tx: limits.pace(tx, "api", None)) for _ in range(4)]
    assert waits == [0, 101, 201, 302]
    assert write(store, lambda tx: limits.pace(tx, "api", 50)) is None
    clock.forward(1000)
    assert write(store, lambda tx: limits.pace(tx, "api", 50)) == 0
    assert write(store, lambda tx: limits.pace(tx, "unknown", 50)) == 0


def test_calls_and_starts_share_a_bucket(store, clock):
    limit(store, "api", rate=10)
    enqueue(store, limits=["api"])
    write(store, lambda tx: limits.pace(tx, "api", None))
    assert take(store) == []
    clock.forward(101)
    assert len(take(store)) == 1


def test_a_penalty_is_for_everyone(store, clock):
    limit(store, "api", rate=100)
    write(store, lambda tx: limits.penalise(tx, "api", 5 * SECOND))
    enqueue(store, limits=["api"])
    assert take(store) == []
    assert write(store, lambda tx: limits.pace(tx, "api", None)) == 5 * SECOND
    clock.forward(5 * SECOND + 20)
    assert len(take(store)) == 1
