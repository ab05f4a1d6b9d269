"""Jobs that ran in a process that died, and what a supervisor sees of its leases."""

from __future__ import annotations

import pytest

from holdfast.model.failure import Failure
from holdfast.model.held import ALONE
from holdfast.model.lease import Lane
from holdfast.model.outcome import Crashed, Suspected, Unstarted
from holdfast.model.status import Status
from holdfast.store.port import Hold, Order
from tests.store.given import (
    DONE,
    FAILED,
    LEASE,
    MAIL,
    NOON,
    SECOND,
    cancel,
    claim,
    claim_one,
    ended,
    enqueue,
    finish,
    get,
    retry,
    running,
    write,
)  # fmt: skip

DIED = Failure("WorkerDied", "exit 139", "WORKER_DIED")
SUSPECTED = Suspected(DIED)


def claim_alone(store, *lanes, limit=1):
    return write(store, lambda tx: tx.claim_alone(Order("alone", lanes or (MAIL,), limit, LEASE)))


def test_a_suspect_is_claimed_for_a_process_of_its_own_only(store):
    job_id = ended(store, SUSPECTED)
    job = get(store, job_id)
    assert (job.status, job.held, job.attempts, job.crashed) == (Status.QUEUED, ALONE, 0, 0)
    assert claim(store) == []
    (run,) = claim_alone(store)
    assert (run.id, run.attempts, run.token, run.lease_owner) == (job_id, 1, 2, "alone")
    assert get(store, job_id).held == ALONE  # until the run has ended by itself


def test_suspects_are_taken_by_priority_then_time(store):
    ids = [enqueue(store, priority=priority) for priority in (9, 5, 5, 1)]
    for run in claim(store, limit=4):
        finish(store, run, SUSPECTED)
    turns = [claim_alone(store)[0].id for _ in range(4)]
    assert turns == [ids[3], ids[1], ids[2], ids[0]]


def test_a_crash_alone_counts(store):
    ended(store, SUSPECTED)
    (run,) = claim_alone(store)
    finish(store, run, Crashed(DIED, alone=True))
    job = get(store, run.id)
    assert (job.crashed, job.attempts, job.held) == (1, 1, ALONE)


def test_a_suspect_that_completes_is_done(store):
    ended(store, SUSPECTED)
    (run,) = claim_alone(store)
    assert finish(store, run, DONE)
    assert get(store, run.id).status is Status.COMPLETED


def test_a_suspect_that_is_handed_back_unstarted_is_still_a_suspect(store):
    ended(store, SUSPECTED)
    (run,) = claim_alone(store)
    finish(store, run, Unstarted())
    assert get(store, run.id).held == ALONE


def test_plain_jobs_are_not_claimed_alone(store):
    enqueue(store)
    assert claim_alone(store) == []


def test_suspects_come_by_their_time_due_up_to_a_limit(store, clock):
    first, second = ended(store, SUSPECTED), None
    clock.forward(SECOND)
    second = ended(store, SUSPECTED)
    assert [run.id for run in claim_alone(store, limit=1)] == [first]
    assert [run.id for run in claim_alone(store, limit=5)] == [second]


def test_suspects_of_other_lanes_do_not_stand_in_the_way(store):
    for _ in range(15):
        ended(store, SUSPECTED, kind="unknown")
    mine = ended(store, SUSPECTED)
    assert [run.id for run in claim_alone(store, MAIL, Lane("gpu", "mail"))] == [mine]


def test_suspects_of_a_paused_queue_wait(store):
    ended(store, SUSPECTED)
    write(store, lambda tx: tx.pause("default", "ann"))
    assert claim_alone(store) == []


@pytest.mark.parametrize("outcome", [FAILED])
def test_a_person_can_end_or_retry_a_suspect(store, outcome):
    job_id = ended(store, SUSPECTED)
    assert cancel(store, job_id) == "queued"
    (run,) = claim_alone_after(store)
    finish(store, run, outcome)
    assert retry(store, run.id)
    assert (get(store, run.id).held, claim_one(store).id) == (0, run.id)


def claim_alone_after(store):
    ended(store, SUSPECTED)
    return claim_alone(store)


def test_a_supervisor_sees_the_leases_of_its_processes(store, clock):
    enqueue(store)
    (run,) = claim(store, owner="host:1/child-1")
    clock.forward(SECOND)
    cancel(store, run.id, graceful=True)
    (hold,) = store.read(lambda tx: tx.held("host:1"))
    assert hold == Hold(run.id, run.token, "host:1/child-1", NOON + LEASE, NOON, True)
    assert store.read(lambda tx: tx.held("host:2")) == []
    assert [each.id for each in store.read(lambda tx: tx.held_by("host:1"))] == [run.id]


@pytest.mark.parametrize("other", ["host:1/child-", "host", "host:1/child-11", "host:1/child-1/"])
def test_the_leases_of_a_namesake_are_left_alone(store, other):
    enqueue(store)
    claim(store, owner="host:1/child-1")
    assert store.read(lambda tx: tx.held_by(other)) == []
    assert store.read(lambda tx: tx.held(other)) == []


def test_an_empty_name_stands_for_everyone(store):
    run = running(store)
    assert [each.id for each in store.read(lambda tx: tx.held(""))] == [run.id]


def test_letters_that_are_patterns_elsewhere_stand_for_themselves(store):
    running(store)
    assert store.read(lambda tx: tx.held_by("%")) == []
    assert store.read(lambda tx: tx.held("f_rst")) == []


def test_the_store_tells_its_time(store, clock):
    clock.forward(SECOND)
    assert store.now() == NOON + SECOND


def next_alone(store):
    return store.read(lambda tx: tx.next_alone())


def test_when_the_next_suspect_comes_due_is_known_beforehand(store, clock):
    enqueue(store, delay=1)
    assert next_alone(store) is None, "a plain job is no suspect"
    ended(store, SUSPECTED)
    assert next_alone(store) is None, "it is due already"
    assert store.read(lambda tx: tx.next_alone(due_too=True)) == clock.now
    for _ in range(2):  # the first crash alone is tried again at once, the second later
        (run,) = claim_alone(store)
        finish(store, run, Crashed(DIED, alone=True))
    due = next_alone(store)
    assert due is not None
    assert due > clock.now
    clock.forward(due - clock.now)
    assert next_alone(store) is None
    assert claim_alone(store) != []


def test_what_waits_to_run_alone_is_counted_with_the_rest(store):
    for _ in range(3):
        finish(store, running(store, queue="gpu"), SUSPECTED)
    enqueue(store, queue="gpu")
    assert store.read(lambda tx: tx.depth("gpu", 100)) == 4
    assert store.read(lambda tx: tx.depth("gpu", 2)) == 2
    waiting = store.read(lambda tx: tx.overview(100))["waiting"]
    assert sorted(row[:4] for row in waiting) == [("gpu", "mail", 1, 1), ("gpu", "mail", 1, 3)]
    assert [row[3] for row in store.read(lambda tx: tx.overview(2))["waiting"]] == [1, 2]
