"""Races for one job or one key, begun at the same instant by threads with connections of their own, on both stores.

Full size: HOLDFAST_RACES=10000 pytest -s tests/stories/test_races.py
"""

from __future__ import annotations

import threading
from collections import Counter
from random import Random

import pytest

from holdfast.model.lease import Lane
from holdfast.model.outcome import Stopped
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Order
from tests.store.conftest import open_store  # noqa: F401  # a fixture
from tests.store.given import CRASHED, DONE, FAILED, LEASE, RAISED, cancel, enqueue, finish, get, insert, write
from tests.stories.crew import size, tell

pytestmark = pytest.mark.slow

ACTORS = 4
MAIL = (Lane("default", "mail"),)


class Clock:
    def __init__(self) -> None:
        self.now = 1_737_028_800_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def stores(open_store, clock):  # noqa: F811
    return [open_store(clock) for _ in range(ACTORS)]


class Race:
    """Threads that wait for each other before each turn."""

    def __init__(self, stores):
        self.stores = stores

    def run(self, *acts):
        """Each act on a store of its own, all at once; their answers."""
        barrier = threading.Barrier(len(acts))
        answers = [None] * len(acts)

        def act(place):
            barrier.wait(30)
            try:
                answers[place] = acts[place](self.stores[place])
            except Exception as error:  # noqa: BLE001  # an answer, too
                answers[place] = error

        threads = [threading.Thread(target=act, args=(place,)) for place in range(len(acts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        broken = [answer for answer in answers if isinstance(answer, Exception)]
        assert broken == []
        return answers


def claim(store, kind="mail", owner="w"):
    lane = Lane("default", kind)
    alone = Order(owner, (lane,), 10, LEASE)
    return write(store, lambda tx: tx.claim(alone)) + write(store, lambda tx: tx.claim_alone(alone))


def ask(key, number, sequence):
    def act(store):
        job = NewJob("mail", str(number), coalesce_key=key, sequence=sequence)
        return write(store, lambda tx: tx.coalesce(job))

    return act


def test_of_equal_idempotency_keys_one_is_stored(stores):
    race = Race(stores)
    for number in range(size("HOLDFAST_RACES", 150)):
        job = NewJob("mail", "{}", key=f"k{number}")
        answers = race.run(*[lambda store, job=job: insert(store, job)[0]] * ACTORS)
        assert len({answer.id for answer in answers}) == 1
        assert sum(answer.created for answer in answers) == 1


def test_a_cancel_a_claim_and_a_finish_agree(stores, clock):
    """Whoever was told that the job is cancelled never sees it end otherwise; and only one claim is given out."""
    race, dice, seen = Race(stores), Random(1), Counter()
    for _ in range(size("HOLDFAST_RACES", 150)):
        job_id = enqueue(stores[0])
        run = claim(stores[0])[0] if dice.random() < 0.5 else None
        outcome = dice.choice([DONE, RAISED, FAILED, CRASHED])
        graceful = dice.random() < 0.3
        end = (lambda store, run=run, outcome=outcome: finish(store, run, outcome)) if run else claim
        first, second, cancelled, ended = race.run(
            claim,
            claim,
            lambda store, job_id=job_id, graceful=graceful: cancel(store, job_id, graceful=graceful),
            end,
        )
        job = get(stores[0], job_id)
        claims = [*first, *second, *(ended if run is None else [])]
        assert len({one.token for one in claims}) == len(claims)
        if cancelled is not None and not graceful:
            assert job.status is Status.CANCELLED
            assert not any(finish(stores[0], one, DONE) for one in claims)
            assert get(stores[0], job_id).status is Status.CANCELLED
        if run is not None and cancelled is None:
            assert ended, "there was nothing to cancel, so the finish was first"
        for one in claims:
            finish(stores[0], one, DONE)
        seen[job.status.value] += 1
        clock.now += 120_000
        left = claim(stores[0])
        assert all(finish(stores[0], one, DONE) for one in left)
    tell("cancel, claim and finish at once", dict(seen))


def test_of_the_requests_with_one_coalesce_key_the_newest_is_run_last(stores, clock):
    race, dice, seen = Race(stores), Random(2), Counter()
    for number in range(size("HOLDFAST_RACES", 150)):
        key, numbered = f"k{number}", dice.random() < 0.5
        payloads = [10 * number + place for place in range(3)]
        numbers = [place + 1 if numbered else None for place in range(3)]
        ask(key, payloads[0], numbers[0])(stores[0])
        run = claim(stores[0])[0] if dice.random() < 0.7 else None
        outcome = dice.choice([DONE, RAISED, FAILED, Stopped(), CRASHED])
        by_hand = dice.random() < 0.2
        if run is None:
            end = claim
        elif by_hand:
            end = lambda store, run=run: cancel(store, run.id) and []  # noqa: E731
        else:
            end = lambda store, run=run, outcome=outcome: finish(store, run, outcome) and []  # noqa: E731
        one, two, taken, more = race.run(
            ask(key, payloads[1], numbers[1]), ask(key, payloads[2], numbers[2]), claim, end
        )
        seen[one[1]] += 1
        seen[two[1]] += 1
        runs = [*taken, *(more or [])]
        done = []
        for _ in range(10):
            rows = stores[0].read(lambda tx: tx.list_jobs({"status": "in_progress"}, "~", 10))[0]
            waiting = stores[0].read(lambda tx: tx.list_jobs({"status": "queued"}, "~", 10))[0]
            assert len(rows) <= 1
            assert len(waiting) <= 1
            done += [each for each in runs if finish(stores[0], each, DONE)]
            clock.now += 120_000
            runs = claim(stores[0])
            if not runs:
                break
        assert stores[0].read(lambda tx: tx.list_jobs({"status": "queued"}, "~", 10))[0] == [], "one was left behind"
        last = get(stores[0], done[-1].id)
        assert last.status is Status.COMPLETED
        newest = {payloads[2]} if numbered else {payloads[1], payloads[2]}
        if one[1] == "created" and two[1] == "replaced" and one[0] == two[0]:
            newest = {payloads[2]}
        assert last.payload in newest
    tell("requests with one coalesce key at once", dict(seen))
