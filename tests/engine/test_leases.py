"""Workers at the desk: endings and new work in one commit, and nothing without the token."""

from __future__ import annotations

import pytest

from holdfast.engine import jobs, leases
from holdfast.model.backoff import Backoff
from holdfast.model.failure import Failure
from holdfast.model.lease import Lane
from holdfast.model.outcome import Suspected
from holdfast.model.policy import Policy
from holdfast.store.port import Order
from tests.engine.given import (
    DAY,
    DONE,
    HOUR,
    MAIL,
    MINUTE,
    RAISED,
    REFUSED,
    SECOND,
    claim,
    count,
    enqueue,
    finish,
    get,
    running,
)  # fmt: skip

IMAGES = Lane("images", "image")


def order(limit=10, *lanes, owner="first"):
    return Order(owner, lanes or (MAIL,), limit, MINUTE)


def exchange(desk, ended=(), *orders, policies=None):
    return desk.write(leases.exchange, ended, orders, policies)


def test_endings_and_claims_share_one_commit(desk):
    run, waiting = running(desk), enqueue(desk)
    commits = []
    desk.listeners.append(commits.append)
    got = exchange(desk, [(run, DONE)], order())
    assert got.accepted == [True]
    assert [[one.id for one in runs] for runs in got.claims] == [[waiting]]
    assert len(commits) == 1


def test_an_error_in_the_claim_takes_the_endings_back(desk):
    run = running(desk)
    with pytest.raises(AttributeError):
        desk.write(leases.exchange, [(run, DONE)], [None])
    assert get(desk, run.id).status == "in_progress"


def test_a_job_that_goes_back_may_be_taken_again_in_the_same_commit(desk):
    run = running(desk)
    at_once = Policy(backoff=Backoff(base_ms=0, cap_ms=0, jitter_ms=0))
    got = exchange(desk, [(run, RAISED)], order(), policies={"mail": at_once})
    assert [one.id for one in got.claims[0]] == [run.id]
    assert got.claims[0][0].attempts == 2


def test_each_order_gets_its_own_jobs(desk):
    mail, image = enqueue(desk), enqueue(desk, "image", queue="images")
    got = exchange(desk, [], order(10, MAIL), order(10, IMAGES))
    assert [[one.id for one in runs] for runs in got.claims] == [[mail], [image]]


def test_a_worker_may_hand_in_endings_without_asking_for_work(desk):
    run = running(desk)
    enqueue(desk)
    got = exchange(desk, [(run, DONE)])
    assert (got.accepted, got.claims, got.next_due) == ([True], [], None)
    assert get(desk, run.id).status == "completed"


def test_a_worker_that_came_back_short_learns_when_more_is_due(desk, clock):
    enqueue(desk, delay=90)
    assert exchange(desk, [], order()).next_due == clock.now + 90 * SECOND


def test_a_worker_whose_order_was_filled_is_not_told_when_more_is_due(desk):
    enqueue(desk)
    enqueue(desk, delay=90)
    assert exchange(desk, [], order(1)).next_due is None


def test_a_lost_lease_is_told_apart_from_its_neighbours(desk):
    kept, lost = running(desk), running(desk)
    desk.write(jobs.cancel, lost.id)
    got = exchange(desk, [(lost, DONE), (kept, DONE)], order())
    assert got.accepted == [False, True]
    assert [get(desk, run.id).status for run in (lost, kept)] == ["cancelled", "completed"]


def test_a_run_is_finished_once(desk):
    run = running(desk)
    assert finish(desk, run, DONE) is True
    assert finish(desk, run, REFUSED) is False
    assert get(desk, run.id).status == "completed"


def test_the_rules_of_the_type_decide_the_ending(desk, clock):
    run = running(desk)
    finish(desk, run, RAISED, Policy(backoff=Backoff(base_ms=HOUR, cap_ms=DAY, jitter_ms=0)))
    job = get(desk, run.id)
    assert (job.status, job.failed) == ("queued", 1)
    assert job.scheduled_at.timestamp() * 1000 == clock.now + 2 * HOUR


def test_a_type_without_rules_of_its_own_goes_by_the_default(desk, clock):
    run = running(desk)
    assert desk.write(leases.finish, [(run, RAISED)]) == [True]
    wait = get(desk, run.id).scheduled_at.timestamp() * 1000 - clock.now
    assert 2 * SECOND <= wait <= 3 * SECOND


def test_a_lease_is_renewed_while_the_token_matches(desk, clock):
    run = running(desk)
    clock.forward(2 * MINUTE)  # expired is not lost
    assert desk.write(leases.renew, [(run.id, run.token), (run.id, run.token + 1)], MINUTE) == [True, False]
    assert get(desk, run.id).lease_until.timestamp() * 1000 == clock.now + MINUTE


def test_progress_needs_the_token(desk):
    run = running(desk)
    assert desk.write(leases.progress, run.id, run.token, '{"done":1}') is True
    assert desk.write(leases.progress, run.id, run.token + 1, '{"done":9}') is False
    assert get(desk, run.id).progress == {"done": 1}


def test_claims_come_best_first_and_count_an_attempt(desk):
    late, early = enqueue(desk, priority=9), enqueue(desk, priority=1)
    runs = claim(desk)
    assert [run.id for run in runs] == [early, late]
    assert [run.attempts for run in runs] == [1, 1]
    assert count(desk) == 2


def test_a_suspect_is_taken_by_who_asks_for_those_that_run_alone(desk):
    run = running(desk)
    desk.write(leases.finish, [(run, Suspected(Failure("WorkerDied", "it died", "WORKER_DIED")))])
    assert claim(desk) == []
    (alone,) = desk.write(leases.claim_alone, order())
    assert (alone.id, alone.attempts) == (run.id, 1)
    assert [hold.id for hold in desk.read(leases.held, "first")[0]] == [run.id]


def test_when_the_next_job_comes_due_that_runs_alone(desk, clock):
    assert desk.read(leases.next_solo, (MAIL,)) is None
    enqueue(desk, delay=60)
    assert desk.read(leases.next_solo, (MAIL,)) == 60.0
    assert desk.read(leases.next_solo, ()) is None  # others take it
    desk.write(lambda tx: tx.execute("update job_queue set held = 1"))
    assert desk.read(leases.next_solo, ()) == 60.0
