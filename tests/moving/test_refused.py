"""What cannot be moved is refused before anything is changed; what fails half-way is undone."""

from __future__ import annotations

import apsw
import pytest

from holdfast import App
from holdfast.engine import moving
from holdfast.model.errors import StoreError
from holdfast.model.moving import Mark
from tests.moving.given import (
    database_name,
    enqueue,
    everything,
    is_alive,
    many,
    move,
    quiet,
    refusal,
    run,
    undo,
)
from tests.servers.postgres import server


def in_the_way(database, times):
    """The server ends so many steps as it ends a deadlock."""
    run(
        database,
        "create sequence tries",
        f"""create function in_the_way() returns trigger language plpgsql as $$ begin
            if nextval('tries') <= {times} then raise exception 'deadlock' using errcode = '40P01'; end if;
            return null;
        end $$""",
        "create trigger in_the_way before delete on job_pauses for each statement execute function in_the_way()",
    )


def test_a_database_in_use_is_refused(store, file, database, ends):
    enqueue(store)
    with App(database) as app:
        app.enqueue("mail", {})
    error = refusal(lambda: move(ends))
    assert error.code == "TARGET_NOT_EMPTY"
    assert "1 row in job_queue" in str(error)
    assert is_alive(file)


def test_a_database_without_tables_is_refused(store, file, side):
    enqueue(store)
    bare = server().database()
    error = refusal(lambda: moving.move(side(file), side(bare), wait=0, tell=quiet))
    assert error.code == "SCHEMA_MISSING"
    assert "holdfast migrate" in str(error)
    assert is_alive(file)
    server().drop(bare)


@pytest.mark.parametrize("newer", ["file", "database"])
def test_a_newer_schema_is_refused(store, database, ends, tmp_path, newer):
    enqueue(store)
    store.close()
    if newer == "file":
        connection = apsw.Connection(str(tmp_path / "jobs.db"))
        connection.execute("insert into holdfast_schema values (99, 'later', '')")
        connection.close()
    else:
        run(database, "insert into holdfast_schema values (99, 'later', now())")
    assert refusal(lambda: move(ends)).code == "SCHEMA_TOO_NEW"


def test_a_file_that_is_not_there_is_not_made(side, database, tmp_path):
    ends = side(f"sqlite:///{tmp_path}/none.db"), side(database)
    assert refusal(lambda: move(ends)).code == "STORE_MISSING"
    assert refusal(lambda: undo(ends)).code == "STORE_MISSING"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_told(side, database, tmp_path):
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as one" * 100)
    assert refusal(lambda: move((side(f"sqlite:///{tmp_path}/text.db"), side(database)))).code == "NOT_A_DATABASE"


def test_jobs_on_the_way_to_one_store_do_not_go_to_another(store, file, database, side, ends):
    enqueue(store)
    move(ends)
    other = server().migrated()
    assert refusal(lambda: move((side(file), side(other)))).code == "STORE_MOVED"
    assert refusal(lambda: undo((side(file), side(other)))).code == "NOTHING_TO_UNDO"
    server().drop(other)


def test_a_database_whose_jobs_went_elsewhere_takes_no_others(store, database, side, ends, tmp_path):
    enqueue(store)
    move(ends)
    undo(ends)
    other = f"sqlite:///{tmp_path}/other.db"
    with App(other) as app:
        app.enqueue("mail", {})
    # Its old jobs are all in the first file, but that one is not asked here.
    assert refusal(lambda: move((side(other), side(database)))).code == "STORE_MOVED"


def test_without_a_move_there_is_nothing_to_undo(store, file, ends):
    enqueue(store)
    store.write([lambda tx: tx.pause("default", "holdfast promote")])
    assert refusal(lambda: undo(ends)).code == "NOTHING_TO_UNDO"
    assert everything(file)["pauses"] == [], "a move that was killed while it waited left its pauses"


def test_a_row_that_the_database_refuses_undoes_the_move(store, file, database, ends, tmp_path):
    enqueue(store)
    connection = apsw.Connection(str(tmp_path / "jobs.db"))
    connection.execute("update job_queue set payload = '{not json'")
    connection.close()
    assert refusal(lambda: move(ends)).code == "STORE_REFUSED"
    assert (is_alive(file), is_alive(database)) == (True, True)
    assert run(database, "select count(*) from job_queue") == [(0,)]


def test_a_row_that_the_file_refuses_undoes_the_way_back(store, file, database, ends, tmp_path):
    enqueue(store)
    move(ends)
    run(
        database, "alter table job_queue drop constraint job_queue_priority_check", "update job_queue set priority = 11"
    )
    assert refusal(lambda: undo(ends)).code == "STORE_REFUSED"
    assert (is_alive(file), is_alive(database)) == (False, True)


def test_a_row_that_is_not_what_was_sent_undoes_the_move(store, file, database, ends):
    enqueue(store)
    run(
        database,
        "create function bend() returns trigger language plpgsql as $$ begin new.priority := 9; return new; end $$",
        "create trigger bend before insert on job_queue for each row execute function bend()",
    )
    error = refusal(lambda: move(ends))
    assert error.code == "MOVE_NOT_VERIFIED"
    assert (is_alive(file), run(database, "select count(*) from job_queue")) == (True, [(0,)])


def test_a_full_disk_of_the_server_undoes_the_move(store, file, database, ends):
    """The server's own refusal, by a trigger: the error that a full disk has."""
    enqueue(store)
    run(
        database,
        "create function full_disk() returns trigger language plpgsql as "
        "$$ begin raise exception 'no space' using errcode = '53100'; end $$",
        "create trigger full_disk before insert on job_queue for each row execute function full_disk()",
    )
    assert refusal(lambda: move(ends)).code == "STORE_FULL"
    assert is_alive(file)


def test_a_role_that_does_not_own_the_tables_is_refused(store, file, database, side):
    enqueue(store)
    run(
        database,
        "drop role if exists stranger",
        "create role stranger login",
        "grant select on holdfast_schema to stranger",
    )
    try:
        with_role = database.replace("postgres@", "stranger@", 1)
        assert refusal(lambda: move((side(file), side(with_role)))).code == "STORE_FORBIDDEN"
    finally:
        run(database, "drop owned by stranger", "drop role stranger")
    assert is_alive(file)


def test_a_server_that_is_away_changes_nothing(store, file, side, tmp_path):
    enqueue(store)
    assert refusal(lambda: move((side(file), side(f"postgresql:///jobs?host={tmp_path}")))).code == "STORE_UNAVAILABLE"
    assert is_alive(file)


def test_a_connection_lost_before_the_commit_undoes_the_move(store, file, database, ends):
    enqueue(store)

    def tell(what, done, total):
        if what == "opening" and not done:
            run(
                server().url,
                f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{database_name(database)}'",
            )

    assert refusal(lambda: move(ends, tell=tell)).code == "STORE_UNAVAILABLE"
    assert (is_alive(file), run(database, "select count(*) from job_queue")) == (True, [(0,)])


def test_an_error_that_no_database_made_stays_what_it_is(store, ends):
    from psycopg import ProgrammingError

    for end, kinds in zip(ends, ((TypeError, StoreError), (ProgrammingError, StoreError)), strict=True):
        end.begin()
        with pytest.raises(kinds):
            end.fill("job_pauses", [(object(), "", "name", "2025-01-16T12:00:00.000Z", "ann")])
        end.roll_back()


def test_a_closed_store_whose_jobs_are_elsewhere_is_never_filled(store, ends):
    enqueue(store)
    move(ends)
    file, _ = ends
    file.begin()
    error = refusal(lambda: file.check_room(Mark(is_open=False, closed_by="another move")))
    file.roll_back()
    assert error.code == "STORE_MOVED"
    assert "give another target" in str(error)


def test_control_c_during_the_copy_undoes_the_move(store, file, database, ends):
    many(store, 1_001)

    def tell(what, done, total):
        if (what, done) == ("copying job_queue", 1_000):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(ends, tell=tell)
    assert (is_alive(file), run(database, "select count(*) from job_queue")) == (True, [(0,)])


def test_an_error_after_the_commit_changes_nothing_about_it(store, file, database, ends):
    enqueue(store)

    def tell(what, done, total):
        if what == "opening" and done:
            raise OSError("the terminal is gone")

    assert move(ends, tell=tell).outcome == "moved"
    assert (is_alive(file), is_alive(database)) == (False, True)


def test_a_server_that_stays_away_leaves_the_file_closed_and_says_what_to_do(store, file, database, ends):
    enqueue(store)
    name = database_name(database)

    def tell(what, done, total):
        if what == "opening" and not done:
            run(
                server().url,
                f"alter database {name} allow_connections false",
                f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'",
            )

    error = refusal(lambda: move(ends, tell=tell))
    assert error.code == "MOVE_UNFINISHED"
    assert "--undo" in str(error)
    run(server().url, f"alter database {name} allow_connections true")
    assert not is_alive(file)
    assert undo(ends).outcome == "reopened"
    assert is_alive(file)


def test_other_transactions_in_the_way_are_waited_for(store, file, database, ends):
    enqueue(store)
    move(ends)
    in_the_way(database, 2)
    assert undo(ends, wait=30).outcome == "moved"


def test_others_in_the_way_to_the_end_are_told(store, file, database, ends):
    enqueue(store)
    move(ends)
    in_the_way(database, 1_000)
    error = refusal(lambda: undo(ends, wait=-1))
    assert error.code == "STORE_UNAVAILABLE"
    assert (is_alive(file), is_alive(database)) == (False, True)
