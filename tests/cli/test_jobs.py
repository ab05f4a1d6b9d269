from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from holdfast.model.job import PUBLIC_FIELDS
from holdfast.model.status import Status
from tests.cli.given import CONTRACT_FIELDS, dead, ended, running


def test_a_listing_is_an_array_of_jobs_newest_first(cli, app):
    ids = [app.enqueue("tick").id for _ in range(3)]
    found = cli("jobs", "--json").json
    assert [job["id"] for job in found] == ids[::-1]
    assert set(found[0]) == set(PUBLIC_FIELDS)
    assert set(found[0]) >= CONTRACT_FIELDS


def test_what_another_program_wrote_is_marked_and_hides_nobody(cli, app):
    ids = [app.enqueue("tick").id for _ in range(3)]
    with app.transaction() as tx:
        tx.execute("update job_queue set payload = '{oops', context = 'x' where id = ?", (ids[1],))
    found = cli("jobs", "--json").json
    assert [job["id"] for job in found] == ids[::-1]
    assert (found[1]["payload"]["code"], found[1]["context"]["code"]) == ("STORED_NOT_JSON", "STORED_NOT_JSON")
    assert cli("job", "show", ids[1], "--json").json["payload"]["code"] == "STORED_NOT_JSON"
    assert cli("jobs").code == 0


def test_an_empty_listing_is_an_empty_array(cli, app):
    app.jobs()
    answer = cli("jobs", "--json")
    assert (answer.code, answer.out, answer.err) == (0, "[]\n", "")


def test_an_empty_table_says_so_beside_the_output(cli, app):
    app.jobs()
    assert cli("jobs") == (0, "", "no jobs: `holdfast enqueue TYPE`, or your application, makes one\n")
    answer = cli("jobs", "--status", "failed", "--group", "nosuch")
    assert answer == (0, "", "no job matches --status --group\n")


def test_a_waiting_job_is_listed_with_what_holds_it_back(cli, app):
    parent = app.enqueue("mail")
    app.enqueue("mail", depends_on=[parent.id])
    assert cli("jobs", "--limit", "1").out.splitlines()[1].endswith("waits for another job")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--status", "dead_letter"], {"dead"}),
        (["--type", "mail"], {"plain"}),
        (["--queue", "slow"], {"slow"}),
        (["--group", "g"], {"grouped"}),
        (["--tenant", "t"], {"theirs"}),
        (["--status", "queued", "--queue", "slow"], {"slow"}),
        (["--status", "failed"], set()),
    ],
)
def test_filters_narrow_the_listing(cli, app, options, found):
    ids = {
        "plain": app.enqueue("mail").id,
        "slow": app.enqueue("tick", queue="slow").id,
        "grouped": app.enqueue("tick", group="g").id,
        "theirs": app.enqueue("tick", tenant="t").id,
        "dead": dead(app, "tock"),
    }
    assert {job["id"] for job in cli("jobs", "--json", *options).json} == {ids[name] for name in found}


def test_a_listing_goes_on_below_a_job(cli, app):
    ids = [app.enqueue("tick").id for _ in range(5)]
    first = cli("jobs", "--limit", "2")
    assert first.err == f"more: --before {ids[3]}\n"
    rest = cli("jobs", "--before", ids[3], "--json").json
    assert [job["id"] for job in rest] == ids[2::-1]


def test_a_table_in_a_pipe_is_plain_columns(cli, app):
    failed = ended(app, Status.FAILED, "mail", message="no such address")
    later = app.enqueue("report", delay=3600).id
    run = running(app, "tick")
    answer = cli("jobs")
    head, *lines = answer.out.splitlines()
    assert head.split() == ["ID", "TYPE", "STATUS", "QUEUE", "RUNS", "CREATED", "NOTE"]
    assert [line.split()[:4] for line in lines] == [
        [run.id, "tick", "in_progress", "default"],
        [later, "report", "queued", "default"],
        [failed, "mail", "failed", "default"],
    ]
    assert "due in 60 min" in lines[1]
    assert lines[2].endswith("ValueError: no such address")
    assert "\x1b" not in answer.out


def test_a_watch_needs_a_terminal(cli):
    answer = cli("jobs", "--watch")
    assert answer.code == 2
    assert "--watch needs a terminal" in answer.err


def test_who_looks_at_a_store_that_is_not_there_is_told(cli, tmp_path):
    for arguments in (
        ["jobs"], ["queues", "list"], ["workers"], ["stats"], ["top", "--once"], ["dlq", "list"], ["job", "show", "x"],
        ["dlq", "purge", "--all", "--yes"], ["dlq", "retry", "--all"],
    ):  # fmt: skip
        answer = cli(*arguments)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith(
            f"error STORE_MISSING: there is no database at {tmp_path}/jobs.db: `holdfast migrate`"
        )
        assert not (tmp_path / "jobs.db").exists()


def test_who_looks_at_the_file_of_another_application_leaves_it_as_it_is(cli, tmp_path):
    file = tmp_path / "jobs.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("create table books (title)")
    before = file.read_bytes()
    for arguments in (["jobs"], ["queues", "list"], ["top", "--once"]):
        answer = cli(*arguments)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("error SCHEMA_MISSING: ")
        assert file.read_bytes() == before
