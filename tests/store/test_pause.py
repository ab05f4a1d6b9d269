from __future__ import annotations

from holdfast.model.lease import Lane
from tests.store.given import (
    DONE,
    LEASE,
    MAIL,
    NOON,
    cancel,
    claim,
    claim_one,
    enqueue,
    finish,
    news_of,
    recover,
    running,
    write,
)  # fmt: skip


def pause(store, queue="default"):
    return write(store, lambda tx: tx.pause(queue, "ann"))


def resume(store, queue="default"):
    return write(store, lambda tx: tx.resume(queue))


def test_nothing_is_claimed_from_a_paused_queue(store):
    enqueue(store)
    assert pause(store)
    assert claim(store) == []


def test_other_queues_go_on(store):
    enqueue(store)
    job_id = enqueue(store, queue="gpu")
    pause(store)
    assert [run.id for run in claim(store, MAIL, Lane("gpu", "mail"))] == [job_id]


def test_claims_go_on_after_a_resume(store):
    job_id = enqueue(store)
    pause(store)
    assert resume(store)
    assert claim_one(store).id == job_id


def test_a_queue_is_paused_once_and_resumed_once(store):
    assert pause(store)
    assert not pause(store)
    assert resume(store)
    assert not resume(store)


def test_what_runs_goes_on_in_a_paused_queue(store):
    run = running(store)
    pause(store)
    assert write(store, lambda tx: tx.renew([(run.id, run.token)], LEASE)) == [True]
    assert finish(store, run, DONE)


def test_a_paused_queue_takes_new_jobs_and_lets_them_be_cancelled(store):
    pause(store)
    assert cancel(store, enqueue(store)) == "queued"


def test_the_watchdog_works_in_a_paused_queue(store, clock):
    running(store)
    pause(store)
    clock.forward(LEASE + 1)
    assert recover(store) == [True]
    assert claim(store) == []


def test_a_paused_queue_has_no_next_due_time(store):
    enqueue(store, delay=60)
    pause(store)
    assert store.read(lambda tx: tx.next_due([MAIL])) is None
    resume(store)
    assert store.read(lambda tx: tx.next_due([MAIL])) == NOON + 60_000


def test_a_pause_is_seen_by_every_store(store, other):
    enqueue(store)
    pause(other)
    assert claim(store) == []


def test_a_resume_wakes_its_queue(store):
    pause(store)
    assert news_of(store, lambda tx: tx.resume("default")).queues == {"default"}
