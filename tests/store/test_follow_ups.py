"""Follow-ups: what a run asks to be done next is stored with its completion, in one transaction, or not at all."""

from __future__ import annotations

import pytest

from holdfast.model.decide import decide
from holdfast.model.lease import Lane
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Ending
from tests.store.families import due, parents_of
from tests.store.given import (
    CRASHED,
    DONE,
    FAILED,
    RAISED,
    cancel,
    claim,
    claim_one,
    enqueue,
    get,
    listed,
    running,
    status,
    write,
)  # fmt: skip
from tests.store.requests import ask

NEXT = NewJob("child", '{"step":2}')


def test_a_follow_up_is_stored_with_the_completion(store):
    run = running(store)
    assert _finish(store, _ending(run, DONE, NEXT)) == [True]
    (following,) = due(store)
    assert (status(store, run.id), get(store, following).payload) == (Status.COMPLETED, {"step": 2})


@pytest.mark.parametrize("outcome", [RAISED, FAILED, CRASHED])
def test_a_run_that_does_not_complete_leaves_none(store, outcome):
    run = running(store)
    assert _finish(store, _ending(run, outcome, NEXT)) == [True]
    assert listed(store, type="child") == []


def test_a_run_that_lost_its_lease_leaves_none(store):
    run = running(store)
    cancel(store, run.id)
    assert _finish(store, _ending(run, DONE, NEXT)) == [False]
    assert listed(store, type="child") == []


def test_a_run_that_completes_although_a_cancel_was_asked_for_leaves_its_follow_ups(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    assert _finish(store, _ending(run, DONE, NEXT)) == [True]
    assert len(listed(store, type="child")) == 1


def test_an_overtaken_run_leaves_none(store):
    first, _ = ask(store, sequence=1)
    run = claim_one(store)
    ask(store, sequence=2)
    assert _finish(store, _ending(run, DONE, NEXT)) == [True]
    assert (status(store, first), listed(store, type="child")) == (Status.CANCELLED, [])


def test_each_of_many_runs_leaves_its_own(store):
    for _ in range(5):
        enqueue(store)
    endings = [_ending(run, DONE, *[NEXT] * number) for number, run in enumerate(claim(store))]
    assert _finish(store, *endings) == [True] * 5
    assert len(due(store)) == 10


def test_a_run_whose_follow_up_cannot_be_stored_fails_and_takes_nobody_along(store):
    enqueue(store, "other", key="k")
    runs = [running(store), running(store)]
    clash = NewJob("child", '{"other":1}', key="k")
    assert _finish(store, _ending(runs[0], DONE, NEXT, clash), _ending(runs[1], DONE, NEXT)) == [True, True]
    refused, accepted = (get(store, run.id) for run in runs)
    assert (refused.status, refused.result, refused.error["code"]) == (Status.FAILED, None, "FOLLOW_UP_REFUSED")
    assert accepted.status is Status.COMPLETED
    assert len(due(store)) == 1


def test_a_follow_up_with_a_taken_key_is_the_job_that_has_it(store):
    known = enqueue(store, "child", '{"step":2}', key="k")
    run = running(store)
    assert _finish(store, _ending(run, DONE, NewJob("child", '{"step":2}', key="k"))) == [True]
    assert listed(store, type="child") == [known]


def test_a_follow_up_may_depend_on_the_job_that_asks_for_it(store):
    run = running(store)
    assert _finish(store, _ending(run, DONE, NewJob("child", "{}", depends_on=[run.id]))) == [True]
    (following,) = due(store)
    assert parents_of(store, following) == [(run.id, "mail", "completed", False)]


def test_a_follow_up_may_be_the_newest_of_its_key(store):
    waiting, _ = ask(store, '{"step":1}', kind="child")
    first, _ = ask(store, key="mine")
    run = claim_one(store)
    following = [
        NewJob("child", '{"step":2}', coalesce_key="doc"),
        NewJob("mail", "{}", coalesce_key="mine"),
    ]
    assert _finish(store, _ending(run, DONE, *following)) == [True]
    assert get(store, waiting).payload == {"step": 2}
    (again,) = claim(store, Lane("default", "mail"))
    assert again.id != first


def test_nothing_is_kept_free_on_the_disk_from_follow_ups(store):
    run = running(store)

    def ending(tx):
        if hasattr(tx, "_space"):
            tx._space = _full
        return tx.finish([_ending(run, DONE, NEXT)])

    assert write(store, ending) == [True]
    assert len(due(store)) == 1


def _full(_):
    raise AssertionError("the end of a run needs no free space")


def _ending(run, outcome, *following):
    return Ending(run, decide(run, outcome, DEFAULT_POLICY, spread=0.0), following)


def _finish(store, *endings):
    return write(store, lambda tx: tx.finish(endings))
