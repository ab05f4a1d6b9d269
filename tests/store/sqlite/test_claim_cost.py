"""What cannot be taken now must not make a claim slower: counted in steps of SQLite's machine, not in seconds."""

from __future__ import annotations

import pytest

from holdfast.engine.leases import exchange
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.store.port import Order
from tests.store.given import DAY, MAIL, claim, enqueue, insert, write

MANY = 20_000
LANES = [MAIL, Lane("default", "print"), Lane("gpu", "mail")]


def steps_of(store, call):
    """How many hundreds of steps the call took."""
    count = [0]

    def tick():
        count[0] += 1
        return False

    raw = store._writer.raw
    raw.set_progress_handler(tick, 10)
    try:
        call()
    finally:
        raw.set_progress_handler(None)
    return count[0] * 10


def fill(store, **options):
    kind = options.pop("kind", "mail")
    for _ in range(MANY // 5000):
        insert(store, *(NewJob(kind, "{}", **options) for _ in range(5000)))


def cost_of_a_claim(store):
    """The dearer one: by a transaction, or by one statement."""
    return max(_cost(store, claim), _cost(store, claim_at_once))


def _cost(store, way):
    enqueue(store, priority=5)
    taken = []
    steps = steps_of(store, lambda: taken.extend(way(store, *LANES, limit=1)))
    assert len(taken) == 1
    return steps


def claim_at_once(store, *lanes, limit):
    order = Order("w", lanes, limit, 60_000)
    return store.write([lambda tx: exchange(tx, (), [order])], hastily=True, briefly=True)[0][0].claims[0]


@pytest.mark.parametrize(
    "options",
    [
        {"priority": 1, "delay": DAY // 1000},
        {"priority": 5, "delay": DAY // 1000},
        {"priority": 1, "kind": "unknown"},
        {"priority": 1, "payload_version": 9},
        {"priority": 1, "queue": "gpu"},
        {"priority": 9},
    ],
    ids=["tomorrow", "tomorrow in the same lane", "unknown type", "unknown version", "paused queue", "worse priority"],
)
def test_jobs_that_cannot_be_taken_now_do_not_slow_a_claim(sqlite_store, options):
    write(sqlite_store, lambda tx: tx.pause("gpu", "ann"))
    cost_of_a_claim(sqlite_store)
    before = cost_of_a_claim(sqlite_store)
    fill(sqlite_store, **options)
    after = cost_of_a_claim(sqlite_store)
    assert after <= before + 200, f"{before} steps before, {after} after"


def test_jobs_that_ended_or_run_do_not_slow_a_claim(sqlite_store):
    cost_of_a_claim(sqlite_store)
    before = cost_of_a_claim(sqlite_store)
    fill(sqlite_store, priority=1)
    while claim(sqlite_store, limit=5000):
        pass
    assert cost_of_a_claim(sqlite_store) <= before + 200


def test_the_count_sees_a_walk_over_many_jobs(sqlite_store):
    fill(sqlite_store)
    assert (
        steps_of(
            sqlite_store, lambda: write(sqlite_store, lambda tx: tx.execute("select sum(priority) from job_queue"))
        )
        > MANY
    )


def test_looking_for_what_waits_skips_from_lane_to_lane(sqlite_store):
    enqueue(sqlite_store, "first")
    before = steps_of(sqlite_store, lambda: write(sqlite_store, lambda tx: tx.overview(10)))
    fill(sqlite_store, kind="second")
    after = steps_of(sqlite_store, lambda: write(sqlite_store, lambda tx: tx.overview(10)))
    assert after <= before + 1000
