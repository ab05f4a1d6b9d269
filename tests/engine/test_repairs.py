"""Upkeep: runs nobody holds any more are ended by the rule of any crash, and old jobs are deleted."""

# A lambda here stands for a verb or handler and takes what it is given.
# ruff: noqa: ARG005

from __future__ import annotations

import pytest

from holdfast.engine import jobs, repairs
from holdfast.model.backoff import Backoff
from holdfast.model.errors import NotFound
from holdfast.model.failure import Failure
from holdfast.model.lease import Lane
from holdfast.model.outcome import Abandoned, Crashed, Stopped, Unstarted
from holdfast.model.policy import Policy
from tests.engine.given import (
    DAY,
    DONE,
    HOUR,
    MINUTE,
    RAISED,
    REFUSED,
    SECOND,
    claim,
    count,
    dead,
    ended,
    enqueue,
    finish,
    get,
    parked,
    running,
)  # fmt: skip

DIED = Crashed(Failure("WorkerDied", "killed by signal 9", "WORKER_DIED"))


def recover(desk, policies=None, **how):
    return desk.write(repairs.recover_expired, policies, **how)


def crash(desk, clock, policies=None):
    """One more run of the one job, whose worker falls silent."""
    (run,) = claim(desk)
    clock.forward(MINUTE + 1)
    return run, recover(desk, policies)


def wait_s(desk, clock, job_id):
    return (get(desk, job_id).scheduled_at.timestamp() * 1000 - clock.now) / 1000


def test_a_lease_that_has_not_run_out_is_left_alone(desk, clock):
    run = running(desk)
    clock.forward(MINUTE)
    assert recover(desk) == {}
    assert get(desk, run.id).status == "in_progress"


def test_the_first_crash_is_run_again_at_once(desk, clock):
    job_id = enqueue(desk)
    _, went = crash(desk, clock)
    assert went == {"queued": 1}
    job = get(desk, job_id)
    assert (job.status, job.crashed, job.failed, job.attempts) == ("queued", 1, 0, 1)
    assert job.error["code"] == "LEASE_EXPIRED"
    assert wait_s(desk, clock, job_id) == 0


def test_the_second_crash_waits_for_its_back_off(desk, clock):
    job_id = enqueue(desk, max_attempts=10)
    crash(desk, clock)
    crash(desk, clock)
    assert get(desk, job_id).crashed == 2
    assert 4 <= wait_s(desk, clock, job_id) <= 5


def test_crashes_are_bounded_by_the_rules_of_the_type(desk, clock):
    job_id = enqueue(desk, max_attempts=10)
    rules = {"mail": Policy(max_crashes=2)}
    crash(desk, clock, rules)
    _, went = crash(desk, clock, rules)
    assert went == {"dead_letter": 1}
    job = get(desk, job_id)
    assert (job.status, job.crashed, job.attempts) == ("dead_letter", 2, 2)
    assert desk.read(jobs.history, job_id)[-1]["why"] == "crashes exhausted"


def test_a_crash_on_the_last_attempt_is_a_dead_letter(desk, clock):
    job_id = enqueue(desk, max_attempts=1)
    _, went = crash(desk, clock)
    assert went == {"dead_letter": 1}
    assert desk.read(jobs.history, job_id)[-1]["why"] == "attempts exhausted"


def test_a_type_without_rules_goes_by_the_default_of_three_crashes(desk, clock):
    enqueue(desk, max_attempts=10)
    went = []
    for _ in range(3):
        went.append(crash(desk, clock, {"other": Policy(max_crashes=1)})[1])
        clock.forward(MINUTE)
    assert went == [{"queued": 1}, {"queued": 1}, {"dead_letter": 1}]


def test_the_back_off_of_the_type_is_used(desk, clock):
    job_id = enqueue(desk, max_attempts=10)
    rules = {"mail": Policy(backoff=Backoff(base_ms=HOUR, cap_ms=HOUR, jitter_ms=0))}
    crash(desk, clock, rules)
    crash(desk, clock, rules)
    assert wait_s(desk, clock, job_id) == 3600


def test_a_worker_that_comes_back_after_the_repair_is_refused(desk, clock):
    enqueue(desk)
    run, _ = crash(desk, clock)
    assert finish(desk, run, DONE) is False
    assert get(desk, run.id).status == "queued"


def test_at_most_a_batch_is_ended_at_once(desk, clock):
    for _ in range(5):
        enqueue(desk)
    claim(desk)
    clock.forward(MINUTE + 1)
    assert [recover(desk, limit=2).get("queued", 0) for _ in range(4)] == [2, 2, 1, 0]


def test_the_runs_of_a_dead_owner_are_ended_at_once(desk):
    mine, yours = running(desk, owner="dead"), running(desk, owner="alive")
    assert desk.write(repairs.end_runs_of, "dead", lambda run: DIED) == {"queued": 1}
    assert (get(desk, mine.id).status, get(desk, mine.id).error["code"]) == ("queued", "WORKER_DIED")
    assert get(desk, yours.id).status == "in_progress"


def test_each_run_of_a_dead_owner_ends_as_it_is_told(desk):
    for _ in range(3):
        enqueue(desk)
    runs = claim(desk, owner="dead")
    outcomes = dict(zip((run.id for run in runs), (DIED, Unstarted(), Stopped()), strict=True))
    assert desk.write(repairs.end_runs_of, "dead", lambda run: outcomes[run.id]) == {"queued": 3}
    counters = [(job.attempts, job.crashed, job.interrupted) for job in (get(desk, run.id) for run in runs)]
    assert counters == [(1, 1, 0), (0, 0, 0), (0, 0, 1)]


def test_an_owner_without_runs_leaves_nothing_to_end(desk):
    assert desk.write(repairs.end_runs_of, "nobody", lambda run: DIED) == {}


def test_the_rules_of_the_type_bound_the_crashes_of_a_dead_owner(desk):
    run = running(desk, owner="dead")
    assert desk.write(repairs.end_runs_of, "dead", lambda run: DIED, {"mail": Policy(max_crashes=1)}) == {
        "dead_letter": 1
    }
    assert get(desk, run.id).status == "dead_letter"


@pytest.mark.parametrize(
    ("make", "days"),
    [
        (ended, 7),
        (lambda desk: ended(desk, Abandoned()), 7),
        (lambda desk: ended(desk, REFUSED), 30),
    ],
    ids=["completed", "cancelled", "failed"],
)
def test_an_ended_job_is_kept_for_its_time_and_then_deleted(desk, clock, make, days):
    job_id = make(desk)
    clock.forward(days * DAY)
    assert desk.write(repairs.sweep_ended) == (0, None)
    clock.forward(1)
    assert desk.write(repairs.sweep_ended) == (1, None)
    with pytest.raises(NotFound):
        get(desk, job_id)


@pytest.mark.parametrize(
    "make",
    [dead, enqueue, parked, lambda desk: running(desk).id],
    ids=["dead_letter", "queued", "awaiting_auth", "in_progress"],
)
def test_what_waits_for_somebody_is_never_swept(desk, clock, make):
    job_id = make(desk)
    clock.forward(1_000 * DAY)
    assert desk.write(repairs.sweep_ended) == (0, None)
    assert get(desk, job_id).id == job_id


def test_retention_may_be_chosen_per_status(desk, clock):
    dead(desk)
    kept = ended(desk)
    clock.forward(HOUR)
    assert desk.write(repairs.sweep_ended, {"dead_letter": MINUTE}) == (1, None)
    assert get(desk, kept).status == "completed"


def test_a_sweep_goes_on_from_its_cursor(desk, clock):
    for _ in range(5):
        ended(desk)
    clock.forward(8 * DAY)
    deleted, cursor = desk.write(repairs.sweep_ended, window=2)
    assert (deleted, count(desk)) == (2, 3)
    deleted, cursor = desk.write(repairs.sweep_ended, after=cursor, window=2)
    assert (deleted, count(desk)) == (2, 1)
    assert desk.write(repairs.sweep_ended, after=cursor, window=2) == (1, None)


def test_a_job_whose_key_is_kept_longer_is_spared(desk, clock):
    kept = ended(desk, key="k", key_window=10 * 86_400)
    clock.forward(8 * DAY)
    assert desk.write(repairs.sweep_ended) == (0, None)
    clock.forward(3 * DAY)
    assert desk.write(repairs.sweep_ended) == (1, None)
    assert enqueue(desk, key="k", key_window=10 * 86_400) != kept


def test_one_lane_s_crash_does_not_touch_another_type(desk, clock):
    enqueue(desk, "image", queue="images")
    (image,) = claim(desk, Lane("images", "image"), lease_ms=HOUR)
    enqueue(desk)
    crash(desk, clock)
    assert get(desk, image.id).status == "in_progress"
    clock.forward(SECOND)
    assert finish(desk, image, RAISED) is True
