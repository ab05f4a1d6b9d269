"""For processes that must neither wait nor migrate, and for those that want the log cut."""

from __future__ import annotations

from time import monotonic

import apsw
import pytest

from holdfast import App, BadInput, StoreError


def test_a_process_that_must_not_migrate_makes_what_is_absent(tmp_path):
    for _ in range(2):  # and takes what is there
        with App(f"sqlite:///{tmp_path}/new.db", migrate=False) as app:
            assert app.enqueue("anything").created


def test_a_process_that_must_not_migrate_refuses_older_tables(tmp_path):
    url = f"sqlite:///{tmp_path}/old.db"
    with App(url) as app:
        app.enqueue("anything")
    other = apsw.Connection(f"{tmp_path}/old.db")
    other.execute("delete from holdfast_schema where version = (select max(version) from holdfast_schema)")
    other.close()
    with App(url, migrate=False) as app, pytest.raises(StoreError) as caught:
        app.enqueue("anything")
    assert caught.value.code == "SCHEMA_MISSING"


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_process_that_must_not_migrate_leaves_a_database_of_others_as_it_is(tmp_path, journal):
    path = tmp_path / "theirs.db"
    other = apsw.Connection(str(path))
    other.execute(f"pragma journal_mode={journal}")
    other.execute("create table notes (text)")
    other.close()
    before = path.read_bytes()
    with App(f"sqlite:///{path}", migrate=False) as app, pytest.raises(StoreError, match="move it") as caught:
        app.enqueue("anything")
    assert caught.value.code == "FOREIGN_TABLES"
    assert path.read_bytes() == before


def test_a_process_without_patience_is_told_soon(tmp_path):
    path = f"{tmp_path}/jobs.db"
    with App(f"sqlite:///{path}", patience=0.05) as app:
        app.enqueue("anything")
        other = apsw.Connection(path)
        other.execute("begin immediate")
        start = monotonic()
        with pytest.raises(StoreError) as caught:
            app.enqueue("anything")
        other.execute("rollback")
        other.close()
    assert caught.value.code == "STORE_UNAVAILABLE"
    assert monotonic() - start < 10


def test_the_log_is_cut_unless_somebody_reads(tmp_path):
    path = tmp_path / "jobs.db"
    log = tmp_path / "jobs.db-wal"
    with App(f"sqlite:///{path}") as app:
        app.enqueue("anything")
        assert log.stat().st_size > 0
        assert app.checkpoint()
        assert log.stat().st_size == 0
        other = apsw.Connection(str(path))
        other.execute("begin")
        other.execute("select * from job_queue").fetchall()
        app.enqueue("anything")
        assert not app.checkpoint()
        other.execute("rollback")
        other.close()
        assert app.checkpoint()


@pytest.mark.parametrize("error", [ValueError("no"), StopIteration("no"), RuntimeError("no"), KeyboardInterrupt()])
def test_an_error_leaves_the_block_as_it_is_and_rolls_back(tmp_path, error):
    with App(f"sqlite:///{tmp_path}/jobs.db") as app:
        caught: BaseException | None = None
        try:
            with app.transaction():
                app.enqueue("anything")
                raise error  # noqa: TRY301  # the block itself is what is tried
        except BaseException as raised:  # noqa: BLE001  # whatever comes out is looked at
            caught = raised
        assert caught is error
        assert app.jobs() == []


@pytest.mark.parametrize("statement", ["commit", "select 1; commit", " rollback", 7])
def test_a_statement_that_would_end_the_block_is_still_refused(tmp_path, statement):
    with App(f"sqlite:///{tmp_path}/jobs.db") as app, pytest.raises(BadInput), app.transaction() as tx:
        tx.execute(statement)
