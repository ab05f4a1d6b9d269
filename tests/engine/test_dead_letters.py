"""Dead letters: seen, sent round again, or deleted, in batches; and the history of a job."""

from __future__ import annotations

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import Conflict
from holdfast.model.outcome import Snoozed
from holdfast.model.request import NewJob
from tests.engine.given import RAISED, REFUSED, SECOND, claim, count, dead, ended, enqueue, finish, get, parked, running


def letters(desk, **where):
    return [job.id for job in desk.read(jobs.dead_letters, **where)]


def test_dead_letters_are_listed_newest_first(desk):
    ids = [dead(desk) for _ in range(3)]
    ended(desk, REFUSED)
    enqueue(desk)
    assert letters(desk) == ids[::-1]


def test_failed_and_parked_jobs_have_their_own_lists(desk):
    dead(desk)
    failed = ended(desk, REFUSED)
    waits = parked(desk)
    assert letters(desk, status="failed") == [failed]
    assert letters(desk, status="awaiting_auth") == [waits]


def test_dead_letters_are_narrowed_by_type_and_tenant_and_paged(desk):
    ids = [dead(desk) for _ in range(3)]
    image = dead(desk, kind="image")
    hers = dead(desk, tenant="her")
    assert letters(desk, type="image") == [image]
    assert letters(desk, tenant="her") == [hers]
    assert letters(desk, limit=2) == [hers, image]
    assert letters(desk, before=image, limit=2) == ids[:0:-1]


def test_a_batch_of_dead_letters_is_sent_round_again(desk):
    ids = {dead(desk) for _ in range(5)}
    assert desk.write(jobs.retry_dead, limit=3, actor="ann") == 3
    assert desk.write(jobs.retry_dead, limit=3, actor="ann") == 2
    assert desk.write(jobs.retry_dead, limit=3, actor="ann") == 0
    assert {run.id for run in claim(desk)} == ids
    assert all(desk.read(jobs.history, job_id)[-1]["actor"] == "ann" for job_id in ids)


def test_only_the_asked_for_dead_letters_are_sent_round_again(desk):
    mail, image, hers = dead(desk), dead(desk, kind="image"), dead(desk, tenant="her")
    assert desk.write(jobs.retry_dead, type="image") == 1
    assert desk.write(jobs.retry_dead, tenant="her") == 1
    assert [get(desk, job_id).status for job_id in (mail, image, hers)] == ["dead_letter", "queued", "queued"]


def test_a_batch_of_dead_letters_is_deleted_for_good(desk):
    for _ in range(5):
        dead(desk)
    kept = ended(desk, REFUSED)
    assert [desk.write(jobs.purge_dead, limit=3) for _ in range(3)] == [3, 2, 0]
    assert count(desk) == 1
    assert get(desk, kept).status == "failed"


def test_who_deleted_what_is_known_when_the_jobs_are_gone(desk):
    letters_of_two = [dead(desk), dead(desk)]
    failed = ended(desk, REFUSED)
    assert desk.write(jobs.purge_dead, actor="ann") == 2
    desk.write(jobs.purge, failed, actor="bob")
    last, first = desk.read(jobs.audit)
    assert (first["actor"], sorted(first["jobs"])) == ("ann", letters_of_two)
    assert (last["actor"], last["jobs"]) == ("bob", [failed])
    assert desk.read(jobs.audit, before=last["id"], limit=5) == [first]


def test_a_refused_deletion_leaves_no_line(desk):
    with pytest.raises(Conflict):
        desk.write(jobs.purge, enqueue(desk), actor="ann")
    assert desk.read(jobs.audit) == []


def test_a_job_that_simply_ran_has_no_history(desk):
    assert desk.read(jobs.history, ended(desk)) == []


def test_history_tells_what_the_row_cannot(desk, clock):
    run = running(desk, max_attempts=2)
    finish(desk, run, RAISED)
    clock.forward(60 * SECOND)
    (again,) = claim(desk, owner="second")
    finish(desk, again, RAISED)
    told = desk.read(jobs.history, run.id)
    assert [(line["why"], line["to_status"], line["attempt"], line["worker"]) for line in told] == [
        ("retry", "queued", 1, "first"),
        ("attempts exhausted", "dead_letter", 2, "second"),
    ]
    assert {line["error_class"] for line in told} == {"ValueError"}
    assert told[0]["at"] < told[1]["at"]


def test_a_job_keeps_the_newest_hundred_lines(desk, clock):
    job_id = enqueue(desk)
    for _ in range(105):
        clock.forward(SECOND)
        (run,) = claim(desk)
        assert finish(desk, run, Snoozed(0))
    told = desk.read(jobs.history, job_id)
    assert len(told) == 100
    assert told == sorted(told, key=lambda line: line["at"])
    newest = told[-1]["at"]
    assert newest == max(line["at"] for line in told) == get(desk, job_id).updated_at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def overtaken(desk, number):
    """A dead letter whose coalesce key has a newer request."""
    for sequence in (1, 2):
        new = NewJob("mail", "{}", coalesce_key=f"doc{number}", sequence=sequence, max_attempts=1)
        ((job_id, _),) = desk.write(jobs.enqueue, [new])
        if sequence == 1:
            finish(desk, claim(desk)[0], RAISED)
            letter = job_id
    desk.write(jobs.cancel, job_id)
    return letter


def test_those_that_were_overtaken_do_not_stand_in_the_way_of_others(desk):
    first = dead(desk)
    for number in range(5):
        overtaken(desk, number)
    assert desk.write(jobs.retry_dead, limit=2) == 1
    assert get(desk, first).status == "queued"
    assert desk.write(jobs.retry_dead, limit=2) == 0
