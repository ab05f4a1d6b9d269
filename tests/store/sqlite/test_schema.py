from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import holdfast.store.sqlite.schema as schema_module
from holdfast.model.errors import StoreError
from holdfast.store.sqlite.connection import Connection
from holdfast.store.sqlite.location import Location
from holdfast.store.sqlite.store import SqliteStore
from tests.store.given import enqueue, get, listed

MIGRATIONS = Path(schema_module.__file__).parent / "migrations"
MADE = {name for path in MIGRATIONS.glob("*.sql") for name in re.findall(r"(?m)^create table (\w+)", path.read_text())}
OURS = MADE | {"holdfast_schema"}
CANONICAL = [
    "id", "type", "status", "priority", "scheduled_at", "lease_owner", "lease_until", "payload", "idempotency_key",
    "attempts", "max_retries", "error", "created_at", "updated_at", "started_at", "completed_at", "result",
]  # fmt: skip


def names(path, kind="table"):
    with apsw.Connection(str(path)) as connection:
        found = {name for (name,) in connection.execute("select name from sqlite_schema where type = ?", (kind,))}
    connection.close()
    return found


def run(path, *statements):
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def code_of(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value.code


def test_the_schema_is_what_the_migrations_make(file, open_file, tmp_path):
    open_file(file).migrate()
    plain = apsw.Connection(str(tmp_path / "plain.db"))
    for migration in sorted(MIGRATIONS.glob("*.sql")):
        for _ in plain.execute(migration.read_text()):
            pass
    query = "select name, tbl_name from sqlite_schema where name <> 'holdfast_schema' order by name"
    made = apsw.Connection(str(file))
    assert list(made.execute(query)) == list(plain.execute(query))
    for table in OURS - {"holdfast_schema"}:
        columns = f"pragma table_xinfo({table})"
        assert list(made.execute(columns)) == list(plain.execute(columns))
    plain.close()
    made.close()


def test_every_migration_file_is_known_and_in_order():
    assert [path.stem for path in sorted(MIGRATIONS.glob("*.sql"))] == list(schema_module.MIGRATIONS)


def test_the_canonical_columns_come_first(file, open_file):
    store = open_file(file)
    columns = store.read(lambda tx: tx.execute("select name from pragma_table_info('job_queue')"))
    assert [name for (name,) in columns][:17] == CANONICAL


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("status = 'done'", "status"),
        ("priority = 0", "priority"),
        ("priority = 11", "priority"),
        ("attempts = -1", "attempts"),
        ("max_retries = 0", "max_retries"),
        ("status = 'in_progress'", "lease"),
        ("lease_owner = 'w', lease_until = 'x'", "lease"),
        ("status = 'completed'", "completed_at"),
        ("completed_at = 'x'", "completed_at"),
        ("tenant = null", "tenant"),
    ],
)
def test_the_table_refuses_what_the_code_never_writes(file, open_file, change, rule):
    store = open_file(file)
    enqueue(store)
    answers, _ = store.write([lambda tx: tx.execute(f"update job_queue set {change}")])
    assert answers[0].code == "STORE_REFUSED"
    assert "constraint" in str(answers[0])


def test_a_newer_schema_is_refused_and_left_as_it_was(file, open_file):
    open_file(file).migrate()
    run(file, "insert into holdfast_schema values (99, '0099_later', 'x')")
    before = file.read_bytes()
    assert code_of(open_file(file).migrate) == "SCHEMA_TOO_NEW"
    assert code_of(lambda: listed(open_file(file))) == "SCHEMA_TOO_NEW"
    assert names(file) == OURS
    assert len(before) == file.stat().st_size


@pytest.mark.parametrize(
    "made",
    [
        "create table job_queue (x)",
        "create table Job_Queue (x)",
        "create view job_queue as select 1 as x",
        "create index job_queue on other (x)",
        "create table job_workers (x)",
        "create view holdfast_schema as select 1 as version",
    ],
)
def test_a_foreign_use_of_a_name_of_ours_is_refused_and_the_file_left_as_it_was(file, open_file, made):
    run(file, "create table other (x)", made, "insert into other values (7)")
    before = file.read_bytes()
    for call in (open_file(file).migrate, lambda: enqueue(open_file(file)), lambda: listed(open_file(file))):
        assert code_of(call) == "FOREIGN_TABLES"
        assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]


def test_a_copy_of_a_newer_file_is_refused_and_left_as_it_was(file, open_file, tmp_path):
    store = open_file(file)
    store.migrate()
    store.close()
    copy = tmp_path / "copy.db"
    run(file, "insert into holdfast_schema values (99, 'later', '')", f"vacuum into '{copy}'")
    before = copy.read_bytes()
    assert code_of(open_file(copy).migrate) == "SCHEMA_TOO_NEW"
    assert copy.read_bytes() == before


def test_a_look_tells_whether_our_tables_are_there_and_makes_none(file, open_file):
    run(file, "create table other (x)")
    before = file.read_bytes()
    assert not schema_module.has_schema(Location(f"sqlite:///{file}"))
    assert file.read_bytes() == before
    open_file(file).migrate()
    assert schema_module.has_schema(Location(f"sqlite:///{file}"))


def test_a_look_at_what_is_no_database_is_told(file):
    file.write_text("shopping list " * 500)
    assert code_of(lambda: schema_module.has_schema(Location(f"sqlite:///{file}"))) == "NOT_A_DATABASE"


def test_a_look_at_foreign_tables_is_told(file):
    run(file, "create table job_queue (x)")
    assert code_of(lambda: schema_module.has_schema(Location(f"sqlite:///{file}"))) == "FOREIGN_TABLES"


def test_tables_of_the_application_live_beside_ours(file, open_file):
    run(file, "create table users (x)", "insert into users values (7)")
    store = open_file(file)
    assert store.migrate() == len(schema_module.MIGRATIONS)
    assert enqueue(store)
    assert names(file) == OURS | {"users"}


def test_a_file_with_our_record_but_no_migrations_is_brought_up_to_date(file, open_file):
    run(
        file, "create table holdfast_schema (version integer not null primary key, name text not null, applied_at text)"
    )
    assert open_file(file).migrate() == len(schema_module.MIGRATIONS)


def test_a_process_that_loses_the_race_to_migrate_finds_the_work_done(file, open_file, monkeypatch):
    """Between the look without the lock and the look under it, another process may have been faster."""
    first, second = open_file(file), open_file(file)
    look = schema_module._version
    looks = []

    def slow(connection, queries):
        found = look(connection, queries)
        looks.append(found)
        if len(looks) == 1:
            first.migrate()
        return found

    monkeypatch.setattr(schema_module, "_version", slow)
    assert second.migrate() == 0
    assert get(second, enqueue(first)).type == "mail"


DYING = """
import os, signal, sys
from holdfast.store.sqlite import connection
from holdfast.store.sqlite.connection import Connection
from holdfast.store.sqlite.location import Location
from holdfast.store.sqlite.store import SqliteStore
run, left = connection.Connection.execute, [int(sys.argv[2])]
def execute(self, sql, parameters=None):
    answer = run(self, sql, parameters)
    if sql.lstrip().startswith(("create", "insert into holdfast_schema", "-- schema_applied")):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return answer
connection.Connection.execute = execute
SqliteStore(sys.argv[1]).migrate()
"""


@pytest.mark.parametrize("statement", [1, 2, 5, 9])
def test_a_kill_in_the_middle_of_a_migration_leaves_nothing_half_made(file, open_file, settings, statement):
    url = f"sqlite:///{file}?{settings}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", DYING, url, str(statement)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert names(file) == set()
    store = open_file(file)
    assert store.migrate() == len(schema_module.MIGRATIONS)
    assert enqueue(store)


def test_an_error_that_is_not_the_databases_passes_and_leaves_nothing_half_made(file, settings):
    store = SqliteStore(f"sqlite:///{file}?{settings}", clock=lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        store.migrate()
    store.close()
    assert names(file) == set()


def test_on_a_callers_connection_no_tables_are_made(file, open_file, settings):
    run(file, "create table users (x)")
    own = sqlite3.connect(file) if settings else apsw.Connection(str(file))
    with pytest.raises(StoreError, match="holdfast migrate") as caught:
        open_file(file).join(own)
    own.close()
    assert caught.value.code == "SCHEMA_MISSING"
    assert names(file) == {"users"}


def test_tables_that_do_not_fit_are_not_made_by_half(tmp_path):
    store = SqliteStore(f"sqlite:///{tmp_path}/jobs.db")
    connection = Connection(store.location)
    connection.execute("pragma max_page_count = 5")
    with pytest.raises(StoreError) as caught:
        schema_module.ensure_schema(connection, store.queries, lambda: 0, lambda _, call: call(), [])
    connection.close()
    assert caught.value.code == "STORE_FULL"
    assert names(tmp_path / "jobs.db") == set()
