"""Batches: counts, items, jobs of their own, and one callback when all have ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.engine import batches
from holdfast.model.batch import ItemEnd, NewBatch, callback_text
from holdfast.model.errors import BadInput, HoldfastError, KeyConflict, NotFound
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from tests.store.given import (
    DAY,
    DONE,
    FAILED,
    MAIL,
    MINUTE,
    RAISED,
    cancel,
    claim,
    claim_one,
    enqueue,
    finish,
    get,
    recover,
    retry,
    write,
)

REPORT = Lane("default", "report")
PROGRESS = '{"done": 1, "total": 3, "message": "", "items": {"done": 1, "failed": 0, "own": 0}}'
ERROR = '{"class":"ValueError","message":"no","code":"HANDLER_ERROR"}'
_ids = iter(range(10_000))


def new_batch(total: int, **more: Any) -> NewBatch:
    told = {
        "pattern": NewJob("mail", "", group="shop"),
        "digest": "d",
        "callback": callback_text(NewJob("report", "{}")),
    }
    return NewBatch(id=f"{next(_ids):026}", total=total, **told | more)


def chunk_text(first: int, count: int) -> str:
    return json.dumps({"items": [[number, {"n": number}] for number in range(first, first + count)]})


def chunked(store: Any, *sizes: int, **more: Any) -> str:
    """The id of a batch with chunks of these sizes."""
    firsts = [sum(sizes[:place]) for place in range(len(sizes))]
    jobs = [NewJob("mail", chunk_text(first, size), group="shop") for first, size in zip(firsts, sizes, strict=True)]
    batch = new_batch(sum(sizes), **more)
    return write(store, lambda tx: tx.add_batch(batch, jobs, [None] * len(jobs)))[0]


def single(store: Any, count: int, **options: Any) -> str:
    """The id of a batch whose items are jobs."""
    jobs = [NewJob("mail", f'{{"n":{number}}}', **options) for number in range(count)]
    batch = new_batch(count)
    return write(store, lambda tx: tx.add_batch(batch, jobs, list(range(count))))[0]


def counts(store: Any, batch_id: str) -> tuple[int, int, int]:
    found = store.read(lambda tx: tx.batch(batch_id))
    return found.done, found.failed, found.running


def cancelled(store: Any, batch_id: str) -> int:
    return store.read(lambda tx: tx.batch(batch_id)).cancelled


def ended(store: Any, batch_id: str) -> bool:
    return store.read(lambda tx: tx.batch(batch_id)).ended_at is not None


def items(store: Any, batch_id: str, *, failed: bool = False) -> list[tuple[int, str]]:
    found, _ = store.read(lambda tx: batches.items(tx, batch_id, failed=failed))
    return [(item["number"], item["status"]) for item in found]


def store_items(store: Any, run: Any, *ends: ItemEnd, progress: str = PROGRESS) -> bool:
    return write(store, lambda tx: tx.store_items(run, ends, progress))


def callbacks(store: Any) -> int:
    return len(claim(store, REPORT, owner="reporter"))


def done(number: int) -> ItemEnd:
    return ItemEnd(number, "done", '{"ok":true}')


def own(number: int, wait_ms: int = 0) -> ItemEnd:
    return ItemEnd(number, "own", None, ERROR, f'{{"n":{number}}}', wait_ms, 1, 1)


def test_a_batch_ends_with_its_last_item_and_calls_back_once(store):
    batch = chunked(store, 2, 1)
    first, second = claim(store)
    assert (first.batch, first.item, get(store, first.id).batch) == (batch, None, batch)
    assert store_items(store, first, done(0), done(1))
    assert counts(store, batch) == (1, 0, 2)  # as its progress says, which the worker wrote
    finish(store, first, DONE)
    assert counts(store, batch) == (2, 0, 1)
    assert not ended(store, batch)
    assert store_items(store, second, ItemEnd(2, "failed", error=ERROR))
    finish(store, second, DONE)
    assert counts(store, batch) == (2, 1, 0)
    found = store.read(lambda tx: batches.get(tx, batch))
    (report,) = claim(store, REPORT)
    assert (found.callback_job, found.percent) == (report.id, 100.0)
    assert found.as_json()["running"] == 0
    assert items(store, batch) == [(0, "done"), (1, "done"), (2, "failed")]
    assert items(store, batch, failed=True) == [(2, "failed")]
    assert callbacks(store) == 0


def test_what_an_item_returned_and_raised_is_kept(store):
    batch = chunked(store, 2)
    run = claim_one(store)
    assert store_items(store, run, done(0), ItemEnd(1, "failed", error=ERROR))
    (well, badly), following = store.read(lambda tx: batches.items(tx, batch, limit=2))
    assert (well["result"], well["error"], well["job"]) == ({"ok": True}, None, run.id)
    assert (badly["result"], badly["error"]) == (None, json.loads(ERROR))
    assert following == 1
    assert store.read(lambda tx: batches.items(tx, batch, after=1)) == ([], None)


def test_an_item_that_failed_becomes_a_job_like_its_chunk(store, clock):
    batch = chunked(store, 2)
    run = claim_one(store)
    assert store_items(store, run, done(0), own(1, wait_ms=MINUTE))
    finish(store, run, DONE)
    assert counts(store, batch) == (1, 0, 1)
    assert items(store, batch) == [(0, "done")]
    assert claim(store) == []
    clock.forward(MINUTE)
    alone = claim_one(store)
    assert (alone.batch, alone.item, alone.attempts, alone.failed) == (batch, 1, 2, 1)
    assert (alone.payload, alone.group, alone.max_attempts) == ('{"n":1}', "shop", run.max_attempts)
    assert get(store, alone.id).error == json.loads(ERROR)
    finish(store, alone, RAISED)
    assert counts(store, batch) == (1, 0, 1)  # it has an attempt left
    clock.forward(MINUTE)
    finish(store, claim_one(store), DONE)
    assert counts(store, batch) == (2, 0, 0)
    assert callbacks(store) == 1


def test_an_item_may_end_before_its_chunk(store):
    batch = chunked(store, 2)
    run = claim_one(store)
    assert store_items(store, run, own(0))
    finish(store, claim_one(store), DONE)
    assert items(store, batch) == [(0, "done")]
    assert store_items(store, run, done(1))
    finish(store, run, DONE)
    assert counts(store, batch) == (2, 0, 0)
    assert callbacks(store) == 1


def test_whoever_lost_the_lease_stores_no_item(store, clock):
    batch = chunked(store, 2)
    run = claim_one(store, lease_ms=MINUTE)
    assert store_items(store, run, done(0))
    clock.forward(2 * MINUTE)
    assert recover(store) == [True]
    assert not store_items(store, run, own(1))
    assert items(store, batch) == [(0, "done")]
    again = claim_one(store)
    assert (again.id, again.crashed) == (run.id, 1)
    assert store.read(lambda tx: tx.stored_items(batch, 0, 1)) == {0: ("done", run.id)}
    assert store_items(store, again, done(1))
    assert store_items(store, again, done(1))  # an answer that was lost on its way makes nothing twice
    finish(store, again, DONE)
    assert counts(store, batch) == (2, 0, 0)


@pytest.mark.parametrize("begun", [True, False])
def test_items_of_a_cancelled_chunk_that_never_ran_are_cancelled(store, begun):
    batch = chunked(store, 3)
    job_id = store.read(lambda tx: tx.list_jobs({}, "~", 1))[0][0].id
    if begun:
        run = claim_one(store)
        assert store_items(store, run, done(0))
    cancel(store, job_id)
    assert counts(store, batch) == ((1, 0, 0) if begun else (0, 0, 0))
    assert cancelled(store, batch) == (2 if begun else 3)
    assert {status for _, status in items(store, batch)} == ({"done", "cancelled"} if begun else {"cancelled"})
    assert callbacks(store) == 1


@pytest.mark.parametrize("outcome", [FAILED, RAISED])
def test_a_dead_chunk_can_be_sent_round_again_and_calls_back_no_second_time(store, outcome):
    job = NewJob("mail", chunk_text(0, 3), max_attempts=1)
    batch = new_batch(3)
    write(store, lambda tx: tx.add_batch(batch, [job], [None]))
    run = claim_one(store)
    assert store_items(store, run, done(0))
    finish(store, run, outcome)
    assert counts(store, batch.id) == (1, 2, 0)
    assert callbacks(store) == 1
    assert retry(store, run.id)
    assert counts(store, batch.id) == (0, 0, 3)
    again = claim_one(store)
    assert store_items(store, again, done(1), done(2))
    finish(store, again, DONE)
    assert counts(store, batch.id) == (3, 0, 0)
    assert callbacks(store) == 0


def test_a_retried_item_is_counted_anew(store):
    batch = single(store, 2, max_attempts=1)
    first, second = claim(store)
    finish(store, first, DONE)
    finish(store, second, RAISED)
    assert counts(store, batch) == (1, 1, 0)
    assert callbacks(store) == 1
    assert retry(store, second.id)
    assert counts(store, batch) == (1, 0, 1)
    finish(store, claim_one(store), DONE)
    assert counts(store, batch) == (2, 0, 0)
    assert items(store, batch) == [(0, "done"), (1, "done")]
    assert callbacks(store) == 0


def test_a_retry_that_is_refused_changes_no_count(store):
    batch = single(store, 1)
    run = claim_one(store)
    finish(store, run, DONE)
    assert not retry(store, run.id)
    assert counts(store, batch) == (1, 0, 0)


def test_items_that_are_jobs_end_with_them(store):
    batch = single(store, 3)
    runs = claim(store)
    assert [run.item for run in runs] == [0, 1, 2]
    finish(store, runs[0], DONE)
    finish(store, runs[1], FAILED)
    cancel(store, runs[2].id)
    assert (counts(store, batch), cancelled(store, batch)) == ((1, 1, 0), 1)
    assert items(store, batch) == [(0, "done"), (1, "failed"), (2, "cancelled")]
    assert callbacks(store) == 1


def test_an_empty_batch_has_ended_and_calls_back(store):
    batch = single(store, 0)
    assert ended(store, batch)
    assert store.read(lambda tx: batches.get(tx, batch)).percent == 100.0
    assert callbacks(store) == 1


def test_a_batch_needs_no_callback(store):
    batch = chunked(store, 1, callback=None)
    run = claim_one(store)
    store_items(store, run, done(0))
    finish(store, run, DONE)
    assert store.read(lambda tx: batches.get(tx, batch)).callback_job is None
    assert ended(store, batch)


def test_a_callback_keeps_its_options(store):
    asked = NewJob("report", '{"a":1}', queue="slow", priority=2, delay=1.5, group="g", max_attempts=7, timeout=9)
    batch = new_batch(0, callback=callback_text(asked))
    write(store, lambda tx: tx.add_batch(batch, [], []))
    job = get(store, store.read(lambda tx: tx.batch(batch.id)).callback_job)
    assert (job.type, job.payload, job.queue, job.priority) == ("report", {"a": 1}, "slow", 2)
    assert (job.group, job.max_attempts, job.timeout_ms) == ("g", 7, 9000)
    assert (job.scheduled_at - job.created_at).total_seconds() == 1.5


def test_a_callback_with_a_date_and_a_limit_keeps_them(store):
    asked = NewJob("report", "{}", scheduled_at="2030-01-01T00:00:00Z", limits=["site"])
    batch = new_batch(0, callback=callback_text(asked))
    write(store, lambda tx: tx.add_batch(batch, [], []))
    job = get(store, store.read(lambda tx: tx.batch(batch.id)).callback_job)
    assert job.scheduled_at.year == 2030


@pytest.mark.parametrize("more", [{"key": "k"}, {"coalesce_key": "k"}, {"depends_on": ["01JHQ8Y3M0G5V7T2K4N6P8R0SD"]}])
def test_a_callback_that_might_not_be_stored_is_refused(more):
    with pytest.raises(BadInput):
        callback_text(NewJob("report", "{}", **more))


def test_the_same_key_answers_the_same_batch(store):
    batch = new_batch(1, key="import-1")
    job = NewJob("mail", chunk_text(0, 1))
    assert write(store, lambda tx: tx.add_batch(batch, [job], [None])) == (batch.id, True)
    again = new_batch(1, key="import-1")
    assert write(store, lambda tx: tx.add_batch(again, [job], [None])) == (batch.id, False)
    assert len(claim(store)) == 1
    for other in (new_batch(1, key="import-1", digest="e"), new_batch(1, key="import-1", pattern=NewJob("post", ""))):
        with pytest.raises(KeyConflict, match="import-1"):
            write(store, lambda tx, other=other: tx.add_batch(other, [job], [None]))


def test_cancelling_a_batch_ends_all_that_has_not(store):
    batch = chunked(store, 2, 2)
    run = claim_one(store)
    store_items(store, run, done(0), own(1))
    assert write(store, lambda tx: batches.cancel(tx, batch)) == (3, False)
    assert (counts(store, batch), cancelled(store, batch)) == ((1, 0, 0), 3)
    assert not finish(store, run, DONE)
    assert write(store, lambda tx: batches.cancel(tx, batch)) == (0, False)
    assert callbacks(store) == 1


def test_a_batch_is_cancelled_piece_by_piece(store):
    batch = single(store, 3)
    error = ERROR
    for left in (True, False):
        assert write(store, lambda tx: tx.cancel_batch(batch, limit=2, tenant=None, error=error))[1] is left
    assert (counts(store, batch), cancelled(store, batch)) == ((0, 0, 0), 3)
    assert write(store, lambda tx: tx.cancel_batch("none", limit=2, tenant=None, error=error)) == (0, False)


def test_batches_are_listed_newest_first_and_by_tenant(store):
    first = chunked(store, 1)
    second = new_batch(0, pattern=NewJob("mail", "", tenant="acme"))
    write(store, lambda tx: tx.add_batch(second, [], []))
    assert [one.id for one in store.read(batches.list_batches)[0]] == [second.id, first]
    assert [one.id for one in store.read(lambda tx: batches.list_batches(tx, tenant="acme"))[0]] == [second.id]
    assert store.read(lambda tx: batches.list_batches(tx, limit=1))[1] == second.id
    assert store.read(lambda tx: batches.get(tx, second.id, "acme")).id == second.id
    for wrong in ("acme", "0" * 26, "ü"):
        with pytest.raises(NotFound):
            store.read(lambda tx, wrong=wrong: batches.get(tx, first if wrong == "acme" else wrong, "acme"))
    with pytest.raises(HoldfastError):
        store.read(lambda tx: batches.get(tx, 7))
    with pytest.raises(BadInput):
        store.read(lambda tx: batches.list_batches(tx, limit=0))


def test_watchers_hear_of_a_batch(store):
    batch = single(store, 1)
    (version, status), *_ = store.read(lambda tx: tx.batch_versions([batch, "none"])).values()
    run = claim_one(store)
    finish(store, run, DONE)
    (later, now), *_ = store.read(lambda tx: tx.batch_versions([batch])).values()
    assert (status, now) == ("running", "ended")
    assert later > version


def test_counts_outlive_the_jobs_and_go_after_thirty_days(store, clock):
    batch = single(store, 2)
    for run in claim(store):
        finish(store, run, DONE)

    def sweep():
        write(store, lambda tx: tx.sweep_ended({"completed": 7 * DAY}, "", 100))
        write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY))

    clock.forward(29 * DAY)
    sweep()
    assert counts(store, batch) == (2, 0, 0)
    assert items(store, batch) == [(0, "done"), (1, "done")]
    clock.forward(2 * DAY)
    sweep()
    assert store.read(lambda tx: tx.batch(batch)) is None
    assert store.read(lambda tx: tx.items(batch, after=-1, limit=9, failed=False)) == []


def test_a_batch_that_has_not_ended_is_kept(store, clock):
    batch = single(store, 1)
    clock.forward(99 * DAY)
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY))
    assert counts(store, batch) == (0, 0, 1)


def test_jobs_of_no_batch_count_nowhere(store):
    run_id = enqueue(store)
    batch = single(store, 1)
    cancel(store, run_id)
    plain = enqueue(store, "other")
    finish(store, claim_one(store, Lane("default", "other")), DONE)
    assert get(store, plain).status is Status.COMPLETED
    assert counts(store, batch) == (0, 0, 1)
    assert claim_one(store, MAIL).batch == batch
