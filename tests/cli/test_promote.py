from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from holdfast import App
from holdfast.store.moving import TABLES
from tests.cli.given import running
from tests.house_rules.tree import DOCS
from tests.servers.postgres import server


@pytest.fixture
def database():
    url = server().migrated()
    yield url
    server().drop(url)


@pytest.fixture
def promote(cli, database):
    """`holdfast promote` from the private store, unasked."""
    return lambda *more, **kwargs: cli("promote", "--to", database, "--yes", *more, **kwargs)


def test_a_queue_moves_and_the_verdict_is_told(app, promote, database):
    app.enqueue("mail", {"n": 1})
    answer = promote()
    assert (answer.code, answer.err) == (0, "")
    assert "ok  1 row of job_queue: 1 queued" in answer.out
    assert answer.out.count("on both sides") == len(TABLES)
    assert "nothing was lost" in answer.out
    assert "Set HOLDFAST_URL to postgresql://" in answer.out
    assert "postgres@" not in answer.out, "no user, no password"
    with App(database) as there:
        assert [job.type for job in there.jobs()] == ["mail"]


def test_programs_get_a_report(app, promote, url):
    app.enqueue("mail", {})
    report = promote("--json").json
    assert report["outcome"] == "moved"
    assert report["from"] == url.partition("?")[0]
    assert report["statuses"] == {"queued": 1}
    assert set(report["tables"]) == set(TABLES)
    assert len(report["tables"]["job_queue"]["sha256"]) == 64
    assert promote("--json").json["outcome"] == "already"


def test_the_tables_of_the_report_lie_in_the_closed_file_under_the_names_that_the_guide_tells(app, promote, url):
    app.enqueue("mail", {})
    report = promote("--json").json
    path = url.removeprefix("sqlite:///").partition("?")[0]
    with closing(sqlite3.connect(path)) as file:
        names = {name for (name,) in file.execute("select name from sqlite_master where type = 'table'")}
    assert {f"moved_{table}" for table in report["tables"]} <= names
    guide = (DOCS / "guides" / "promote.md").read_text(encoding="utf-8")
    assert "`job_queue` is called `moved_job_queue`" in guide
    assert len(re.findall("moved_job_", guide)) == 1, "a list of them grows old"


def test_it_comes_back(app, promote):
    app.enqueue("mail", {})
    promote()
    answer = promote("--undo")
    assert answer.code == 0
    assert "Set HOLDFAST_URL to sqlite:///" in answer.out
    assert len(app.jobs()) == 1


def test_every_command_on_the_old_address_says_where_to_go(app, promote, cli):
    app.enqueue("mail", {})
    app.close()
    promote()
    for command in (("jobs",), ("enqueue", "mail"), ("queues", "list"), ("migrate",), ("stats",)):
        answer = cli(*command)
        assert answer.code == 1
        assert answer.err.startswith("error STORE_MOVED: ")
        assert "set HOLDFAST_URL" in answer.err


def test_jobs_that_run_stop_it(app, promote):
    running(app)
    answer = promote("--wait", "0")
    assert answer.code == 1
    assert answer.err.startswith("error RUNS_UNDER_WAY: ")
    assert "--wait SECONDS" in answer.err


@pytest.mark.parametrize(("said", "code"), [("y\n", 0), ("n\n", 1), ("", 1)])
def test_it_asks_first(app, cli, database, said, code):
    app.enqueue("mail", {})
    answer = cli("promote", "--to", database, stdin=said)
    assert answer.code == code
    assert answer.err.startswith("Move every job of sqlite:///")
    assert "when nothing runs any more, it is closed, and enqueues fail (STORE_MOVED)" in answer.err
    assert ("--yes" in answer.err) == (code == 1)


def test_with_undo_it_asks_about_the_way_back(app, cli, promote, database):
    app.enqueue("mail", {})
    promote()
    assert cli("promote", "--to", database, "--undo", stdin="n\n").err.startswith("Move every job of postgresql://")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("sqlite:///a.db", "sqlite:///b.db"),
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("postgresql://h/a", "postgresql://h/b"),
        ("postgresql://h/a", "sqlite:///a.db"),
        ("sqlite:///a.db?durable=yes", "postgresql://h/b"),
        ("sqlite:///a.db", "postgresql://h:port/b"),
    ],
)
def test_wrong_use(bare, source, target):
    answer = bare("promote", "--from", source, "--to", target, "--yes")
    assert answer.code == 2


def test_a_target_is_needed(bare):
    assert bare("promote").code == 2


def test_a_target_in_use_is_refused(app, promote, database):
    app.enqueue("mail", {})
    with App(database) as there:
        there.enqueue("mail", {})
    answer = promote("--json")
    assert (answer.code, answer.json["error"]["code"]) == (1, "TARGET_NOT_EMPTY")


def test_a_file_that_is_not_there_is_not_made(bare, database, tmp_path):
    answer = bare("promote", "--from", f"sqlite:///{tmp_path}/none.db", "--to", database, "--yes")
    assert (answer.code, "STORE_MISSING" in answer.err) == (1, True)
    assert not (tmp_path / "none.db").exists()


def test_the_schema_and_the_roles_for_postgresql_are_plain_sql(bare):
    import psycopg

    url = server().database()
    with psycopg.connect(url) as connection:
        connection.execute(bare("sql", "--store", "postgres").out)
        connection.execute(bare("sql", "--roles").out)
    assert bare("migrate", "--url", url).out == "the tables are up to date\n"
    assert bare("enqueue", "tick", "--url", url).code == 0
    server().drop(url)
