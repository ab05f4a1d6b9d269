from __future__ import annotations

import pytest

from holdfast.model.outcome import Abandoned
from holdfast.model.status import TERMINAL, Status
from tests.store.given import (
    DAY,
    DONE,
    FAILED,
    HOUR,
    LEASE,
    MINUTE,
    NEWEST,
    RAISED,
    cancel,
    claim_one,
    dead,
    ended,
    enqueue,
    finish,
    get,
    listed,
    retry,
    running,
    write,
)  # fmt: skip

WEEK = dict.fromkeys(map(str, TERMINAL), 7 * DAY)


def sweep(store, keep_ms=None, after="", window=100):
    return write(store, lambda tx: tx.sweep_ended(WEEK if keep_ms is None else keep_ms, after, window))


@pytest.mark.parametrize(("past", "left"), [(-1, 1), (0, 1), (1, 0)])
def test_an_ended_job_is_kept_for_its_time_and_no_longer(store, clock, past, left):
    ended(store, DONE)
    clock.forward(7 * DAY + past)
    assert sweep(store) == (1 - left, None)
    assert len(listed(store)) == left


def test_the_time_counts_from_the_end_not_from_the_start(store, clock):
    run = running(store)
    clock.forward(30 * DAY)
    finish(store, run, DONE)
    assert sweep(store) == (0, None)


@pytest.mark.parametrize("make", [dead, lambda s: ended(s, FAILED), lambda s: ended(s, Abandoned())])
def test_every_status_has_a_time_of_its_own(store, clock, make):
    job_id = make(store)
    status = str(get(store, job_id).status)
    clock.forward(2 * HOUR)
    assert sweep(store, WEEK | {status: 3 * HOUR}) == (0, None)
    assert sweep(store, WEEK | {status: HOUR}) == (1, None)


def test_a_status_without_a_time_is_kept_for_ever(store, clock):
    dead(store)
    clock.forward(1000 * DAY)
    assert sweep(store, {"completed": DAY}) == (0, None)


def test_jobs_that_have_not_ended_are_never_deleted(store, clock):
    waiting, held = enqueue(store, delay=1), running(store, "print").id
    clock.forward(1000 * DAY)
    assert sweep(store, dict.fromkeys(map(str, Status), 0)) == (0, None)
    assert set(listed(store)) == {waiting, held}


def test_a_job_sent_round_again_is_not_deleted(store, clock):
    job_id = dead(store)
    clock.forward(30 * DAY)
    retry(store, job_id)
    assert sweep(store) == (0, None)


def test_a_sweep_goes_on_window_by_window(store, clock):
    ids = [ended(store, DONE) for _ in range(5)]
    clock.forward(8 * DAY)
    count, after = sweep(store, window=2)
    assert (count, after) == (2, ids[1])
    count, after = sweep(store, after=after, window=2)
    assert (count, after) == (2, ids[3])
    assert sweep(store, after=after, window=2) == (1, None)
    assert listed(store) == []


def test_a_window_without_old_jobs_still_leads_on(store, clock):
    ids = [enqueue(store, "print") for _ in range(2)]
    ended(store, DONE)
    clock.forward(8 * DAY)
    assert sweep(store, window=2) == (0, ids[1])
    assert sweep(store, after=ids[1], window=2) == (1, None)


def test_a_deleted_job_takes_its_history_along(store, clock):
    job_id = ended(store, FAILED)
    assert store.read(lambda tx: tx.history(job_id))
    clock.forward(8 * DAY)
    sweep(store)
    assert store.read(lambda tx: tx.history(job_id)) == []


@pytest.mark.parametrize(("past", "left"), [(-1, 1), (0, 0), (1, 0)])
def test_retention_spares_a_key_while_its_period_runs(store, clock, past, left):
    ended(store, DONE, key="k", key_window=30 * DAY // 1000)
    clock.forward(30 * DAY + past)
    sweep(store)
    assert len(listed(store)) == left


def test_a_key_without_a_period_goes_with_its_row(store, clock):
    ended(store, DONE, key="k")
    ended(store, DONE, key="a", key_window="active")
    clock.forward(8 * DAY)
    assert sweep(store) == (2, None)


def test_a_purge_deletes_an_ended_job_and_its_history(store):
    job_id = dead(store)
    assert write(store, lambda tx: tx.purge(job_id, "dead_letter"))
    assert store.read(lambda tx: tx.get(job_id)) is None
    assert store.read(lambda tx: tx.history(job_id)) == []


def test_a_purge_leaves_a_job_that_has_moved_on(store):
    job_id = dead(store)
    retry(store, job_id)
    assert not write(store, lambda tx: tx.purge(job_id, "dead_letter"))
    assert store.read(lambda tx: tx.history(job_id))


@pytest.mark.parametrize("make", [enqueue, lambda store: running(store).id])
def test_a_purge_leaves_a_job_that_has_not_ended(store, make):
    job_id = make(store)
    now = str(get(store, job_id).status)
    assert not write(store, lambda tx: tx.purge(job_id, now))
    assert get(store, job_id).status == now


def test_a_clock_near_1970_keeps_everything(store, clock):
    clock.now = MINUTE
    ended(store, DONE)
    assert sweep(store, {"completed": DAY}) == (0, None)


def beat(store, name, **more):
    worker = {"id": name, "host": "h", "pid": 1, "lanes": '[["default","mail",1]]', "places": 10, "running": 0}
    write(store, lambda tx: tx.beat(worker | more))


def names(store, since=0):
    return [worker["id"] for worker in store.read(lambda tx: tx.workers(since))]


def test_a_worker_is_known_from_its_first_beat(store, clock):
    beat(store, "w1")
    started = clock.now
    clock.forward(MINUTE)
    beat(store, "w1", running=3, places=20, lanes="[]")
    (worker,) = store.read(lambda tx: tx.workers(0))
    assert (worker["id"], worker["host"], worker["pid"]) == ("w1", "h", 1)
    assert (worker["running"], worker["places"], worker["lanes"]) == (3, 20, [])
    assert worker["started_at"] < worker["seen_at"]
    assert names(store, since=started + 1) == ["w1"]
    assert names(store, since=clock.now + 1) == []


def test_workers_not_heard_of_are_forgotten(store, clock):
    beat(store, "old")
    clock.forward(HOUR)
    beat(store, "new")
    write(store, lambda tx: tx.forget(workers_ms=HOUR, figures_ms=DAY, audit_ms=DAY))
    assert names(store) == ["new", "old"]
    clock.forward(1)
    write(store, lambda tx: tx.forget(workers_ms=HOUR, figures_ms=DAY, audit_ms=DAY))
    assert names(store) == ["new"]


def test_a_worker_can_say_goodbye(store):
    beat(store, "stays")
    beat(store, "leaves")
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY, worker="leaves"))
    assert names(store) == ["stays"]


def test_old_figures_are_forgotten(store, clock):
    ended(store, DONE)
    clock.forward(HOUR)
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=HOUR, audit_ms=DAY))
    assert store.read(lambda tx: tx.figures(0))
    clock.forward(MINUTE)
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=HOUR, audit_ms=DAY))
    assert store.read(lambda tx: tx.figures(0)) == []


def test_a_cancelled_job_is_swept_after_its_time(store, clock):
    cancel(store, enqueue(store))
    clock.forward(7 * DAY + 1)
    assert sweep(store) == (1, None)


def test_a_job_waiting_for_its_retry_is_not_swept(store, clock):
    ended(store, RAISED)
    clock.forward(30 * DAY)
    assert sweep(store) == (0, None)
    assert claim_one(store, lease_ms=LEASE).attempts == 2
    assert len(listed(store, NEWEST)) == 1
