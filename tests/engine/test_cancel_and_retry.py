"""Cancel and retry: what each does in every status, and the line of history it leaves."""

from __future__ import annotations

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import BadInput, Conflict, NotFound
from holdfast.model.outcome import Abandoned
from holdfast.model.status import Status
from tests.engine.given import (
    DONE,
    RAISED,
    REFUSED,
    SECOND,
    claim,
    dead,
    ended,
    enqueue,
    finish,
    get,
    parked,
    running,
)  # fmt: skip

IN_STATUS = {
    "queued": enqueue,
    "in_progress": lambda desk: running(desk).id,
    "awaiting_auth": parked,
    "completed": ended,
    "failed": lambda desk: ended(desk, REFUSED),
    "dead_letter": dead,
    "cancelled": lambda desk: ended(desk, Abandoned()),
}


def cancel(desk, job_id, **how):
    return desk.write(jobs.cancel, job_id, **how)


def lines(desk, job_id):
    return [(line["from_status"], line["to_status"], line["why"]) for line in desk.read(jobs.history, job_id)]


@pytest.mark.parametrize("status", Status)
def test_every_status_is_in_the_tables_of_this_page(desk, status):
    assert get(desk, IN_STATUS[status.value](desk)).status == status


@pytest.mark.parametrize(
    ("status", "mode", "changed", "reached"),
    [
        ("queued", "immediate", True, "cancelled"),
        ("queued", "graceful", True, "cancelled"),
        ("awaiting_auth", "immediate", True, "cancelled"),
        ("awaiting_auth", "graceful", True, "cancelled"),
        ("in_progress", "immediate", True, "cancelled"),
        ("in_progress", "graceful", True, "in_progress"),
        *((status, mode, False, status) for status in ("completed", "failed", "dead_letter", "cancelled")
          for mode in ("immediate", "graceful")),
    ],
)  # fmt: skip
def test_a_cancel_in_every_status(desk, status, mode, changed, reached):
    job_id = IN_STATUS[status](desk)
    before = lines(desk, job_id)
    answer = cancel(desk, job_id, mode=mode)
    assert answer == {"id": job_id, "changed": changed, "left": status if changed else None, "status": reached}
    assert get(desk, job_id).status == reached
    assert lines(desk, job_id) == before + ([(status, reached, "cancel")] if changed else [])


def test_immediate_is_the_default(desk):
    assert cancel(desk, running(desk).id)["status"] == "cancelled"


def test_a_cancelled_job_tells_that_it_was_stopped(desk):
    job_id = enqueue(desk)
    cancel(desk, job_id)
    job = get(desk, job_id)
    assert job.error == {"class": "Cancelled", "message": "stopped on request", "code": "CANCELLED"}
    assert job.completed_at is not None


@pytest.mark.parametrize("outcome", [DONE, RAISED, REFUSED])
def test_a_late_ending_never_overwrites_an_immediate_cancel(desk, outcome):
    run = running(desk)
    cancel(desk, run.id)
    assert finish(desk, run, outcome) is False
    assert get(desk, run.id).status == "cancelled"


@pytest.mark.parametrize(("outcome", "reached"), [(DONE, "completed"), (RAISED, "cancelled"), (REFUSED, "cancelled")])
def test_after_a_graceful_cancel_only_a_completed_run_keeps_its_ending(desk, outcome, reached):
    run = running(desk)
    cancel(desk, run.id, mode="graceful")
    assert finish(desk, run, outcome) is True
    assert get(desk, run.id).status == reached


def test_a_graceful_cancel_asked_twice_changes_nothing_more(desk):
    run = running(desk)
    assert cancel(desk, run.id, mode="graceful")["changed"] is True
    assert cancel(desk, run.id, mode="graceful")["changed"] is False


def test_an_immediate_cancel_ends_what_a_graceful_one_left_running(desk):
    run = running(desk)
    cancel(desk, run.id, mode="graceful")
    assert cancel(desk, run.id)["status"] == "cancelled"


def test_a_cancel_remembers_who_asked(desk):
    job_id = enqueue(desk)
    cancel(desk, job_id, actor="ann")
    assert [line["actor"] for line in desk.read(jobs.history, job_id)] == ["ann"]


def test_an_unknown_mode_is_refused(desk):
    job_id = enqueue(desk)
    with pytest.raises(BadInput, match="mode is immediate, graceful or full") as caught:
        cancel(desk, job_id, mode="gently")
    assert caught.value.code == "BAD_OPTION"
    assert get(desk, job_id).status == "queued"


def test_a_job_that_is_not_there_can_be_neither_cancelled_nor_retried(desk):
    for verb in (jobs.cancel, jobs.retry, jobs.purge):
        with pytest.raises(NotFound):
            desk.write(verb, "no such job")


@pytest.mark.parametrize("status", ["failed", "dead_letter"])
def test_a_retry_sends_an_ended_job_round_again_with_its_counters_at_zero(desk, clock, status):
    job_id = IN_STATUS[status](desk)
    clock.forward(SECOND)
    job = desk.write(jobs.retry, job_id, actor="ann")
    assert (job.status, job.attempts, job.failed, job.crashed, job.error) == ("queued", 0, 0, 0, None)
    assert job.completed_at is None
    assert job.scheduled_at.timestamp() * 1000 == clock.now
    assert [run.id for run in claim(desk)] == [job_id]
    assert lines(desk, job_id)[-1] == (status, "queued", "retry by a person")
    assert desk.read(jobs.history, job_id)[-1]["actor"] == "ann"


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        ("queued", "it has not ended"),
        ("in_progress", "it has not ended"),
        ("awaiting_auth", "it has not ended"),
        ("completed", "enqueue it anew"),
        ("cancelled", "enqueue it anew"),
    ],
)
def test_a_retry_in_any_other_status_is_refused_with_advice(desk, status, advice):
    job_id = IN_STATUS[status](desk)
    with pytest.raises(Conflict, match=f"is {status};.*{advice}") as caught:
        desk.write(jobs.retry, job_id)
    assert caught.value.code == "WRONG_STATUS"
    assert get(desk, job_id).status == status


def test_the_token_of_a_retried_job_goes_on(desk):
    run = running(desk, max_attempts=1)
    finish(desk, run, RAISED)
    desk.write(jobs.retry, run.id)
    (again,) = claim(desk)
    assert again.token > run.token
    assert finish(desk, run, DONE) is False


@pytest.mark.parametrize("status", ["completed", "failed", "dead_letter", "cancelled"])
def test_an_ended_job_can_be_purged_with_its_history(desk, status):
    job_id = IN_STATUS[status](desk)
    desk.write(jobs.purge, job_id)
    with pytest.raises(NotFound):
        get(desk, job_id)
    assert desk.read(lambda tx: tx.history(job_id)) == []


@pytest.mark.parametrize("status", ["queued", "in_progress", "awaiting_auth"])
def test_a_job_that_has_not_ended_cannot_be_purged(desk, status):
    job_id = IN_STATUS[status](desk)
    with pytest.raises(Conflict, match="cancel it first") as caught:
        desk.write(jobs.purge, job_id)
    assert caught.value.code == "WRONG_STATUS"
    assert get(desk, job_id).status == status
