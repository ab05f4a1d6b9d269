"""Groups: how far they are, and the cancel of all of one, by scope and mode."""

from __future__ import annotations

import threading
from time import monotonic

import pytest

from holdfast.engine import cancels, groups, jobs, leases, pauses
from holdfast.engine.explain import explain
from holdfast.model.errors import BadInput, NotFound
from holdfast.model.status import Status
from tests.engine.given import DONE, LONG, RAISED, claim, dead, ended, enqueue, finish, get, in_threads, running


def progress(desk, key="g", tenant=""):
    return desk.read(groups.progress, key, tenant)


def test_a_group_in_numbers(desk):
    ended(desk, DONE, group="g")
    letter = dead(desk, group="g")
    enqueue(desk, group="g")
    seen = progress(desk)
    assert (seen["total"], seen["done"], seen["failed"], seen["percent"]) == (3, 2, 1, 66.6)
    assert seen["counts"] == dict.fromkeys(Status, 0) | {"completed": 1, "dead_letter": 1, "queued": 1}
    assert [(one["id"], one["code"], one["message"]) for one in seen["errors"]] == [
        (letter, "HANDLER_ERROR", "the address is wrong")
    ]
    assert seen["paused"] == []


def test_a_group_is_done_when_it_is_all_done(desk):
    for number in range(300):
        job_id = enqueue(desk, group="g")
        if number:
            desk.write(jobs.cancel, job_id)
    assert progress(desk)["percent"] == 99.6
    desk.write(lambda tx: [jobs.cancel(tx, job.id) for job in groups.members(tx, "g", status="queued")])
    assert progress(desk)["percent"] == 100.0


def test_a_group_without_jobs(desk):
    seen = progress(desk, "none")
    assert (seen["total"], seen["percent"]) == (0, 0.0)
    with pytest.raises(NotFound) as refused:
        desk.read(groups.found, "none")
    assert refused.value.code == "GROUP_NOT_FOUND"
    pauses.pause_group(desk, "none", "ann")
    assert desk.read(groups.found, "none")["paused"][0]["by"] == "ann"


def test_a_group_has_another_version_after_every_visible_change(desk):
    versions = [progress(desk)["version"]]
    run = running(desk, group="g")
    versions.append(progress(desk)["version"])
    desk.write(leases.progress, run.id, run.token, "{}")
    versions.append(progress(desk)["version"])
    finish(desk, run, DONE)
    versions.append(progress(desk)["version"])
    pauses.pause_group(desk, "g", "ann")
    versions.append(progress(desk)["version"])
    assert len(set(versions)) == 5
    assert progress(desk)["version"] == versions[-1]


def test_a_tenant_sees_its_own_jobs_of_a_group(desk):
    enqueue(desk, group="g", tenant="acme")
    enqueue(desk, group="g", tenant="other")
    assert progress(desk)["total"] == 0
    assert progress(desk, tenant="acme")["total"] == 1
    assert cancels.cancel(desk, "g", tenant="acme")["cancelled"] == 1
    assert progress(desk, tenant="other")["counts"]["queued"] == 1


def test_wrong_questions_are_refused(desk):
    for wrong in (
        lambda: desk.read(groups.members, "g", limit=0),
        lambda: desk.read(groups.members, "g", status="lost"),
        lambda: progress(desk, ""),
        lambda: cancels.cancel(desk, "g", mode="hard"),
        lambda: cancels.cancel(desk, "g", types="mail"),
        lambda: cancels.cancel(desk, "g", types=[]),
        lambda: cancels.cancel(desk, "g", mode="graceful", wait=31),
        lambda: cancels.cancel(desk, "g", mode="graceful", wait=True),
        lambda: cancels.cancel(desk, "g", wait=1),
        lambda: pauses.pause_tenant(desk, "", "ann"),
    ):
        with pytest.raises(BadInput):
            wrong()


def test_an_immediate_cancel_ends_all_and_counts_them_by_type_and_status(desk):
    run = running(desk, group="g")
    done = ended(desk, DONE, kind="post", group="g")
    waiting = [enqueue(desk, "post", group="g") for _ in range(2)]
    answer = cancels.cancel(desk, "g", actor="ann")
    assert answer == {
        "key": "g", "tenant": "", "mode": "immediate", "cancelled": 3, "asked": 0,
        "by_status": {"in_progress": 1, "queued": 2},
        "by_type": {"mail": {"in_progress": 1}, "post": {"queued": 2}},
        "left_alone": {}, "still_running": 1,
    }  # fmt: skip
    assert {get(desk, job_id).status for job_id in (run.id, *waiting)} == {Status.CANCELLED}
    assert get(desk, done).status is Status.COMPLETED
    assert not finish(desk, run, DONE)
    assert cancels.cancel(desk, "g")["cancelled"] == 0


def test_a_cancel_of_some_types_leaves_the_others_alone(desk):
    enqueue(desk, "mail", group="g")
    other = enqueue(desk, "post", group="g")
    answer = cancels.cancel(desk, "g", types=["mail", "fax"])
    assert (answer["cancelled"], answer["left_alone"]) == (1, {"post": 1})
    assert get(desk, other).status is Status.QUEUED


def test_a_graceful_cancel_lets_runs_complete_and_waits_for_them(desk):
    run, failing, waiting = running(desk, group="g"), running(desk, group="g"), enqueue(desk, group="g")
    answer = cancels.cancel(desk, "g", mode="graceful")
    assert (answer["cancelled"], answer["asked"], answer["still_running"]) == (1, 2, 2)
    assert get(desk, waiting).status is Status.CANCELLED

    def end():
        finish(desk, run, DONE)
        finish(desk, failing, RAISED)

    later = running(desk, group="g")
    timer = threading.Timer(0.1, lambda: (end(), finish(desk, later, DONE)))
    timer.start()
    answer = cancels.cancel(desk, "g", mode="graceful", wait=LONG)
    timer.join()
    assert (answer["asked"], answer["still_running"]) == (1, 0)
    assert (get(desk, run.id).status, get(desk, failing.id).status) == (Status.COMPLETED, Status.CANCELLED)


def test_a_full_cancel_waits_for_the_handlers_to_stop(desk, other):
    run = running(desk, group="g")
    begin = monotonic()
    answer, _ = in_threads(lambda: cancels.cancel(desk, "g", mode="full"), lambda: _stop_when_cancelled(other, run))
    assert answer["still_running"] == 0
    assert monotonic() - begin < LONG
    run = running(desk, group="g")
    assert cancels.cancel(desk, "g", mode="full")["still_running"] == 1


def test_a_full_cancel_of_one_job_tells_whether_its_handler_has_stopped(desk, other):
    run = running(desk)
    assert cancels.cancel_job(desk, run.id, mode="full")["still_running"] == 1
    run = running(desk)
    answer, _ = in_threads(
        lambda: cancels.cancel_job(desk, run.id, mode="full"), lambda: _stop_when_cancelled(other, run)
    )
    assert answer["still_running"] == 0
    assert "still_running" not in cancels.cancel_job(desk, enqueue(desk))


async def test_a_coroutine_cancels_the_same_way(desk, other):
    run = running(desk, group="g")
    answer = await cancels.acancel(desk, "g", mode="full")
    assert answer["still_running"] == 1
    assert finish(desk, run, DONE) is False
    assert (await cancels.acancel(desk, "g"))["still_running"] == 0
    run = running(desk)
    assert (await cancels.acancel_job(desk, run.id, mode="full"))["still_running"] == 1
    assert "still_running" not in await cancels.acancel_job(desk, enqueue(desk))


def _stop_when_cancelled(desk, run):
    """As a worker: its next exchange finds that the lease is gone."""
    ticker = threading.Event()
    while get(desk, run.id).status is Status.IN_PROGRESS:
        ticker.wait(0.005)
    assert finish(desk, run, DONE) is False


def test_a_run_that_lost_its_lease_is_told_with_the_next_exchange(desk):
    run = running(desk)
    desk.write(jobs.cancel, run.id)
    assert desk.read(lambda tx: tx.still_running([run.id])) == [run.id]
    desk.write(leases.exchange, [], [], {}, [(run.id, run.token)])
    assert desk.read(lambda tx: tx.still_running([run.id])) == []


def test_a_large_group_is_cancelled_in_small_transactions(desk, other, monkeypatch):
    monkeypatch.setattr(cancels, "PART", 10)
    desk.write(lambda tx: [enqueue_in(tx) for _ in range(95)])
    seen = []
    original = cancels._cancel_part

    def part(tx, ids, **more):
        seen.append(len(ids))
        return original(tx, ids, **more)

    monkeypatch.setattr(cancels, "_cancel_part", part)
    assert cancels.cancel(desk, "g")["cancelled"] == 95
    assert seen == [10] * 9 + [5]


def enqueue_in(tx):
    from holdfast.model.request import NewJob

    return tx.insert([NewJob("mail", "{}", group="g")])


def test_explain_tells_who_paused_the_group_and_the_tenant(desk):
    job_id = enqueue(desk, group="g", tenant="acme")
    pauses.pause_group(desk, "g", "ann", tenant="acme")
    pauses.pause_tenant(desk, "acme", "bob")
    told = {reason["text"] for reason in desk.read(explain, job_id)["reasons"] if reason["code"] == "PAUSED"}
    assert told == {
        "group 'g' was paused by ann at 2025-01-16T12:00:00.000Z",
        "tenant 'acme' was paused by bob at 2025-01-16T12:00:00.000Z",
    }
    desk.write(lambda tx: tx.execute("delete from job_pauses"))
    told = [reason["text"] for reason in desk.read(explain, job_id)["reasons"] if reason["code"] == "PAUSED"]
    assert told[0] == "group 'g' was paused, and is no more: resume it once again"
    assert pauses.resume_group(desk, "g", tenant="acme")["jobs"] == 1
    assert pauses.resume_tenant(desk, "acme")["changed"] is False
    assert [run.id for run in claim(desk)] == [job_id]


def test_a_walk_that_is_overtaken_ends(desk, monkeypatch):
    enqueue(desk, group="g")
    monkeypatch.setattr(pauses, "_say", lambda *_: True)
    assert pauses.pause_group(desk, "g", "ann")["jobs"] == 0
