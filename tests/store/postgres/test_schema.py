from __future__ import annotations

import threading

import psycopg
import pytest

from holdfast.model.errors import StoreError
from holdfast.store.postgres import schema
from holdfast.store.postgres.store import PostgresStore
from tests.store.given import enqueue, get, listed
from tests.store.sqlite.test_schema import CANONICAL


def run(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            rows = connection.execute(statement)
    return rows.fetchall() if rows.description else []


def refusal(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


def test_a_database_without_tables_is_refused_with_the_command_that_makes_them(bare, open_url):
    error = refusal(lambda: enqueue(open_url(bare)))
    assert error.code == "SCHEMA_MISSING"
    assert "run `holdfast migrate`" in str(error)
    assert run(bare, "select count(*) from pg_class where relname like 'job%'") == [(0,)]


def test_a_person_makes_the_tables_once(bare, open_url):
    store = open_url(bare)
    assert [store.migrate(), store.migrate()] == [len(schema.MIGRATIONS), 0]
    assert get(store, enqueue(store)).type == "mail"


def test_many_may_migrate_at_once(bare, open_url):
    made = []
    stores = [open_url(bare) for _ in range(4)]
    threads = [threading.Thread(target=lambda own=own: made.append(own.migrate())) for own in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [0, 0, 0, len(schema.MIGRATIONS)]


def test_the_canonical_columns_come_first(bare, open_url):
    open_url(bare).migrate()
    query = (
        "select column_name from information_schema.columns where table_name = 'job_queue' order by ordinal_position"
    )
    assert [name for (name,) in run(bare, query)][: len(CANONICAL)] == CANONICAL


def test_a_table_of_someone_else_is_left_alone(bare, open_url):
    run(bare, "create table job_queue (mine integer)")
    store = open_url(bare)
    assert refusal(store.migrate).code == refusal(lambda: enqueue(store)).code == "FOREIGN_TABLES"


def test_the_tables_of_a_newer_holdfast_are_left_alone(bare, open_url):
    store = open_url(bare)
    store.migrate()
    run(bare, "insert into holdfast_schema values (99, '0099_later', now())")
    store.close()
    assert refusal(store.migrate).code == refusal(lambda: listed(store)).code == "SCHEMA_TOO_NEW"


def test_tables_that_were_begun_and_not_recorded_count_as_none(bare, open_url):
    run(bare, "create table holdfast_schema (version integer primary key, name text, applied_at timestamptz)")
    assert open_url(bare).migrate() == len(schema.MIGRATIONS)


def test_a_migration_that_fails_leaves_nothing(bare, open_url):
    run(bare, "create table job_leader (mine integer)")
    error = refusal(open_url(bare).migrate)
    assert error.code == "STORE_REFUSED"
    assert run(bare, "select relname from pg_class where relname in ('job_queue', 'holdfast_schema')") == []


def test_every_migration_is_listed():
    folder = schema.files("holdfast.store.postgres") / "migrations"
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.sql" for name in schema.MIGRATIONS]


def test_a_server_that_is_not_there_is_told(tmp_path):
    error = refusal(lambda: PostgresStore(f"postgresql:///jobs?host={tmp_path}").migrate())
    assert error.code == "STORE_UNAVAILABLE"
    assert "check the address" in str(error)
