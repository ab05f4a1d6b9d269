"""Waiting for the next change of a job: nothing is missed, and many waiters cost one query."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from time import monotonic

import pytest

from holdfast.engine import jobs, leases
from holdfast.engine.watch import Watch
from tests.engine.given import DONE, LONG, ended, enqueue, finish, get, in_threads, open_desk, running


@pytest.fixture
def watch(desk):
    return Watch(desk)


def cancel(desk, job_id):
    return desk.write(jobs.cancel, job_id)


def subscribed(watch, number):
    """Waits until so many waiters are there: a fact, seen by looking."""
    ticker = threading.Event()
    for _ in range(int(LONG / 0.002)):
        if sum(map(len, list(watch._waiters.values()))) == number:
            return
        ticker.wait(0.002)
    raise AssertionError(f"{watch._waiters} are not {number} waiters")


def test_a_waiter_is_woken_by_the_next_change(desk, watch):
    job_id = enqueue(desk)
    woken, _ = in_threads(partial(watch.wait, job_id, 1, LONG), partial(cancel, desk, job_id))
    assert woken is True


def test_a_change_that_came_before_is_not_missed(desk, watch):
    job_id = enqueue(desk)
    cancel(desk, job_id)
    assert watch.wait(job_id, 1, LONG) is True


def test_a_waiter_whose_job_does_not_change_is_told_when_its_time_is_over(desk, watch):
    assert watch.wait(enqueue(desk), 1, 0.05) is False
    assert dict(watch._waiters) == {}


def test_a_change_up_to_the_known_version_wakes_nobody(desk, watch):
    job_id = enqueue(desk)
    cancel(desk, job_id)
    assert watch.wait(job_id, 2, 0.05) is False


@pytest.fixture
def never_looks_by_itself(monkeypatch):
    """Only being told wakes the watching thread: one lost wake-up, and the test waits for ever."""
    monkeypatch.setattr("holdfast.engine.watch.SHORTEST_PAUSE", 2 * LONG)
    monkeypatch.setattr("holdfast.engine.watch.LONGEST_PAUSE", 2 * LONG)


def test_no_wake_up_is_lost_in_a_race(never_looks_by_itself, desk, watch):
    """The change lands before, during and after the subscription, two hundred times."""
    ids = [enqueue(desk) for _ in range(200)]
    turns = threading.Barrier(2)
    woken = []

    def waiter():
        for job_id in ids:
            turns.wait(LONG)
            woken.append(watch.wait(job_id, 1, LONG))

    def changer():
        for number, job_id in enumerate(ids):
            turns.wait(LONG)
            for _ in range(number % 20 * 50):
                pass
            cancel(desk, job_id)

    in_threads(waiter, changer)
    assert woken == [True] * 200


async def test_no_wake_up_is_lost_in_a_race_of_coroutines(never_looks_by_itself, desk, watch):
    ids = [enqueue(desk) for _ in range(200)]

    async def wait_and_change(job_id):
        waiting = asyncio.ensure_future(watch.await_change(job_id, 1, LONG))
        await desk.awrite(jobs.cancel, job_id)
        return await waiting

    for batch in range(0, 200, 20):
        assert await asyncio.gather(*map(wait_and_change, ids[batch : batch + 20])) == [True] * 20


def test_many_waiters_are_looked_after_by_one_query_each_time(never_looks_by_itself, desk, watch):
    ids = [enqueue(desk) for _ in range(100)]
    looks, read = [], desk.store.read

    def counted(call):
        looks.append(1)
        return read(call)

    desk.store.read = counted
    works = [partial(watch.wait, job_id, 1, LONG) for job_id in ids]

    def change():
        subscribed(watch, 100)
        before = len(looks)
        desk.write(lambda tx: [jobs.cancel(tx, job_id) for job_id in ids])
        return before

    *woken, before = in_threads(*works, change)
    assert woken == [True] * 100
    assert len(looks) - before <= 3


def test_waiters_of_one_job_are_all_woken(desk, watch):
    job_id = enqueue(desk)

    def change():
        subscribed(watch, 10)
        cancel(desk, job_id)

    *woken, _ = in_threads(*([partial(watch.wait, job_id, 1, LONG)] * 10), change)
    assert woken == [True] * 10


def test_a_change_made_by_another_process_is_found_by_looking(desk, other, watch):
    job_id = enqueue(desk)

    def change():
        subscribed(watch, 1)
        cancel(other, job_id)

    woken, _ = in_threads(partial(watch.wait, job_id, 1, LONG), change)
    assert woken is True


def test_progress_is_a_change(desk, watch):
    run = running(desk)
    show = partial(desk.write, leases.progress, run.id, run.token, '{"done":1}')
    woken, _ = in_threads(partial(watch.wait, run.id, 2, LONG), show)
    assert woken is True


def test_a_renewal_is_no_change(desk, watch):
    run = running(desk)
    desk.write(leases.renew, [(run.id, run.token)], 60_000)
    assert watch.wait(run.id, get(desk, run.id).version, 0.05) is False


def test_waiters_outlast_a_store_that_is_away_for_a_while(desk, watch):
    job_id = enqueue(desk)
    read, away = desk.store.read, threading.Event()

    def fail(call):
        away.set()
        raise OSError("the disk is away")

    def come_back():
        assert away.wait(LONG)
        desk.store.read = read
        cancel(desk, job_id)

    desk.store.read = fail
    woken, _ = in_threads(partial(watch.wait, job_id, 1, LONG), come_back)
    assert woken is True


async def test_a_cancelled_waiter_leaves_nothing_behind(desk, watch):
    waiting = asyncio.ensure_future(watch.await_change(enqueue(desk), 1, LONG))
    await asyncio.sleep(0)
    subscribed(watch, 1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert dict(watch._waiters) == {}


async def test_a_coroutine_is_told_when_its_time_is_over(desk, watch):
    assert await watch.await_change(enqueue(desk), 1, 0.05) is False


def test_a_waiter_whose_loop_was_closed_does_not_stop_the_others(desk, watch):
    gone, kept = enqueue(desk), enqueue(desk)
    loop = asyncio.new_event_loop()
    task = loop.create_task(watch.await_change(gone, 1, LONG))
    loop.run_until_complete(asyncio.sleep(0))
    subscribed(watch, 1)
    loop.close()  # with the waiter still on it
    task._log_destroy_pending = False

    def change():
        subscribed(watch, 2)
        desk.write(lambda tx: [jobs.cancel(tx, gone), jobs.cancel(tx, kept)])

    woken, _ = in_threads(partial(watch.wait, kept, 1, 5), change)
    assert woken is True
    task.get_coro().close()


def test_a_waiter_of_a_job_that_was_deleted_is_woken(desk, watch):
    job_id = ended(desk)
    version = get(desk, job_id).version

    def delete():
        subscribed(watch, 1)
        desk.write(jobs.purge, job_id)

    woken, _ = in_threads(partial(watch.wait, job_id, version, 5), delete)
    assert woken is True, "it would have waited for a job that can never change again"


def test_waiters_are_told_when_the_application_is_closed(tmp_path):
    desk = open_desk(tmp_path)
    watch, job_id = Watch(desk), enqueue(desk)

    def close():
        subscribed(watch, 1)
        desk.close()

    begun = monotonic()
    in_threads(partial(watch.wait, job_id, 1, 60), close)
    assert monotonic() - begun < 30, "it waited on for a store that will never answer"


def test_the_watching_thread_is_started_again_when_it_is_gone(desk, watch):
    job_id = enqueue(desk)
    watch.wait(job_id, 1, 0.01)
    watch._thread = None  # as after a fork, or a long time without waiters
    cancel(desk, job_id)
    assert watch.wait(job_id, 1, LONG) is True


def test_a_signal_from_elsewhere_makes_it_look_at_once(never_looks_by_itself, desk, other, watch):
    job_id = enqueue(desk)

    def change():
        subscribed(watch, 1)
        cancel(other, job_id)
        watch.wake()

    woken, _ = in_threads(partial(watch.wait, job_id, 1, LONG), change)
    assert woken is True


def test_a_finish_wakes_whoever_waits_for_the_result(desk, watch):
    run = running(desk)
    woken, _ = in_threads(partial(watch.wait, run.id, 2, LONG), partial(finish, desk, run, DONE))
    assert woken is True
