from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.model.outcome import Abandoned, Snoozed, Stopped, Unstarted
from tests.store.given import (
    DONE,
    FAILED,
    HOUR,
    LEASE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim_one,
    dead,
    ended,
    enqueue,
    finish,
    get,
    recover,
    running,
    write,
)  # fmt: skip


def history(store, job_id):
    return store.read(lambda tx: tx.history(job_id))


def test_a_job_that_simply_runs_leaves_no_line(store):
    assert history(store, ended(store, DONE)) == []


@pytest.mark.parametrize(
    ("outcome", "to_status", "why", "error_class"),
    [
        (RAISED, "queued", "retry", "ValueError"),
        (FAILED, "failed", "failed", "ValueError"),
        (Snoozed(SECOND), "queued", "snoozed", None),
        (Stopped(), "queued", "interrupted", None),
        (Unstarted(), "queued", "released", None),
        (Abandoned(), "cancelled", "cancelled", "Cancelled"),
    ],
)
def test_any_other_ending_leaves_a_line(store, clock, outcome, to_status, why, error_class):  # noqa: PLR0917
    run = running(store)
    clock.forward(SECOND)
    finish(store, run, outcome)
    assert history(store, run.id) == [
        {
            "at": stamp.to_text(NOON + SECOND),
            "from_status": "in_progress",
            "to_status": to_status,
            "why": why,
            "attempt": 1,
            "worker": "first",
            "error_class": error_class,
            "actor": None,
        }
    ]


def test_a_dead_letter_tells_its_whole_life_oldest_first(store, clock):
    run = running(store, max_attempts=2)
    clock.forward(LEASE + 1)
    recover(store)
    finish(store, claim_one(store, owner="second"), RAISED)
    lines = [(line["why"], line["attempt"], line["worker"]) for line in history(store, run.id)]
    assert lines == [("crashed", 1, "first"), ("attempts exhausted", 2, "second")]


def test_a_graceful_cancel_shows_in_the_line_of_its_run(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    finish(store, run, RAISED)
    (line,) = history(store, run.id)
    assert line["to_status"] == "cancelled"


def test_an_act_of_a_person_leaves_a_line_with_the_actor(store):
    job_id = dead(store)
    write(store, lambda tx: tx.retry(job_id))
    write(store, lambda tx: tx.note(job_id, from_status="dead_letter", why="retry by a person", actor="ann"))
    line = history(store, job_id)[-1]
    assert (line["from_status"], line["to_status"], line["actor"]) == ("dead_letter", "queued", "ann")
    assert (line["why"], line["attempt"], line["worker"]) == ("retry by a person", 0, None)


def test_a_refused_finish_leaves_no_line(store):
    run = running(store)
    cancel(store, run.id)
    finish(store, run, RAISED)
    assert history(store, run.id) == []


def test_the_newest_hundred_lines_are_kept(store):
    job_id = enqueue(store)
    for number in range(105):
        write(store, lambda tx, number=number: tx.note(job_id, from_status="queued", why=f"act {number}"))
    lines = history(store, job_id)
    assert [line["why"] for line in lines] == [f"act {number}" for number in range(5, 105)]


def test_every_job_has_a_history_of_its_own(store, clock):
    first, second = ended(store, FAILED), enqueue(store)
    clock.forward(HOUR)
    assert len(history(store, first)) == 1
    assert history(store, second) == []


def test_a_line_about_a_job_that_does_not_exist_is_refused(store):
    with pytest.raises(StoreError, match="refused"):
        write(store, lambda tx: tx.note("0" * 26, from_status="queued", why="act"))
    assert history(store, "0" * 26) == []


def test_a_history_is_no_visible_change_of_its_job(store):
    job_id = enqueue(store)
    write(store, lambda tx: tx.note(job_id, from_status="queued", why="act"))
    assert get(store, job_id).version == 1
