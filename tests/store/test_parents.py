"""Dependencies: a job waits until all its parents have completed, and ends with one that ends badly."""

from __future__ import annotations

import os

import pytest

from holdfast.engine import jobs
from holdfast.model.decide import decide
from holdfast.model.errors import BadInput, Conflict
from holdfast.model.lease import Lane
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.model.status import BLOCKED, Status
from holdfast.store.port import Ending, Order
from tests.store.families import blocked, child_of, children_of, due, end, parents_of, run_of
from tests.store.given import (
    CRASHED,
    DAY,
    DONE,
    FAILED,
    LEASE,
    MINUTE,
    NOON,
    RAISED,
    cancel,
    claim,
    dead,
    ended,
    enqueue,
    finish,
    get,
    insert,
    listed,
    news_of,
    recover,
    retry,
    running,
    status,
    write,
)  # fmt: skip
from tests.store.requests import ask, due_at, history

GENERATIONS = int(os.environ.get("HOLDFAST_GENERATIONS", "200"))


def test_a_child_is_due_when_its_parent_has_completed(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    assert (blocked(store, child), get(store, child).held, get(store, parent).children) == (1, BLOCKED, 1)
    assert due(store) == []
    end(store, parent, DONE)
    assert (blocked(store, child), get(store, child).held) == (0, 0)
    assert due(store) == [child]


def test_a_child_waits_for_all_of_its_parents(store):
    parents = [enqueue(store) for _ in range(3)]
    child = child_of(store, *parents)
    for number, parent in enumerate(parents):
        assert (blocked(store, child), due(store)) == (3 - number, [])
        end(store, parent, DONE)
    assert due(store) == [child]


def test_parents_that_end_in_one_batch_count_each_for_itself(store):
    first, second = enqueue(store), enqueue(store)
    child = child_of(store, first, second)
    endings = [_done(run) for run in claim(store)]
    assert write(store, lambda tx: tx.finish(endings)) == [True, True]
    assert (blocked(store, child), due(store)) == (0, [child])


def test_many_children_of_one_parent_are_let_go_at_once(store):
    parent = enqueue(store)
    children = [child_of(store, parent) for _ in range(20)]
    end(store, parent, DONE)
    assert sorted(due(store)) == sorted(children)
    assert get(store, parent).children == 20


def test_the_queue_of_a_child_that_was_let_go_is_told(store):
    first, second = running(store), running(store)
    child = child_of(store, first.id, second.id, queue="slow")
    assert "slow" not in news_of(store, lambda tx: tx.finish([_done(first)])).queues
    news = news_of(store, lambda tx: tx.finish([_done(second)]))
    assert "slow" in news.queues
    assert child in news.jobs


def test_a_child_takes_its_turn_from_when_it_was_let_go(store, clock):
    parent = enqueue(store)
    child, later = child_of(store, parent), child_of(store, parent, delay=3600)
    clock.forward(MINUTE)
    end(store, parent, DONE)
    assert due_at(store, child) == NOON + MINUTE
    assert due_at(store, later) == NOON + 60 * MINUTE
    assert due(store) == [child]


def test_a_retry_crash_or_release_of_a_parent_lets_nothing_go(store, clock):
    parent = enqueue(store)
    child = child_of(store, parent)
    finish(store, run_of(store, parent), RAISED)
    clock.forward(MINUTE)
    run_of(store, parent, lease_ms=1000)
    clock.forward(MINUTE)
    assert recover(store) == [True]
    assert (status(store, child), blocked(store, child)) == (Status.QUEUED, 1)


@pytest.mark.parametrize(("outcome", "reached"), [(FAILED, "failed"), (RAISED, "dead_letter")])
def test_a_child_ends_with_a_parent_that_ends_badly(store, outcome, reached):
    parent = enqueue(store, max_attempts=1)
    child = child_of(store, parent, key="k", key_window="active")
    news = news_of(store, lambda tx: tx.finish([_ending(run_of_tx(tx, parent), outcome)]))
    job = get(store, child)
    assert (job.status, job.error["code"], job.error["parent"]) == (Status.CANCELLED, "PARENT_FAILED", parent)
    assert job.error["message"] == f"job {parent}, which it waited for, ended {reached}"
    assert (job.completed_at is not None, job.idempotency_key) == (True, None)
    assert [(line["from_status"], line["to_status"], line["why"]) for line in history(store, child)] == [
        ("queued", "cancelled", "parent ended")
    ]
    assert child in news.jobs


def test_a_child_ends_with_a_parent_whose_crashes_are_exhausted(store):
    parent = running(store, max_attempts=1)
    child = child_of(store, parent.id)
    assert finish(store, parent, CRASHED)
    assert status(store, child) is Status.CANCELLED


@pytest.mark.parametrize("runs", [False, True])
def test_a_child_ends_with_a_parent_that_is_cancelled(store, runs):
    parent = enqueue(store)
    child = child_of(store, parent)
    if runs:
        run_of(store, parent)
    cancel(store, parent)
    assert (status(store, child), get(store, child).error["parent"]) == (Status.CANCELLED, parent)


def test_a_parent_that_is_cancelled_gracefully_may_still_complete(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    run = run_of(store, parent)
    cancel(store, parent, graceful=True)
    assert status(store, child) is Status.QUEUED
    finish(store, run, DONE)
    assert due(store) == [child]


def test_a_parent_that_gives_up_after_a_graceful_cancel_takes_its_children_along(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    run = run_of(store, parent)
    cancel(store, parent, graceful=True)
    finish(store, run, RAISED)
    assert (status(store, parent), status(store, child)) == (Status.CANCELLED, Status.CANCELLED)


def test_a_child_that_does_not_mind_runs_whatever_became_of_its_parent(store):
    bad, good = enqueue(store), enqueue(store)
    child = child_of(store, bad, good, on_parent="run")
    end(store, bad, FAILED)
    assert (status(store, child), blocked(store, child), due(store)) == (Status.QUEUED, 1, [])
    end(store, good, DONE)
    assert due(store) == [child]


def test_a_child_of_one_that_completed_and_one_that_failed_in_one_batch_is_cancelled_once(store):
    bad, good = enqueue(store), enqueue(store)
    child = child_of(store, bad, good)
    runs = {run.id: run for run in claim(store)}
    write(store, lambda tx: tx.finish([_done(runs[good]), _ending(runs[bad], FAILED)]))
    assert (status(store, child), len(history(store, child))) == (Status.CANCELLED, 1)


def test_a_chain_falls_to_its_last_job(store):
    chain = [enqueue(store)]
    for _ in range(GENERATIONS):
        chain.append(child_of(store, chain[-1]))
    end(store, chain[0], FAILED)
    assert {status(store, job_id) for job_id in chain[1:]} == {Status.CANCELLED}
    assert get(store, chain[-1]).error["parent"] == chain[-2]


def test_a_cancelled_child_stays_so_when_its_parent_completes(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    cancel(store, child)
    end(store, parent, DONE)
    assert (status(store, child), get(store, child).error["code"]) == (Status.CANCELLED, "CANCELLED")


# -- parents that have ended already


def test_a_parent_that_has_completed_is_not_waited_for(store):
    done, open_one = ended(store, DONE), enqueue(store)
    assert due_after(store, child_of(store, done))
    assert blocked(store, child_of(store, done, open_one)) == 1


def test_a_parent_that_has_ended_badly_cancels_a_new_child_at_once(store):
    failed = ended(store, FAILED)
    child, unmoved = child_of(store, failed, enqueue(store)), child_of(store, failed, on_parent="run")
    assert (status(store, child), get(store, child).error["parent"]) == (Status.CANCELLED, failed)
    assert due(store) == [unmoved]


@pytest.mark.parametrize("named", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense", "é", "'"])
def test_a_parent_that_is_not_there_is_refused_and_nothing_is_stored(store, named):
    parent = enqueue(store)
    before = len(listed(store))
    several = [NewJob("child", "{}"), NewJob("child", "{}", depends_on=[parent, named])]
    with pytest.raises(BadInput, match="nothing was stored") as refused:
        insert(store, *several)
    assert refused.value.code == "PARENT_NOT_FOUND"
    assert (len(listed(store)), get(store, parent).children) == (before, 0)


def test_a_parent_of_another_tenant_is_as_good_as_none(store):
    parent = enqueue(store, tenant="acme")
    for tenant in ("umbrella", ""):
        with pytest.raises(BadInput) as refused:
            child_of(store, parent, tenant=tenant)
        assert refused.value.code == "PARENT_NOT_FOUND"
    assert blocked(store, child_of(store, parent, tenant="acme")) == 1


def test_nothing_can_wait_for_itself_or_in_a_circle(store):
    """Only a new job is made to wait, and nobody knows the id of a job that is not there yet."""
    first = enqueue(store)
    second = child_of(store, first)
    assert (parents_of(store, first), parents_of(store, second)) == ([], [(first, "mail", "queued", True)])
    assert [one[0] for one in children_of(store, first)] == [second]


def test_several_children_are_made_in_one_call(store):
    first, second = enqueue(store), enqueue(store)
    made = insert(
        store,
        NewJob("child", "{}", depends_on=[first]),
        NewJob("child", "{}"),
        NewJob("child", "{}", depends_on=[second, first]),
    )
    assert [blocked(store, one.id) for one in made] == [1, 0, 2]
    assert (get(store, first).children, get(store, second).children) == (2, 1)


def test_a_duplicate_is_not_tied_again(store):
    first, second = enqueue(store), enqueue(store)
    child = child_of(store, first, key="k")
    assert child_of(store, second, key="k") == child
    assert [one[0] for one in parents_of(store, child)] == [first]


def test_a_parent_named_twice_counts_once(store):
    parent = enqueue(store)
    child = child_of(store, parent, parent)
    assert blocked(store, child) == 1


# -- newest wins


def test_who_waits_for_an_overtaken_job_waits_for_its_successor(store):
    first, _ = ask(store, sequence=1)
    child = child_of(store, first)
    run = run_of(store, first)
    second, _ = ask(store, sequence=2)
    finish(store, run, DONE)
    assert (status(store, first), status(store, child)) == (Status.CANCELLED, Status.QUEUED)
    assert parents_of(store, child) == [(second, "mail", "queued", True)]
    end(store, second, DONE)
    assert due(store) == [child]


def test_who_waits_for_both_waits_for_the_successor_alone(store):
    first, _ = ask(store, sequence=1)
    run = run_of(store, first)
    second, _ = ask(store, sequence=2)
    child = child_of(store, first, second)
    assert blocked(store, child) == 2
    finish(store, run, DONE)
    assert blocked(store, child) == 1
    end(store, second, DONE)
    assert due(store) == [child]


def test_a_new_child_of_an_overtaken_job_waits_for_the_last_successor(store):
    first, _ = ask(store, sequence=1)
    overtaken = [first]
    for sequence in (2, 3):
        run = run_of(store, overtaken[-1])
        overtaken.append(ask(store, sequence=sequence)[0])
        finish(store, run, DONE)
    child = child_of(store, first, overtaken[-1])
    assert [one[0] for one in parents_of(store, child)] == [overtaken[-1]]
    assert blocked(store, child) == 1


def test_a_new_child_of_an_overtaken_job_whose_successor_is_gone_is_cancelled(store):
    first, _ = ask(store, sequence=1)
    run = run_of(store, first)
    second, _ = ask(store, sequence=2)
    finish(store, run, DONE)
    end(store, second, DONE)
    write(store, lambda tx: tx.purge(second, "completed"))
    assert get(store, child_of(store, first)).error["parent"] == first


# -- a parent goes round again


def test_retrying_a_parent_revives_what_its_end_had_cancelled(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    grandchild = child_of(store, child)
    end(store, parent, FAILED)
    assert status(store, grandchild) is Status.CANCELLED
    news = news_of(store, lambda tx: tx.retry(parent))
    assert {child, grandchild} <= set(news.jobs)
    for job_id in (child, grandchild):
        job = get(store, job_id)
        assert (job.status, job.blocked, job.held, job.error, job.completed_at) == (
            Status.QUEUED, 1, BLOCKED, None, None,
        )  # fmt: skip
    assert history(store, child)[-1]["why"] == "parent retried"
    end(store, parent, DONE)
    assert due(store) == [child]
    end(store, child, DONE)
    assert due(store) == [grandchild]


def test_a_revived_child_waits_for_those_that_have_not_completed(store):
    bad, done, open_one = enqueue(store), enqueue(store), enqueue(store)
    child = child_of(store, bad, done, open_one)
    end(store, bad, FAILED)
    end(store, done, DONE)
    assert retry(store, bad)
    assert blocked(store, child) == 2
    for parent in (bad, open_one):
        assert due(store) == []
        end(store, parent, DONE)
    assert due(store) == [child]


def test_a_child_of_two_that_failed_is_revived_when_both_were_retried(store):
    first, second = enqueue(store), enqueue(store)
    child = child_of(store, first, second)
    end(store, first, FAILED)
    end(store, second, FAILED)
    assert retry(store, first)
    assert (status(store, child), get(store, child).error["parent"]) == (Status.CANCELLED, second)
    assert retry(store, second)
    assert (status(store, child), blocked(store, child)) == (Status.QUEUED, 2)
    for parent in (first, second):
        end(store, parent, DONE)
    assert due(store) == [child]


def test_what_a_person_cancelled_is_not_revived(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    cancel(store, child)
    end(store, parent, FAILED)
    assert retry(store, parent)
    assert status(store, child) is Status.CANCELLED


def test_a_child_that_went_on_without_its_parent_does_not_wait_for_it_again(store):
    parent, other = enqueue(store), enqueue(store)
    child = child_of(store, parent, other, on_parent="run")
    runs = {run.id: run for run in claim(store)}
    finish(store, runs[parent], FAILED)
    assert retry(store, parent)
    assert blocked(store, child) == 1
    finish(store, runs[other], DONE)
    assert due(store) == [child]
    end(store, parent, DONE)
    assert (blocked(store, child), due(store)) == (0, [child])


def test_a_child_enqueued_after_the_failure_is_revived_too(store):
    parent = dead(store)
    child = child_of(store, parent)
    assert retry(store, parent)
    assert (status(store, child), blocked(store, child)) == (Status.QUEUED, 1)
    end(store, parent, DONE)
    assert due(store) == [child]


# -- retention


def test_retention_spares_a_parent_until_its_children_have_ended(store, clock):
    parent, other = ended(store, DONE), enqueue(store)
    child = child_of(store, parent, other)
    clock.forward(30 * DAY)
    assert _sweep(store) == 0
    assert write(store, lambda tx: tx.purge(parent, "completed")) is False
    end(store, other, DONE)
    end(store, child, DONE)
    clock.forward(30 * DAY)
    assert _sweep(store) == 3
    assert parents_of(store, child) == children_of(store, parent) == []


def test_a_person_hears_who_still_waits_for_a_job_that_cannot_be_deleted(store):
    parent, other = ended(store, DONE), enqueue(store)
    child = child_of(store, parent, other)
    with pytest.raises(Conflict, match=child) as refused:
        write(store, lambda tx: jobs.purge(tx, parent))
    assert refused.value.code == "CHILDREN_WAIT"
    cancel(store, child)
    write(store, lambda tx: jobs.purge(tx, parent))
    with pytest.raises(Conflict) as refused:
        write(store, lambda tx: jobs.purge(tx, other))
    assert refused.value.code == "WRONG_STATUS"


def test_deleting_a_child_or_a_parent_unties_them(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    end(store, parent, FAILED)
    write(store, lambda tx: jobs.purge(tx, child))
    assert children_of(store, parent) == []
    second = child_of(store, parent)
    write(store, lambda tx: jobs.purge(tx, parent))
    assert parents_of(store, second) == []


def run_of_tx(tx, job_id):
    (run,) = tx.claim(Order("first", [Lane("default", "mail")], 1, LEASE))
    assert run.id == job_id
    return run


def due_after(store, child):
    return due(store) == [child]


def _ending(run, outcome):
    return Ending(run, decide(run, outcome, DEFAULT_POLICY, spread=0.0))


def _done(run):
    return _ending(run, DONE)


def _sweep(store):
    deleted, _ = write(store, lambda tx: tx.sweep_ended({"completed": 7 * DAY, "cancelled": 7 * DAY}, "", 100))
    return deleted
