from __future__ import annotations

import stat

import apsw
import psycopg

from holdfast import App
from holdfast.store.postgres.schema import MIGRATIONS as POSTGRES_MIGRATIONS
from holdfast.store.sqlite.schema import MIGRATIONS
from tests.cli.given import process
from tests.servers.postgres import server


def test_the_tables_are_made_once(cli, tmp_path):
    assert cli("migrate").out == f"{len(MIGRATIONS)} migrations applied\n"
    assert cli("migrate").out == "the tables are up to date\n"
    assert cli("migrate", "--json").json == {"applied": 0}
    assert stat.S_IMODE((tmp_path / "jobs.db").stat().st_mode) == 0o600


def test_a_store_of_a_newer_holdfast_is_refused(cli, tmp_path):
    cli("migrate")
    connection = apsw.Connection(str(tmp_path / "jobs.db"))
    connection.execute("insert into holdfast_schema (version, name, applied_at) values (99, 'later', 'x')")
    connection.close()
    for command in ("migrate", "jobs"):
        answer = cli(command)
        assert answer.code == 1
        assert answer.err.startswith("error SCHEMA_TOO_NEW: ")


def test_the_schema_as_text_makes_a_store_that_holdfast_takes_for_its_own(bare, tmp_path):
    answer = bare("sql")
    assert (answer.code, answer.err) == (0, "")
    path = tmp_path / "by_hand.db"
    connection = apsw.Connection(str(path))
    connection.execute(answer.out)
    connection.close()

    url = f"sqlite:///{path}"
    assert bare("migrate", "--url", url).out == "the tables are up to date\n"
    assert bare("enqueue", "tick", "--url", url).code == 0


def test_the_schema_as_text_is_the_schema_that_is_made(bare, tmp_path):
    def tables(path) -> set[tuple[str, str]]:
        connection = apsw.Connection(str(path))
        found = {(name, " ".join(text.split())) for name, text in connection.execute(
            "select name, sql from sqlite_schema where sql is not null")}  # fmt: skip
        connection.close()
        return found

    connection = apsw.Connection(str(tmp_path / "by_hand.db"))
    connection.execute(bare("sql").out)
    connection.close()
    with App(f"sqlite:///{tmp_path}/made.db") as app:
        app.jobs()
    # Migrations are run without their comments, so only what follows a name's own text may differ by them.
    by_hand = {name for name, _ in tables(tmp_path / "by_hand.db")}
    assert by_hand == {name for name, _ in tables(tmp_path / "made.db")}


def test_a_command_works_in_a_process_of_its_own(tmp_path):
    assert process("migrate", cwd=tmp_path).code == 0
    assert process("jobs", "--json", cwd=tmp_path).json == []


def test_the_schema_as_text_makes_a_postgresql_store_that_holdfast_takes_for_its_own(bare):
    url = server().database()
    with psycopg.connect(url) as connection:
        connection.execute(bare("sql", "--store", "postgres").out)
    assert bare("migrate", "--url", url).out == "the tables are up to date\n"
    assert bare("enqueue", "tick", "--url", url).code == 0
    server().drop(url)


def test_a_postgresql_store_waits_for_migrate(bare):
    url = server().database()
    refused = bare("jobs", "--url", url)
    assert (refused.code, refused.err.split(":")[0]) == (1, "error SCHEMA_MISSING")
    assert bare("migrate", "--url", url).out == f"{len(POSTGRES_MIGRATIONS)} migrations applied\n"
    assert bare("jobs", "--json", "--url", url).json == []
    assert bare("doctor", "--url", url).code == 0
    server().drop(url)
