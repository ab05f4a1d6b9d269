from __future__ import annotations

import json

import pytest

from holdfast import App
from holdfast.engine.takers import ALIVE_MS
from tests.cli.given import process, worker

ASSUMED = "thumbnail is not known here, so queue default and 3 attempts were assumed: --queue and --max-attempts say otherwise\n"


def test_a_job_is_stored_and_its_id_printed(cli, app):
    app.jobs()
    answer = cli("enqueue", "thumbnail", "--payload", '{"path": "a.png"}')
    job = app.get(answer.out.strip())
    assert (answer.code, answer.err) == (0, ASSUMED)
    assert (job.type, job.payload, job.status, job.queue, job.priority) == (
        "thumbnail", {"path": "a.png"}, "queued", "default", 5,
    )  # fmt: skip


def test_a_queue_that_nobody_takes_the_type_from_is_told(cli, app):
    worker(app, lanes=(("images", "thumbnail", 1), ("default", "mail", 1)))
    answer = cli("enqueue", "thumbnail")
    told = "nobody takes thumbnail from default: its workers take it from images; add --queue images\n"
    assert (answer.code, answer.err) == (0, told)
    assert app.get(answer.out.strip()).queue == "default"
    for_programs = cli("enqueue", "thumbnail", "--queue", "slow", "--json")
    assert (for_programs.code, for_programs.json["created"]) == (0, True)
    assert for_programs.err == told.replace("default", "slow")


def test_of_several_queues_with_workers_for_the_type_one_is_to_be_chosen(cli, app):
    worker(app, lanes=(("images", "thumbnail", 1), ("images", "thumbnail", 2), ("fast", "thumbnail", 1)))
    told = "its workers take it from fast, images; add --queue with one of them\n"
    assert cli("enqueue", "thumbnail").err.endswith(told)


def test_nothing_is_told_of_a_type_that_a_worker_takes(cli, app):
    worker(app, lanes=(("images", "thumbnail", 1), ("default", "mail", 1)))
    assert cli("enqueue", "thumbnail", "--queue", "images").err == ""
    assert cli("enqueue", "mail").err == ""


def test_what_is_assumed_of_a_type_that_nobody_knows_is_told(cli, app):
    silent = app.desk.read(lambda tx: tx.now) - ALIVE_MS - 1
    with App(app.url, clock=lambda: silent) as before:
        worker(before, lanes=(("slow", "thumbnail", 1),))
    assert cli("enqueue", "thumbnail").err == ASSUMED
    assert cli("enqueue", "thumbnail", "--json").err == ASSUMED
    half = "thumbnail is not known here, so 3 attempts were assumed: --max-attempts says otherwise\n"
    assert cli("enqueue", "thumbnail", "--queue", "images").err == half
    assert cli("enqueue", "thumbnail", "--queue", "images", "--max-attempts", "5").err == ""


def test_a_type_that_no_live_worker_knows_is_told_with_the_nearest(cli, app):
    worker(app, lanes=(("orders", "ship", 1), ("orders", "mail", 1)))
    said = ("--queue", "orders", "--max-attempts", "5")
    assert cli("enqueue", "shipp", *said).err == "no live worker knows shipp: was ship meant?\n"
    assert cli("enqueue", "report", *said).err == "no live worker knows report\n"


def test_a_job_is_stored_though_it_cannot_be_seen_who_takes_it(cli, app):
    app.jobs()
    with app.transaction() as tx:
        tx.execute("drop table job_workers")
    answer = cli("enqueue", "thumbnail")
    assert (answer.code, answer.err) == (0, "")
    assert app.get(answer.out.strip()).type == "thumbnail"


def test_a_payload_is_empty_unless_given(cli, app):
    assert app.get(cli("enqueue", "tick").out.strip()).payload == {}


def test_every_option_of_a_call_reaches_the_job(cli, app):
    answer = cli(
        "enqueue", "report", "--priority", "2", "--key", "k-1", "--group", "g", "--tenant", "t", "--queue", "slow",
        "--max-attempts", "7", "--timeout", "5m", "--context", '{"user_id": "u-9"}',
        "--scheduled-at", "2030-01-16T12:00:00+02:00", "--json",
    )  # fmt: skip
    assert answer.json == {"id": answer.json["id"], "status": "queued", "created": True, "outcome": "created"}
    job = app.get(answer.json["id"])
    assert (job.priority, job.idempotency_key, job.group, job.tenant, job.queue) == (2, "k-1", "g", "t", "slow")
    assert (job.max_attempts, job.timeout_ms, job.context) == (7, 300_000, {"user_id": "u-9"})
    assert job.as_json()["scheduled_at"] == "2030-01-16T10:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7_200), ("1d", 86_400), ("0", 0)]
)
def test_a_delay_is_written_in_the_unit_that_fits(cli, app, text, seconds):
    job = app.get(cli("enqueue", "tick", "--delay", text).out.strip())
    assert (job.scheduled_at - job.created_at).total_seconds() == seconds


def test_a_key_that_is_taken_answers_with_its_job(cli):
    first = cli("enqueue", "tick", "--key", "once", "--json").json
    again = cli("enqueue", "tick", "--key", "once")
    assert (again.code, again.out.strip()) == (0, first["id"])
    assert "the key was taken" in again.err
    assert cli("enqueue", "tick", "--key", "once", "--json").json == first | {"created": False, "outcome": "duplicate"}


def test_a_key_of_another_request_is_refused(cli):
    cli("enqueue", "tick", "--key", "once")
    answer = cli("enqueue", "tock", "--key", "once")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error KEY_CONFLICT: ")


def test_a_payload_comes_from_standard_input(tmp_path):
    answer = process(
        "enqueue", "import", "--payload", "-", "--json", cwd=tmp_path, stdin='{"rows": [1, 2], "name": "ä"}'
    )
    shown = process("job", "show", answer.json["id"], "--json", cwd=tmp_path)
    assert shown.json["payload"] == {"rows": [1, 2], "name": "ä"}


def test_standard_input_that_is_no_text_is_refused(cli, monkeypatch):
    import io
    import sys

    class Broken:
        buffer = io.BytesIO(b'{"x": "\xff\xfe"}')

    from holdfast.cli.enqueue import from_stdin
    from holdfast.model.errors import BadInput

    monkeypatch.setattr(sys, "stdin", Broken())
    with pytest.raises(BadInput, match="not UTF-8"):
        from_stdin()


def test_a_payload_over_the_limit_is_refused_before_anything_is_stored(cli):
    answer = cli("enqueue", "import", "--payload", "-", stdin=json.dumps({"x": "y" * 300_000}))
    assert answer.code == 2
    assert answer.err.startswith("error PAYLOAD_TOO_LARGE: ")
    assert cli("jobs", "--json").json["error"]["code"] == "STORE_MISSING"
