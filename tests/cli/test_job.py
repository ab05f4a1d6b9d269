from __future__ import annotations

import threading

import pytest

from holdfast.model.job import PUBLIC_FIELDS
from holdfast.model.status import Status
from holdfast.store.postgres.location import Location
from tests.cli.given import CONTRACT_FIELDS, dead, ended, progress, running, worker
from tests.servers.postgres import server


def test_a_job_is_one_object_with_the_fields_of_the_contract(cli, app):
    job_id = app.enqueue("thumbnail", {"path": "a.png"}, context={"user_id": "u"}).id
    shown = cli("job", "show", job_id, "--json").json
    assert shown == app.get(job_id).as_json()
    assert set(shown) == set(PUBLIC_FIELDS)
    assert set(shown) >= CONTRACT_FIELDS
    assert shown["created_at"].endswith("Z")


def test_a_job_is_shown_field_by_field(cli, app):
    claim = running(app, "thumbnail", priority=2, group="g")
    progress(app, claim, done=3, total=10, message="third page")
    out = cli("job", "show", claim.id).out
    fields = dict(
        line.split(maxsplit=1)
        for line in out.splitlines()
        if line and not line.startswith((" ", "{", "}")) and len(line.split()) > 1
    )
    assert fields["id"] == claim.id
    assert fields["status"] == "in_progress"
    assert fields["note"] == "3/10 third page"
    assert fields["attempts"] == "1 of 3 (0 failed, 0 crashed, 0 interrupted)"
    assert fields["group"] == "g"
    assert fields["worker"] == "host:1:test"
    assert '"message": "third page"' in out


def test_waiting_for_a_job_that_has_ended_answers_at_once(cli, app):
    done = ended(app, Status.COMPLETED)
    failed = ended(app, Status.FAILED)
    assert cli("job", "show", done, "--wait", "60", "--json").json["result"] == {"sent": True}
    answer = cli("job", "show", failed, "--wait", "60", "--json")
    assert (answer.code, answer.json["status"]) == (0, "failed")


def test_waiting_sees_a_job_end(cli, app):
    claim = running(app)
    cancelling = threading.Timer(0.2, app.cancel, [claim.id])
    cancelling.start()
    answer = cli("job", "show", claim.id, "--wait", "60", "--json")
    cancelling.join()
    assert (answer.code, answer.json["status"]) == (0, "cancelled")


def test_waiting_in_vain_shows_the_job_and_fails(cli, app):
    job_id = app.enqueue("tick").id
    answer = cli("job", "show", job_id, "--wait", "0.05", "--json")
    assert (answer.code, answer.json["status"]) == (1, "queued")
    assert answer.err.startswith("error RESULT_TIMEOUT: it has not ended within 0.05 s")


def test_a_dead_letter_is_sent_round_again_and_the_history_tells_by_whom(cli, app):
    job_id = dead(app)
    answer = cli("job", "retry", job_id)
    assert (answer.code, answer.out) == (0, f"job {job_id} is queued again\n")
    assert app.get(job_id).attempts == 0
    lines = cli("job", "history", job_id, "--json").json
    assert set(lines[-1]) == {"at", "from_status", "to_status", "why", "attempt", "worker", "error_class", "actor"}
    assert (lines[-1]["why"], lines[-1]["from_status"]) == ("retry by a person", "dead_letter")
    assert lines[-1]["actor"].startswith("cli:")
    table = cli("job", "history", job_id).out
    assert "retry by a person" in table
    assert "cli:" in table


def test_a_retry_prints_the_job(cli, app):
    assert cli("job", "retry", dead(app), "--json").json["status"] == "queued"


def test_a_job_without_a_history_says_where_its_life_is_told(cli, app):
    job_id = app.enqueue("tick").id
    assert cli("job", "history", job_id, "--json").json == []
    assert "holdfast job show" in cli("job", "history", job_id).err


def test_a_waiting_job_is_cancelled(cli, app):
    job_id = app.enqueue("tick").id
    assert cli("job", "cancel", job_id).out == f"job {job_id} is cancelled; it was queued\n"
    assert app.get(job_id).status == "cancelled"


def test_a_run_may_complete_after_a_graceful_cancel(cli, app):
    claim = running(app)
    answer = cli("job", "cancel", claim.id, "--mode", "graceful")
    assert (answer.code, app.get(claim.id).status) == (0, "in_progress")
    assert "may still complete" in answer.out


def test_a_run_is_cancelled_at_once_otherwise(cli, app):
    claim = running(app)
    assert cli("job", "cancel", claim.id, "--json").json == {
        "id": claim.id, "changed": True, "left": "in_progress", "status": "cancelled",
    }  # fmt: skip


def test_there_is_nothing_to_cancel_in_a_job_that_has_ended(cli, app):
    job_id = ended(app, Status.COMPLETED)
    answer = cli("job", "cancel", job_id)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"error WRONG_STATUS: job {job_id} is completed: there is nothing to cancel\n"
    answer = cli("job", "cancel", job_id, "--json")
    assert (answer.code, answer.json["changed"]) == (1, False)


def test_a_job_that_does_not_run_is_explained(cli, app):
    job_id = app.enqueue("tick").id
    assert "NO_WORKER" in cli("job", "explain", job_id).out
    worker(app)
    shown = cli("job", "explain", job_id, "--json").json
    assert set(shown) == {"id", "status", "reasons"}
    assert [reason["code"] for reason in shown["reasons"]] == ["UNKNOWN_TYPE"]


@pytest.mark.parametrize("verb", ["show", "retry", "cancel", "explain", "history"])
def test_a_job_that_is_not_there_is_not_found(cli, app, verb):
    app.jobs()
    answer = cli("job", verb, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines()[-1].startswith("error JOB_NOT_FOUND: ")
    looked_in = f"(looked in {app.url.partition('?')[0]})"
    assert answer.err.endswith(f"{looked_in}\n")
    error = cli("job", verb, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--json").json["error"]
    assert error["code"] == "JOB_NOT_FOUND"
    assert error["message"].endswith(looked_in)


def test_where_a_job_was_not_found_on_postgres_is_told(bare):
    database = server().migrated()
    try:
        answer = bare("job", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--url", database)
        assert answer.err.startswith("error JOB_NOT_FOUND: ")
        assert answer.err.endswith(f"(looked in {Location(database).shown})\n")
    finally:
        server().drop(database)


def test_only_jobs_that_ended_badly_are_retried(cli, app):
    answer = cli("job", "retry", app.enqueue("tick").id)
    assert answer.code == 1
    assert answer.err.startswith("error WRONG_STATUS: ")


def test_an_ended_job_is_explained_with_its_error_its_counters_and_the_way_back(cli, app):
    job_id = ended(app, Status.DEAD_LETTER, message="no such address")
    assert cli("job", "explain", job_id).out == (
        f"job {job_id} is dead_letter\n  ENDED: dead_letter after 1 attempt: 1 failed, 0 crashed, 0 interrupted; "
        f"ValueError (HANDLER_ERROR): no such address; when the cause is gone: `holdfast job retry {job_id}`\n"
    )
    done = ended(app, Status.COMPLETED)
    assert "retry" not in cli("job", "explain", done).out


def test_parents_and_children_are_shown_where_there_are_some(cli, app):
    parent, other = app.enqueue("mail").id, ended(app, Status.COMPLETED, "tick")
    enqueued = cli("enqueue", "mail", "--depends-on", parent, "--depends-on", other, "--on-parent", "run", "--json")
    child = enqueued.json["id"]
    assert app.get(child).on_parent == "run"
    assert cli("job", "show", child, "--json").json["parents"] == [
        {"id": parent, "type": "mail", "status": "queued", "waits": True},
        {"id": other, "type": "tick", "status": "completed", "waits": False},
    ]
    assert [one["id"] for one in cli("job", "show", parent, "--json").json["children"]] == [child]
    assert f"waits for   {parent} mail (queued)" in cli("job", "show", child).out
    assert f"waited for  {other} tick (completed)" in cli("job", "show", child).out
    assert f"awaited by  {child} mail (queued)" in cli("job", "show", parent).out
    assert f"BLOCKED: waits for job {parent} (queued)" in cli("job", "explain", child).out


def test_what_has_ended_waits_for_nobody(cli, app):
    parent = app.enqueue("mail").id
    child = app.enqueue("report", depends_on=[parent]).id
    cli("job", "cancel", parent)
    assert app.get(child).status == "cancelled"
    assert f"waited for  {parent} mail (cancelled)" in cli("job", "show", child).out
    assert f"was awaited by  {child} report (cancelled)" in cli("job", "show", parent).out


def test_a_parent_that_is_not_there_is_told(cli, app):
    answer = cli("enqueue", "mail", "--depends-on", "nobody")
    assert answer.code != 0
    assert "PARENT_NOT_FOUND" in answer.err
    assert app.jobs() == []
