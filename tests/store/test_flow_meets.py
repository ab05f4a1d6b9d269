"""What ties jobs together meets: parents, limits, groups, parked jobs, batches and follow-ups, on every store."""

from __future__ import annotations

import pytest

from holdfast.engine import cancels, jobs, leases, parking, pauses
from holdfast.engine.desk import Desk
from holdfast.model.batch import ItemEnd
from holdfast.model.decide import decide
from holdfast.model.lease import Lane
from holdfast.model.outcome import Parked, Snoozed, Stopped, Unstarted
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Ending
from tests.store.given import (
    DONE,
    FAILED,
    HOUR,
    RAISED,
    cancel,
    claim_one,
    enqueue,
    finish,
    get,
    listed,
    retry,
    running,
    status,
    write,
)  # fmt: skip
from tests.store.limited import limit, take
from tests.store.test_batches import chunked, single, store_items

ONE = ["site:a"]


@pytest.fixture
def one_at_a_time(store):
    limit(store, "site", concurrency=1)
    return store


def taken(store):
    return [run.id for run in take(store)]


def test_a_child_stands_in_line_once_its_parent_has_completed(one_at_a_time):
    store = one_at_a_time
    parent = running(store, "parent")
    child = enqueue(store, limits=ONE, depends_on=[parent.id])
    assert taken(store) == []
    finish(store, parent, DONE)
    assert taken(store) == [child]


def test_a_child_that_comes_back_with_its_parent_stands_in_line_again(one_at_a_time):
    store = one_at_a_time
    parent = running(store, "parent")
    child = enqueue(store, limits=ONE, depends_on=[parent.id])
    finish(store, parent, FAILED)
    assert status(store, child) is Status.CANCELLED
    retry(store, parent.id)
    assert taken(store) == []
    finish(store, claim_one(store, Lane("default", "parent")), DONE)
    assert taken(store) == [child]


def test_a_parked_job_holds_no_unit_and_stands_in_line_when_it_goes_on(one_at_a_time):
    store = one_at_a_time
    first, second = (enqueue(store, limits=ONE) for _ in range(2))
    (run,) = take(store)
    finish(store, run, Parked("log in", None, "k", HOUR))
    (other,) = take(store)
    assert [run.id, other.id] == [first, second]
    write(store, lambda tx: parking.resume(tx, first, actor="ann"))
    assert taken(store) == []
    finish(store, other, DONE)
    assert taken(store) == [first]


def test_a_cancelled_run_keeps_its_unit_until_its_handler_has_stopped(one_at_a_time):
    store = one_at_a_time
    enqueue(store, limits=ONE)
    second = enqueue(store, limits=ONE)
    (run,) = take(store)
    cancel(store, run.id)
    assert taken(store) == []
    assert write(store, lambda tx: tx.stopped([(run.id, run.token)])) == 1
    assert taken(store) == [second]


def test_the_units_of_a_cancelled_group_go_to_others(one_at_a_time):
    store = one_at_a_time
    enqueue(store, limits=ONE, group="g")
    enqueue(store, limits=ONE, group="g")
    other = enqueue(store, limits=ONE)
    (run,) = take(store)
    told = cancels.cancel(Desk(store), "g")
    assert (told["cancelled"], taken(store)) == (2, [])
    write(store, lambda tx: tx.stopped([(run.id, run.token)]))
    assert taken(store) == [other]


def test_a_group_that_is_cancelled_gracefully_lets_its_run_keep_its_unit(one_at_a_time):
    store = one_at_a_time
    enqueue(store, limits=ONE, group="g")
    other = enqueue(store, limits=ONE)
    (run,) = take(store)
    assert cancels.cancel(Desk(store), "g", mode="graceful")["asked"] == 1
    assert taken(store) == []
    finish(store, run, DONE)
    assert taken(store) == [other]


def test_jobs_of_a_group_that_is_resumed_stand_in_line(one_at_a_time):
    store = one_at_a_time
    desk = Desk(store)
    pauses.pause_group(desk, "g", "ann")
    held = enqueue(store, limits=ONE, group="g")
    assert taken(store) == []
    pauses.resume_group(desk, "g")
    assert taken(store) == [held]


def followed(store, run, *asked):
    move = decide(run, DONE, DEFAULT_POLICY, spread=0.0)
    return write(store, lambda tx: tx.finish([Ending(run, move, asked)]))


def test_what_a_run_asks_for_is_born_cancelled_if_its_group_was_cancelled_since_it_began(store):
    run = running(store, group="g")
    cancels.cancel(Desk(store), "g", mode="graceful")
    assert followed(store, run, NewJob("next", "{}", group="g"), NewJob("elsewhere", "{}")) == [True]
    ended = {get(store, job_id).type: status(store, job_id) for job_id in listed(store)}
    assert ended == {"mail": Status.COMPLETED, "next": Status.CANCELLED, "elsewhere": Status.QUEUED}


def test_so_is_what_it_asks_for_at_once(store, clock):
    run = running(store, group="g")
    clock.forward(10)
    cancels.cancel(Desk(store), "g", types=["next"])
    for kind, reached in (("next", Status.CANCELLED), ("other", Status.QUEUED)):
        asked = NewJob(kind, "{}", group="g")
        ((job_id, outcome),) = write(store, lambda tx, asked=asked: jobs.follow(tx, [asked], run))
        assert (outcome, status(store, job_id)) == ("created", reached)
    clock.forward(10)
    later = running(store, "later", group="g")
    ((job_id, _),) = write(store, lambda tx: jobs.follow(tx, [NewJob("next", "{}", group="g")], later))
    assert status(store, job_id) is Status.QUEUED


def test_requests_of_a_run_may_be_the_newest_of_a_key_or_hold_one(store):
    run = running(store)
    asked = [
        NewJob("next", "{}", coalesce_key="c"),
        NewJob("next", "{}", coalesce_key="c"),
        NewJob("mail", "{}", key="k"),
        NewJob("mail", "{}", key="k"),
    ]
    told = write(store, lambda tx: jobs.follow(tx, asked, run))
    assert [outcome for _, outcome in told] == ["created", "replaced", "created", "duplicate"]


@pytest.mark.parametrize("outcome", [Unstarted(), Stopped(), Snoozed(0), RAISED, Parked("log in", None, "k", HOUR)])
def test_an_item_that_goes_on_does_not_count_beside_one_that_has_ended(store, outcome):
    batch = single(store, 2)
    first, second = take(store, limit=2)
    ends = [(first, DONE), (second, outcome)]
    write(store, lambda tx: leases.finish(tx, ends))
    seen = store.read(lambda tx: tx.batch(batch))
    assert (seen.done, seen.failed, seen.ended_at) == (1, 0, None)


def test_a_chunk_that_goes_on_does_not_count_beside_a_job_that_has_ended(store):
    batch = chunked(store, 3)
    enqueue(store)
    runs = take(store, limit=2)
    write(store, lambda tx: leases.finish(tx, [(run, Unstarted() if run.batch else DONE) for run in runs]))
    assert store.read(lambda tx: tx.batch(batch)).failed == 0


def test_what_an_item_asks_for_is_stored_with_it(store):
    chunked(store, 2)
    (run,) = take(store)
    asked = (NewJob("next", "{}"),)
    taken_key = (NewJob("next", "{}", key="mine"),)
    enqueue(store, "other", key="mine")
    assert store_items(
        store, run, ItemEnd(0, "done", "1", follow_ups=asked), ItemEnd(1, "done", "1", follow_ups=taken_key)
    )
    found = {get(store, job_id).type for job_id in listed(store)}
    assert found == {"mail", "next", "other"}
    items = store.read(lambda tx: tx.items(run.batch, after=-1, limit=10, failed=False))
    assert [item["status"] for item in items] == ["done", "failed"]
    assert items[1]["error"]["code"] == "FOLLOW_UP_REFUSED"
