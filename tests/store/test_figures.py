from __future__ import annotations

from holdfast.model import stamp
from holdfast.model.figures import bucket_of
from holdfast.model.outcome import Stopped
from holdfast.model.request import NewJob
from tests.store.given import (
    DONE,
    FAILED,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim,
    claim_one,
    dead,
    ended,
    enqueue,
    finish,
    insert,
    running,
    write,
)  # fmt: skip


def figures(store, since=0):
    return sorted(store.read(lambda tx: tx.figures(since)))


def overview(store, cap=100):
    return store.read(lambda tx: tx.overview(cap))


def test_an_ending_is_counted_by_its_run_and_by_its_whole_life(store, clock):
    enqueue(store)
    clock.forward(MINUTE)
    run = claim_one(store)
    clock.forward(2 * SECOND)
    finish(store, run, DONE)
    assert figures(store) == [
        ("default", "mail", "completed", "run", bucket_of(2 * SECOND), 1),
        ("default", "mail", "completed", "total", bucket_of(MINUTE + 2 * SECOND), 1),
    ]


def test_endings_of_one_kind_add_up(store, clock):
    for _ in range(3):
        ended(store, DONE)
        clock.forward(MINUTE)
    assert {count for *_, count in figures(store)} == {3}


def test_each_queue_type_and_status_is_counted_apart(store):
    ended(store, DONE)
    ended(store, FAILED)
    dead(store, queue="gpu")
    ended(store, DONE, kind="print")
    runs = {row[:3] for row in figures(store) if row[3] == "run"}
    assert runs == {
        ("default", "mail", "completed"),
        ("default", "mail", "failed"),
        ("gpu", "mail", "dead_letter"),
        ("default", "print", "completed"),
    }


def test_a_run_that_goes_back_to_its_queue_is_not_counted(store):
    ended(store, RAISED)
    ended(store, Stopped(), kind="print")
    assert figures(store) == []


def test_a_run_cancelled_gracefully_is_counted_as_cancelled(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    finish(store, run, RAISED)
    assert {row[2] for row in figures(store)} == {"cancelled"}


def test_a_refused_finish_is_not_counted(store):
    run = running(store)
    cancel(store, run.id)
    finish(store, run, DONE)
    assert figures(store) == []


def test_figures_can_be_asked_for_since_an_instant(store, clock):
    ended(store, DONE)
    clock.forward(HOUR)
    assert figures(store, since=NOON + MINUTE) == []
    assert figures(store, since=NOON + 1) != []
    assert figures(store, since=-HOUR) != []


def test_what_waits_is_counted_by_lane(store):
    insert(store, *(NewJob("mail", "{}") for _ in range(3)))
    enqueue(store, "print", queue="gpu", payload_version=2, delay=60)
    waiting = [row[:4] for row in overview(store)["waiting"]]
    assert waiting == [("default", "mail", 1, 3), ("gpu", "print", 2, 1)]


def test_the_oldest_that_waits_is_the_one_due_first_at_any_priority(store, clock):
    enqueue(store, priority=9)
    clock.forward(HOUR)
    enqueue(store, priority=1)
    (row,) = overview(store)["waiting"]
    assert row[4] == stamp.to_text(NOON)


def test_counts_of_what_waits_stop_at_the_cap(store):
    insert(store, *(NewJob("mail", "{}") for _ in range(8)))
    assert overview(store, cap=5)["waiting"][0][3] == 5


def test_what_runs_is_counted_with_the_leases_that_ran_out(store, clock):
    running(store)
    clock.forward(LEASE + 1)
    running(store)
    enqueue(store, "print", queue="gpu")
    claim(store)
    assert overview(store)["running"] == [("default", "mail", 2, 1)]


def test_what_ended_badly_is_counted(store):
    dead(store)
    dead(store)
    ended(store, FAILED, kind="print")
    ended(store, DONE)
    assert sorted(overview(store)["dead"]) == [
        ("default", "mail", "dead_letter", 2),
        ("default", "print", "failed", 1),
    ]
    assert overview(store, cap=1)["dead"][0][3] == 1


def test_an_empty_store_has_an_empty_overview(store):
    assert overview(store) == {"waiting": [], "limited": [], "blocked": [], "running": [], "dead": [], "paused": []}


def test_the_depth_of_a_queue_is_counted_up_to_a_cap(store, clock):
    insert(store, *(NewJob("mail", "{}", queue="gpu") for _ in range(4)))
    enqueue(store, "print", queue="gpu", delay=60)
    enqueue(store)
    assert store.read(lambda tx: tx.depth("gpu", 100)) == 5
    assert store.read(lambda tx: tx.depth("gpu", 3)) == 3
    assert store.read(lambda tx: tx.depth("empty", 3)) == 0


def test_a_claimed_job_is_no_longer_part_of_the_depth(store):
    running(store)
    assert store.read(lambda tx: tx.depth("default", 100)) == 0


def test_the_overview_tells_who_paused_a_queue(store):
    write(store, lambda tx: tx.pause("gpu", "ann"))
    assert overview(store)["paused"] == [("gpu", stamp.to_text(NOON), "ann")]
