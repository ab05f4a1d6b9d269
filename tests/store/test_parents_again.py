"""A parent goes round again, and its children with it; retention spares a parent while it is needed."""

from __future__ import annotations

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import Conflict
from holdfast.model.held import BLOCKED
from holdfast.model.status import Status
from tests.store.families import blocked, child_of, children_of, due, end, parents_of
from tests.store.given import (
    DAY,
    DONE,
    FAILED,
    cancel,
    claim,
    dead,
    ended,
    enqueue,
    finish,
    get,
    news_of,
    retry,
    status,
    write,
)  # fmt: skip
from tests.store.requests import history


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


def _sweep(store):
    deleted, _ = write(store, lambda tx: tx.sweep_ended({"completed": 7 * DAY, "cancelled": 7 * DAY}, "", 100))
    return deleted
