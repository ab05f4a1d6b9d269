"""The write-ahead log stays bounded."""

from __future__ import annotations

import threading

import pytest

from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from holdfast.store.sqlite.store import WAL_LIMIT
from tests.store.given import enqueue, insert, listed

BIG = f'"{"x" * 200_000}"'


def log_size(store):
    return _path(store).stat().st_size


def _path(store):
    from pathlib import Path

    return Path(store.location.path + "-wal")


def grow(store, megabytes):
    for _ in range(megabytes):
        insert(store, *(NewJob("mail", BIG) for _ in range(5)))


def test_a_checkpoint_cuts_the_log_to_nothing(sqlite_store):
    grow(sqlite_store, 4)
    assert log_size(sqlite_store) > 0
    sqlite_store.checkpoint()
    assert log_size(sqlite_store) == 0


def test_a_log_that_a_long_reader_let_grow_is_cut_again(sqlite_store, file):
    """A reader that holds its snapshot keeps the log from being reused; when it is gone, the limit holds again."""
    import apsw

    reader = apsw.Connection(str(file))
    reader.execute("begin")
    reader.execute("select count(*) from job_queue").fetchall()
    grow(sqlite_store, 70)
    assert log_size(sqlite_store) > WAL_LIMIT
    sqlite_store.checkpoint()
    assert log_size(sqlite_store) > WAL_LIMIT, "the reader still needs the log"
    reader.execute("commit")
    enqueue(sqlite_store)
    enqueue(sqlite_store)
    assert log_size(sqlite_store) <= WAL_LIMIT
    sqlite_store.checkpoint()
    assert log_size(sqlite_store) == 0
    reader.close()


def test_a_checkpoint_is_skipped_while_another_writes(sqlite_store, open_file, file):
    other = open_file(file)
    enqueue(other)
    other.begin().insert([NewJob("mail", "{}")])
    sqlite_store.checkpoint()
    other.roll_back()
    assert len(listed(sqlite_store)) == 1


def test_a_checkpoint_in_the_middle_of_a_transaction_is_skipped(sqlite_store):
    sqlite_store.begin().insert([NewJob("mail", "{}")])
    sqlite_store.checkpoint()
    sqlite_store.commit()
    assert len(listed(sqlite_store)) == 1


def test_reads_do_not_hold_a_snapshot(sqlite_store):
    enqueue(sqlite_store)
    listed(sqlite_store)
    sqlite_store.checkpoint()
    assert log_size(sqlite_store) == 0


def test_the_last_one_to_close_folds_the_log_away_unless_it_is_to_be_kept(sqlite_store):
    enqueue(sqlite_store)
    sqlite_store.close(keep_log=True)
    assert _path(sqlite_store).exists()
    enqueue(sqlite_store)
    sqlite_store.close()
    assert not _path(sqlite_store).exists()


def test_reading_and_writing_go_on_side_by_side(sqlite_store):
    stop = threading.Event()
    counts = []

    def look():
        while not stop.is_set():
            counts.append(len(listed(sqlite_store, limit=1000)))

    watching = threading.Thread(target=look)
    sqlite_store.read(lambda tx: tx.now)
    watching.start()
    for _ in range(50):
        enqueue(sqlite_store)
    stop.set()
    watching.join()
    assert counts == sorted(counts)


def test_a_checkpoint_that_cannot_be_made_is_told(sqlite_store):
    sqlite_store._writer.raw.close()
    with pytest.raises(StoreError):
        sqlite_store.checkpoint()
