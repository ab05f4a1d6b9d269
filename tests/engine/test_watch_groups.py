"""Waiting for the next change of a group: nothing is missed, and ten thousand who wait cost a handful of reads.

Full size: HOLDFAST_WAITERS=10000 pytest -s tests/engine/test_watch_groups.py
"""

from __future__ import annotations

import asyncio
import gc
import threading
from functools import partial
from time import monotonic

import pytest

from holdfast.engine import groups, jobs, pauses
from holdfast.engine.watch import Watch
from holdfast.model.errors import BadInput
from holdfast.model.news import News
from holdfast.model.request import NewJob
from tests.engine.given import DONE, LONG, claim, enqueue, finish, in_threads, running
from tests.engine.test_watch import never_looks_by_itself, subscribed  # noqa: F401  # a fixture
from tests.patience import within
from tests.stories.crew import size, tell

G = ("", "g")


@pytest.fixture
def watch(desk):
    return Watch(desk)


def version(desk, key="g"):
    return desk.read(groups.progress, key)["version"]


class Reads:
    """How many reads the store has done."""

    def __init__(self, desk):
        self.number = 0
        self._read = desk.store.read
        desk.store.read = self

    def __call__(self, call):
        self.number += 1
        return self._read(call)


def test_a_waiter_is_woken_by_the_next_change_of_any_job(never_looks_by_itself, desk, watch):  # noqa: F811
    run = running(desk, group="g")
    for change in (
        lambda: enqueue(desk, group="g"),
        lambda: finish(desk, run, DONE),
        lambda: pauses.pause_group(desk, "g", "ann"),
        lambda: pauses.resume_group(desk, "g"),
    ):
        woken, _ = in_threads(
            partial(watch.wait, G, version(desk), LONG), lambda change=change: (subscribed(watch, 1), change())
        )
        assert woken is True


def test_a_change_that_came_before_is_not_missed(desk, watch):
    before = version(desk)
    enqueue(desk, group="g")
    assert watch.wait(G, before, LONG) is True


def test_a_group_that_does_not_change_wakes_nobody(desk, watch):
    enqueue(desk, group="g")
    enqueue(desk, group="other")
    assert watch.wait(G, version(desk), 0.2) is False
    assert (dict(watch._waiters), dict(watch._marks), watch._known, watch._dirty) == ({}, {}, {}, set())


def test_a_change_made_by_another_process_is_found_by_looking(desk, other, watch):
    woken, _ = in_threads(
        partial(watch.wait, G, version(desk), LONG), lambda: (subscribed(watch, 1), enqueue(other, group="g"))
    )
    assert woken is True


def test_a_claim_which_nobody_tells_of_is_found_by_looking(desk, watch):
    enqueue(desk, group="g")
    woken, _ = in_threads(partial(watch.wait, G, version(desk), LONG), lambda: (subscribed(watch, 1), claim(desk)))
    assert woken is True


def test_what_others_tell_counts_their_groups(desk, watch):
    """News as an ear hands them on: of a group, of everything, of others."""
    in_threads(partial(watch.wait, G, "another", LONG))
    waiter = in_threads(
        partial(watch.wait, G, version(desk), 0.3),
        lambda: (
            subscribed(watch, 1),
            [watch._concerns(_news(*marks)) for marks in (("00000000",), ("*",))],
        ),
    )
    assert waiter[1][1] == [False, True]


def _news(*marks):
    news = News()
    news.groups.update(marks)
    return news


async def test_no_wake_up_is_lost_in_a_race_of_coroutines(never_looks_by_itself, desk, watch):  # noqa: F811
    async def wait_and_change(key):
        waiting = asyncio.ensure_future(watch.await_change(("", key), version(desk, key), LONG))
        await desk.awrite(jobs.enqueue, [_new(key)])
        return await waiting

    for batch in range(5):
        woken = await asyncio.gather(*(wait_and_change(f"g{batch}-{number}") for number in range(20)))
        assert woken == [True] * 20


def _new(key):
    return NewJob("mail", "{}", group=key)


async def test_a_busy_group_is_counted_at_most_every_50_ms(desk, watch):
    reads = Reads(desk)
    begin = monotonic()
    end = begin + 1.0

    async def follow():
        seen, woken = "", 0
        while monotonic() < end:
            woken += await watch.await_change(G, seen, 1.0)
            seen = (await watch.groups.read("g"))["version"]
        return woken

    async def change():
        while monotonic() < end:
            await desk.awrite(jobs.enqueue, [_new("g")])
            await asyncio.sleep(0.001)

    *woken, _ = await asyncio.gather(*(follow() for _ in range(50)), change())
    took = monotonic() - begin
    assert min(woken) >= 3
    assert reads.number <= 2 * (took / 0.05 + 2), "a look and a shared answer for each, however many follow"


async def test_a_waiter_who_comes_right_after_a_count_needs_none_of_his_own(never_looks_by_itself, desk, watch):  # noqa: F811
    enqueue(desk, group="g")
    now = version(desk)
    first = asyncio.ensure_future(watch.await_change(G, now, LONG))
    await asyncio.sleep(0)
    subscribed(watch, 1)
    await asyncio.to_thread(_counted, watch)
    reads = Reads(desk)
    watch._known[G] = (now, monotonic() + LONG)
    assert await watch.await_change(G, "older", LONG) is True
    late = [asyncio.ensure_future(watch.await_change(G, now, LONG)) for _ in range(100)]
    await asyncio.sleep(0.02)
    assert reads.number == 0
    await desk.awrite(jobs.enqueue, [_new("g")])
    assert await asyncio.gather(first, *late) == [True] * 101
    assert reads.number == 1


def _counted(watch):
    ticker = threading.Event()
    while G not in watch._known:
        ticker.wait(0.002)


async def test_groups_outlast_a_store_that_is_away_for_a_while(desk, watch, monkeypatch):
    monkeypatch.setattr("holdfast.engine.watch.LONGEST_PAUSE", 0.05)
    now = version(desk)
    read = desk.store.read
    away = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fail(call):
        loop.call_soon_threadsafe(away.set)
        raise OSError("the disk is away")

    desk.store.read = fail
    waiting = asyncio.ensure_future(watch.await_change(G, now, LONG))
    await away.wait()
    desk.store.read = read
    await desk.awrite(jobs.enqueue, [_new("g")])
    assert await waiting is True


async def test_waiters_are_told_when_the_store_is_closed(desk, watch):
    waiting = asyncio.ensure_future(watch.await_change(G, version(desk), LONG))
    await asyncio.sleep(0)
    subscribed(watch, 1)
    desk.close()
    watch.wake()
    assert await waiting is True


async def test_those_who_share_a_read_share_its_error(desk, watch):
    answers = await asyncio.gather(*(watch.groups.read("") for _ in range(3)), return_exceptions=True)
    assert {type(answer) for answer in answers} == {BadInput}
    assert watch.groups._readers == {}


async def test_one_who_leaves_a_shared_read_does_not_take_it_from_the_others(desk, watch):
    for key in ("g", ""):
        leaver, other = (asyncio.ensure_future(watch.groups.read(key)) for _ in range(2))
        await asyncio.sleep(0)
        leaver.cancel()
        (answer,) = await asyncio.gather(other, return_exceptions=True)
        assert isinstance(answer, dict if key else BadInput)


def test_groups_that_nobody_waits_for_are_forgotten(desk, watch, monkeypatch):
    monkeypatch.setattr("holdfast.engine.watch._MOST_PACED", 5)
    for number in range(20):
        watch._pace([("", f"g{number}")], float(number), 0.5)
    assert len(watch._next_at) <= 7


async def _wake(number, wait, change):
    """Seconds until each of so many coroutines goes on, sorted, from when the change was told of."""
    woken: list[float] = []

    async def one(place):
        await wait(place)
        woken.append(monotonic())

    tasks = [asyncio.create_task(one(place)) for place in range(number)]
    everyone = asyncio.gather(*tasks)
    told = await change()
    await everyone
    return sorted(at - told for at in woken)


async def _bare(number):
    """The same with nothing but futures: what the event loop itself needs."""
    loop = asyncio.get_running_loop()
    futures = [loop.create_future() for _ in range(number)]

    async def change():
        await asyncio.sleep(0.1)
        told = monotonic()
        for future in futures:
            future.set_result(True)
        return told

    return await _wake(number, lambda place: futures[place], change)


@pytest.mark.slow
@pytest.mark.parametrize("many", [1, 100], ids=["one job", "100 groups"])
async def test_ten_thousand_waiters_are_woken_at_once_by_a_few_reads(desk, watch, many):
    """Delays are counted inside each waiter, from the commit on."""
    number = size("HOLDFAST_WAITERS", 2_000)
    reads, told = Reads(desk), []
    desk.listeners.insert(0, lambda _: told.append(monotonic()))
    rounds = []
    for turn in range(6):
        ids = [enqueue(desk, group=f"g{turn}-{place}") for place in range(many)]
        subjects = [(ids[0], 1)]
        if many > 1:
            subjects = [(("", f"g{turn}-{place}"), version(desk, f"g{turn}-{place}")) for place in range(many)]
        reads.number = 0
        subscribing: list[int] = []

        async def change(ids=ids, subscribing=subscribing):
            await asyncio.to_thread(subscribed, watch, number)
            # A busy machine counted slowly, and rests the longer before it counts again.
            await asyncio.sleep(max(0.2, max(watch._next_at.values(), default=0.0) - monotonic()))
            subscribing.append(reads.number)
            reads.number = 0
            await desk.awrite(_cancel_all, ids)
            return told[-1]

        async def wait(place, subjects=subjects):
            subject, since = subjects[place % many]
            assert await watch.await_change(subject, since, LONG) is True

        gc.collect()
        gc.freeze()
        delays = await _wake(number, wait, change)
        gc.unfreeze()
        assert len(delays) == number
        assert reads.number <= within(3), "one look, and two that were under way"
        assert subscribing[0] <= within(max(40, number // 50))
        rounds.append((delays[number * 99 // 100], delays[number // 2], reads.number, subscribing[0]))
    bare = min([(await _bare(number))[number * 99 // 100] for _ in range(3)])
    p99, p50, looks, subscribing_looks = min(rounds)
    figures = {
        "waiters": number, "p50_ms": round(p50 * 1000, 1), "p99_ms": round(p99 * 1000, 1), "reads": looks,
        "reads_while_subscribing": subscribing_looks, "bare_event_loop_p99_ms": round(bare * 1000, 1),
    }  # fmt: skip
    tell(f"waiters on {'one job' if many == 1 else '100 groups'}", figures)
    assert p99 < max(0.05, 3 * bare + 0.02), figures  # a busy machine needs longer for any ten thousand coroutines


def _cancel_all(tx, ids):
    tx.cancel_many(ids, graceful=False, error=jobs.CANCELLED, actor=None)
