from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from holdfast.model.errors import StoreError
from holdfast.store.sqlite.connection import Connection
from holdfast.store.sqlite.location import Location
from holdfast.store.sqlite.store import SqliteStore
from tests.store.given import MINUTE, NOON, enqueue, get, insert, listed, write


def code_of(call):
    with pytest.raises(StoreError) as caught:
        call()
    assert str(caught.value)
    return caught.value.code


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_file_and_its_log_are_for_their_owner_alone(file, open_file, umask):
    old = os.umask(umask)
    try:
        store = open_file(file)
        enqueue(store)
        modes = {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()}
    finally:
        os.umask(old)
    assert modes == {"jobs.db": 0o600, "jobs.db-wal": 0o600, "jobs.db-shm": 0o600}


def test_a_file_that_exists_keeps_its_mode(file, open_file):
    file.touch(mode=0o640)
    file.chmod(0o640)
    enqueue(open_file(file))
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(file, open_file):
    file.write_bytes(b"Dear diary, " * 200)
    store = open_file(file)
    assert code_of(store.migrate) == "NOT_A_DATABASE"
    assert file.read_bytes() == b"Dear diary, " * 200


def test_a_folder_is_no_file(tmp_path, open_file):
    assert code_of(lambda: open_file(tmp_path).migrate()) == "STORE_CANNOT_OPEN"


def test_a_missing_folder_is_told(tmp_path, open_file):
    with pytest.raises(StoreError, match="check that the folder exists") as caught:
        open_file(tmp_path / "missing" / "jobs.db").migrate()
    assert caught.value.code == "STORE_CANNOT_OPEN"


def test_an_error_of_opening_is_the_answer_of_a_write(tmp_path, open_file):
    store = open_file(tmp_path / "missing" / "jobs.db")
    answers, news = store.write([lambda tx: tx.now, lambda tx: tx.stamp])
    assert [answer.code for answer in answers] == ["STORE_CANNOT_OPEN"] * 2
    assert not news


def test_an_unsafe_library_is_refused_at_open(file):
    import sqlite3

    from holdfast.store.sqlite.location import is_safe

    store = SqliteStore(f"sqlite:///{file}?driver=sqlite3")
    if is_safe(sqlite3.sqlite_version):
        assert store.library_version() == sqlite3.sqlite_version
        store.close()
    else:
        assert code_of(store.library_version) == "UNSAFE_SQLITE"


def test_the_default_driver_carries_a_safe_library(sqlite_store):
    import apsw

    assert sqlite_store.library_version() == apsw.sqlite_lib_version()


def test_a_damaged_file_is_told(file, open_file):
    store = open_file(file)
    insert_many(store)
    store.close()
    size = file.stat().st_size
    with file.open("r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (size - 8192))
    assert code_of(lambda: listed(open_file(file))) == "STORE_CORRUPT"


def insert_many(store):
    from holdfast.model.request import NewJob

    insert(store, *(NewJob("mail", f'"{"x" * 500}"') for _ in range(200)))


def test_commits_are_durable_by_default_and_less_so_by_choice(file, open_file):
    store = open_file(file)
    write(store, lambda tx: tx.pause("q", "ann"))
    assert pragma(store, "synchronous") == 2
    assert pragma(store, "journal_mode") == "wal"
    normal = SqliteStore(store.url + "&synchronous=normal")
    normal.migrate()
    assert pragma(normal, "synchronous") == 1
    normal.close()


def test_a_hasty_write_waits_for_no_disk_and_the_next_one_does(file, open_file):
    store = open_file(file)
    seen = []

    def look(tx):
        seen.append(tx.connection.execute("pragma synchronous")[0][0])
        return tx.pause("q", "ann")

    def fail(tx):
        look(tx)
        raise ValueError("no")

    assert store.write([look], hastily=True)[0] == [True]
    assert isinstance(store.write([fail], hastily=True)[0][0], ValueError)
    store.write([look])
    store.write([look, look], hastily=True)  # who shares a commit may have been promised something
    assert seen == [1, 1, 2, 2, 2]


def test_a_hasty_write_to_a_file_that_cannot_be_opened_is_told_so(file, open_file):
    store = open_file(file)
    store.close()
    file.write_bytes(b"not a database" * 100)
    assert store.write([lambda tx: tx.pause("q", "ann")], hastily=True)[0][0].code == "NOT_A_DATABASE"


def pragma(store, name):
    return store._writer.execute(f"pragma {name}")[0][0]


def test_a_locked_database_is_waited_for(file, open_file):
    first, second = open_file(file), open_file(file)
    first.begin()
    waiting = threading.Thread(target=lambda: enqueue(second))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    first.roll_back()
    waiting.join()
    assert len(listed(first)) == 1


def test_a_transaction_reads_the_clock_after_it_has_the_lock(file, open_file, clock):
    """A later transaction never has an earlier instant, however long it waited."""
    first, second = open_file(file), open_file(file)
    second.migrate()
    first.begin()
    tried, begin = threading.Event(), second._writer.begin

    def begin_and_tell():
        tried.set()
        begin()

    second._writer.begin = begin_and_tell
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(write(second, lambda tx: tx.now)))
    waiting.start()
    assert tried.wait(10)
    clock.forward(MINUTE)
    first.roll_back()
    waiting.join()
    assert seen == [NOON + MINUTE]


def test_a_transaction_opened_by_hand_keeps_other_writers_out(file, open_file):
    first, second = open_file(file), open_file(file, patience=0.01)
    second.migrate()
    first.begin()
    assert second.write([lambda tx: tx.now])[0][0].code == "STORE_UNAVAILABLE"
    first.roll_back()


def test_patience_with_a_locked_database_has_an_end(file, open_file):
    first, second = open_file(file), open_file(file, patience=0.05)
    second.migrate()
    first.begin()
    answers, _ = second.write([lambda tx: tx.now])
    assert answers[0].code == "STORE_UNAVAILABLE"
    first.roll_back()
    assert enqueue(second)


def test_patience_is_spent_once_for_a_group_of_calls(file, open_file):
    first, second = open_file(file), open_file(file, patience=0.2)
    second.migrate()
    first.begin()
    tries = []
    second._writer.begin = counting(second._writer.begin, tries)
    answers, _ = second.write([lambda tx: tx.now] * 10)
    first.roll_back()
    assert {answer.code for answer in answers} == {"STORE_UNAVAILABLE"}
    seconds = tries[-1] - tries[0]
    assert seconds < 10 * 0.2


def counting(call, tries):
    from time import monotonic

    def counted():
        tries.append(monotonic())
        return call()

    return counted


OPENING = """
import sys, time
from holdfast.model.request import NewJob
from holdfast.store.sqlite.store import SqliteStore
store = SqliteStore(sys.argv[1])
while time.time() < float(sys.argv[2]):
    pass
(answer,), _ = store.write([lambda tx: tx.insert([NewJob("mail", "{}")])])
if isinstance(answer, Exception):
    raise answer
"""


@pytest.mark.slow
def test_processes_that_open_a_new_file_at_the_same_moment_all_succeed(file, settings):
    from time import time

    url = f"sqlite:///{file}?{settings}"
    start = str(time() + 0.7)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENING, url, start], env=environment, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    errors = [process.communicate()[1] for process in processes]
    assert [error for error in errors if error] == []
    store = SqliteStore(url)
    assert len(listed(store)) == 8
    store.close()


def test_a_store_uses_the_wall_clock_when_given_none(file):
    from datetime import UTC, datetime, timedelta

    store = SqliteStore(f"sqlite:///{file}")
    job = get(store, enqueue(store))
    store.close()
    assert abs(job.created_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_setting_that_the_library_does_not_take_is_told(file):
    import apsw

    connection = Connection.__new__(Connection)
    connection.adopt(apsw.Connection(":memory:"), Location(f"sqlite:///{file}"))
    with pytest.raises(StoreError, match="journal_mode=memory instead of wal"):
        connection.prepare("full", 1024)
    connection.close()


def test_going_back_after_the_disk_ended_the_transaction_changes_nothing(sqlite_store):
    sqlite_store.migrate()
    connection = sqlite_store._writer
    connection.back_to_save()  # no transaction is open: there is nothing to go back to
    assert not connection.in_transaction()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_removed_or_replaced_is_opened_anew(file, open_file, caplog, replaced):
    store = open_file(file)
    lost = enqueue(store)
    assert get(store, lost)
    for path in list(file.parent.glob("jobs.db*")):
        path.unlink()
    if replaced:
        other = open_file(file)
        kept = enqueue(other)
        assert get(store, kept)  # the reader notices by itself
        assert sorted([enqueue(store), kept]) == sorted(listed(other))
    else:
        job_id = enqueue(store)
        assert listed(store) == [job_id]
        assert listed(open_file(file)) == [job_id]
    assert "was removed or replaced" in caplog.text


def test_a_file_whose_successor_cannot_be_opened_is_told_each_time_until_it_can(file, open_file):
    store = open_file(file)
    assert get(store, enqueue(store))
    for path in list(file.parent.glob("jobs.db*")):
        path.unlink()
    file.write_bytes(b"no database at all" * 100)
    for _ in range(2):
        assert code_of(lambda: listed(store)) == "NOT_A_DATABASE"
        assert code_of(store.begin) == "NOT_A_DATABASE"
    file.unlink()
    assert listed(store) == []
    assert enqueue(store)


def test_a_commit_that_fails_leaves_nothing_open(file, open_file):
    store = open_file(file)
    enqueue(store)
    store._writer.execute("pragma foreign_keys = on")
    transaction = store.begin()
    transaction.execute("create table parent (id integer primary key)")
    transaction.execute("create table child (of integer references parent deferrable initially deferred)")
    transaction.execute("insert into child values (7)")
    assert code_of(store.commit)
    assert enqueue(store)
    assert write(store, lambda tx: tx.execute("select count(*) from sqlite_schema where name = 'child'")) == [(0,)]


def test_what_sqlite_has_undone_by_itself_is_not_undone_again(file, open_file):
    store = open_file(file)
    store.begin().connection.execute("rollback")
    store.roll_back()
    assert enqueue(store)


def test_a_file_behind_a_link_that_leads_nowhere_yet_is_made_for_its_owner_alone(file, open_file, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    file.symlink_to(folder / "real.db")
    old = os.umask(0o000)
    try:
        enqueue(open_file(file))
    finally:
        os.umask(old)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"real.db": 0o600, "real.db-wal": 0o600, "real.db-shm": 0o600}
