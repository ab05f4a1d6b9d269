"""Places and prefetch: how many jobs a process takes, and how long it may sit on them."""

from __future__ import annotations

import pytest

from holdfast.model.lease import Lane
from holdfast.worker.places import Places
from tests.patience import wait_for, within
from tests.worker.workshop import Workshop


def pool(places: int = 10, *, prefetch: int = 300, lease_ms: int = 60_000) -> Places:
    return Places([Lane("default", "x")], places, lease_ms, prefetch=prefetch)


def run_some(one: Places, seconds: float, times: int = 200) -> Places:
    for _ in range(times):
        one.running += 1
        one.ended(seconds)
    return one


def test_before_anything_is_known_one_job_for_each_place_is_taken():
    assert pool(10).wanted() == 10


@pytest.mark.parametrize("seconds", [1.0, 10.0, 3600.0])
def test_slow_jobs_are_not_held_ready(seconds: float):
    one = run_some(pool(4), seconds)
    one.running = 4
    assert one.wanted() <= 1
    assert run_some(pool(1), seconds).wanted() == 1


@pytest.mark.parametrize(("prefetch", "half"), [(300, 155), (50, 30), (4, 10)])
def test_quick_jobs_are_held_ready_up_to_the_prefetch_half_of_them_at_a_time(prefetch, half):
    one = run_some(pool(10, prefetch=prefetch), 0.001)
    assert one.wanted() == half
    one.running = 10
    one.ready.extend([("waits", 1.0)] * (half - 10))
    rest = one.wanted()
    assert rest == prefetch + 10 - half
    one.ready.extend([("waits", 1.0)] * rest)
    assert one.wanted() == 0


def test_without_prefetch_nothing_is_held_ready():
    one = run_some(pool(10, prefetch=0), 0.001)
    assert one.wanted() == 10
    one.running = 10
    assert one.wanted() == 0


def test_no_more_is_held_ready_than_begins_within_a_quarter_of_a_second():
    for seconds in (0.01, 0.05, 0.1, 0.2):
        one = run_some(pool(10), seconds)
        ahead = one.wanted() - one.free
        assert ahead * seconds / one.places <= 0.25


def test_what_was_held_ready_for_too_long_is_handed_back_in_order():
    one = pool(1)
    one.ready.extend([("first", 1.0), ("second", 1.9)])  # type: ignore[list-item]
    assert one.stale(2.5, one.patience) == ["first"]
    assert len(one.ready) == 1


def test_after_handing_back_nothing_is_held_ready_until_a_run_has_ended():
    one = run_some(pool(1), 0.001)
    one.running = 1
    assert one.wanted() > 1
    one.ready.append(("waits", 1.0))  # type: ignore[arg-type]
    one.stale(10.0, one.patience)
    assert one.wanted() == 0
    one.ended(9.0)
    assert one.wanted() == 1


@pytest.mark.parametrize(("lease_ms", "patience"), [(60_000, 1.0), (4_000, 1.0), (1_000, 0.25), (100, 0.025)])
def test_patience_ends_long_before_the_lease(lease_ms: int, patience: float):
    assert pool(lease_ms=lease_ms).patience == patience


@pytest.mark.slow
def test_a_worker_takes_no_more_slow_jobs_than_it_has_places(workshop: Workshop):
    workshop.start("--coroutines", 3)
    ids = workshop.enqueue_many("nap", 12, {"seconds": 1})
    for job_id in ids[:3]:
        workshop.begun(job_id)
    wait_for(lambda: workshop.count("status = 'completed'") >= 6, "two rounds")
    wait_for(lambda: len(workshop.lines("began")) >= 9, "the third round")
    assert workshop.count("status = 'in_progress'") <= 3
    workshop.ended(*ids)
    assert workshop.count("attempts <> 1") == 0


@pytest.mark.slow
def test_jobs_held_ready_behind_a_slow_one_are_handed_back_with_their_attempt(workshop: Workshop):
    workshop.start("--coroutines", 1, HOLDFAST_TEST_LEASE="60")
    workshop.ended(*workshop.enqueue_many("nap", 100, {"seconds": 0}))
    with workshop.app.transaction():  # quick by the average of what was seen, so they come with the slow one
        slow = workshop.enqueue("nap", {"seconds": 6}, priority=1)
        rest = [workshop.enqueue("nap", {"seconds": 0}, priority=2) for _ in range(30)]
    workshop.begun(slow)
    wait_for(lambda: workshop.count("status = 'in_progress'") == 1, "the others to be handed back", seconds=within(5))
    jobs = [workshop.job(job_id) for job_id in rest]
    assert {(job.status, job.attempts, job.interrupted) for job in jobs} == {("queued", 0, 0)}
