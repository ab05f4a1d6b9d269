"""Dependencies: a job waits until all its parents have completed, and ends with one that ends badly."""

from __future__ import annotations

import os

import pytest

from holdfast.model.errors import BadInput
from holdfast.model.held import BLOCKED
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from tests.store.families import blocked, child_of, children_of, done, due, end, ending, parents_of, run_in, run_of
from tests.store.given import (
    CRASHED,
    DONE,
    FAILED,
    MINUTE,
    NOON,
    RAISED,
    cancel,
    claim,
    ended,
    enqueue,
    finish,
    get,
    insert,
    listed,
    news_of,
    recover,
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
    endings = [done(run) for run in claim(store)]
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
    assert "slow" not in news_of(store, lambda tx: tx.finish([done(first)])).queues
    news = news_of(store, lambda tx: tx.finish([done(second)]))
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
    news = news_of(store, lambda tx: tx.finish([ending(run_in(tx, parent), outcome)]))
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
    write(store, lambda tx: tx.finish([done(runs[good]), ending(runs[bad], FAILED)]))
    assert (status(store, child), len(history(store, child))) == (Status.CANCELLED, 1)


def test_a_chain_falls_to_its_last_job(store):
    chain = [enqueue(store)]
    for _ in range(GENERATIONS):
        chain.append(child_of(store, chain[-1]))
    end(store, chain[0], FAILED)
    assert {status(store, job_id) for job_id in chain[1:]} == {Status.CANCELLED}
    assert get(store, chain[-1]).error["parent"] == chain[-2]


def test_a_longer_chain_takes_no_more_statements(store, monkeypatch):
    asked = []
    kind = store.read(type)
    for name in ("run", "change"):
        plain = getattr(kind, name)
        monkeypatch.setattr(
            kind, name, lambda tx, query, plain=plain, **more: asked.append(query) or plain(tx, query, **more)
        )
    counts = []
    for length in (3, 30):
        chain = [enqueue(store)]
        for _ in range(length):
            chain.append(child_of(store, chain[-1]))
        asked.clear()
        cancel(store, chain[0])
        counts.append(sum(query.startswith("parents_") for query in asked))
    assert counts[0] == counts[1], asked


def test_a_cancelled_child_stays_so_when_its_parent_completes(store):
    parent = enqueue(store)
    child = child_of(store, parent)
    cancel(store, child)
    end(store, parent, DONE)
    assert (status(store, child), get(store, child).error["code"]) == (Status.CANCELLED, "CANCELLED")


# -- parents that have ended already


def test_a_parent_that_has_completed_is_not_waited_for(store):
    done, open_one = ended(store, DONE), enqueue(store)
    ready = child_of(store, done)
    assert due(store) == [ready]
    assert blocked(store, child_of(store, done, open_one)) == 1


def test_a_parent_that_has_ended_badly_cancels_a_new_child_at_once(store):
    failed = ended(store, FAILED)
    child = child_of(store, failed, enqueue(store), key="k", key_window="active")
    unmoved = child_of(store, failed, on_parent="run")
    assert (status(store, child), get(store, child).error["parent"]) == (Status.CANCELLED, failed)
    assert get(store, child).idempotency_key is None
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


def test_jobs_with_other_ties_wait_for_nobody(store):
    parent = enqueue(store)
    made = insert(store, NewJob("child", "{}", limits=["one"]), NewJob("child", "{}", depends_on=[parent]))
    assert [blocked(store, one.id) for one in made] == [0, 1]
    assert blocked(store, enqueue(store, "child", limits=["one"])) == 0


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
