"""A queue moves whole, and back; what is closed is told to whoever still uses it."""

from __future__ import annotations

import threading
import time

import apsw
import psycopg
import pytest

from holdfast import App
from holdfast.engine import moving
from holdfast.model.errors import StoreError
from tests.moving.given import (
    RAN_OUT,
    claim,
    claim_one,
    enqueue,
    everything,
    finish,
    is_alive,
    lived_in,
    many,
    quiet,
    run,
)
from tests.servers.postgres import server
from tests.store.given import DONE


def move(ends, wait=0.0, tell=quiet):
    return moving.move(*ends, wait=wait, tell=tell)


def undo(ends, wait=0.0, tell=quiet):
    return moving.undo(*ends, wait=wait, tell=tell)


def refusal(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


def wait_until(fact, seconds=10.0):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def test_everything_arrives_as_it_was(store, file, database, ends):
    lived_in(store)
    wait_until(lambda: store.read(lambda tx: tx.expired(10)))
    before = everything(file)
    moved = move(ends)
    assert moved.outcome == "moved"
    assert everything(database) == before
    assert moved.tables["job_queue"].rows == len(before["jobs"]) == 8
    assert moved.tables["job_queue"].statuses == {
        "cancelled": 1, "completed": 1, "dead_letter": 1, "failed": 1, "in_progress": 1, "queued": 3,
    }  # fmt: skip


def test_the_hashes_can_be_repeated_with_any_tool(store, ends, tmp_path):
    from hashlib import sha256
    from json import dumps

    enqueue(store, payload='{"a":"ü"}')
    enqueue(store)
    told = move(ends).tables["job_queue"]
    reader = apsw.Connection(str(tmp_path / "jobs.db"))
    rows = list(reader.execute("select * from moved_job_queue order by id"))
    reader.close()
    text = "".join(dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    assert told.sha256 == sha256(text.encode()).hexdigest()


def test_only_one_of_the_two_is_alive(store, file, database, ends):
    enqueue(store)
    assert (is_alive(file), is_alive(database)) == (True, True)  # the database has no job yet
    move(ends)
    assert (is_alive(file), is_alive(database)) == (False, True)
    undo(ends)
    assert (is_alive(file), is_alive(database)) == (True, False)
    move(ends)
    assert (is_alive(file), is_alive(database)) == (False, True)


def test_a_process_that_has_the_file_open_is_told_where_the_jobs_went(file, ends, database):
    with App(file) as app:
        app.enqueue("mail", {})
        app.jobs()  # both connections are open now
        move(ends)
        for call in (app.jobs, lambda: app.enqueue("mail", {}), lambda: app.cancel("0" * 26)):
            error = refusal(call)
            assert error.code == "STORE_MOVED"
            assert ends[1].shown in str(error)
            assert "set HOLDFAST_URL" in str(error)
    with App(file) as late:
        assert refusal(late.jobs).code == "STORE_MOVED"


def test_an_enqueue_on_the_callers_own_connection_is_told_too(tmp_path, side, database):
    file = f"sqlite:///{tmp_path}/jobs.db"
    with App(file) as app:
        app.enqueue("mail", {})
        moving.move(side(file), side(database), wait=0, tell=quiet)
        own = apsw.Connection(str(tmp_path / "jobs.db"))
        with own:
            assert refusal(lambda: app.enqueue("mail", {}, connection=own)).code == "STORE_MOVED"
        own.close()


def test_a_process_that_has_the_database_open_is_told_when_the_jobs_went_back(store, ends, database):
    enqueue(store)
    move(ends)
    with App(database) as app:
        app.enqueue("mail", {})
        app.jobs()
        undo(ends)
        for call in (app.jobs, lambda: app.enqueue("mail", {})):
            assert refusal(call).code == "STORE_MOVED"
        move(ends)
        assert len(app.jobs()) == 2, "its connections work again"


def test_a_table_that_is_missing_for_another_reason_is_told_as_that(store, file, database, ends):
    move(ends)
    undo(ends)
    move(ends)
    for url in (file, database):
        with App(url) as app:
            code = "STORE_MOVED" if url == file else "STORE_REFUSED"
            assert refusal(lambda app=app: app.desk.write(lambda tx: tx.execute("select * from nowhere"))).code == code
    undo(ends)
    with App(file) as app:
        assert refusal(lambda: app.desk.write(lambda tx: tx.execute("select * from nowhere"))).code == "STORE_REFUSED"


def test_what_changed_meanwhile_comes_back(store, file, database, ends):
    enqueue(store, key="a")
    move(ends)
    with App(database) as app:
        app.enqueue("late", {"n": 1}, queue="new")
        app.cancel(app.jobs(type="mail")[0].id)
        app.desk.write(lambda tx: tx.pause("new", "bob"))
    now = everything(database)
    assert undo(ends).outcome == "moved"
    assert everything(file) == now


def test_figures_of_several_connections_are_added_up_on_the_way_back(store, file, database, ends):
    move(ends)
    for _ in range(2):  # each of its own connection
        with App(database) as app:
            app.enqueue("mail", {})
            (run_,) = claim(app.desk.store, limit=1)
            assert finish(app.desk.store, run_, DONE)
    now = everything(database)
    undo(ends)
    assert everything(file)["figures"] == now["figures"]
    assert sum(number for *_, number in now["figures"]) == 4


def test_tokens_go_on(store, file, database, ends):
    enqueue(store, RAN_OUT.type, queue=RAN_OUT.queue)
    old = claim_one(store, RAN_OUT, lease_ms=1)
    wait_until(lambda: store.read(lambda tx: tx.expired(10)))
    move(ends)
    with App(database) as app:
        theirs = app.desk.store
        (held,) = theirs.read(lambda tx: tx.expired(10))
        assert (held.id, held.token) == (old.id, old.token)
        assert finish(theirs, old, DONE), "who held the lease still holds it: the token is the same"
        assert not finish(theirs, old, DONE)


def test_a_key_is_taken_on_the_other_side_too(store, database, ends):
    first = enqueue(store, key="a", tenant="acme")
    move(ends)
    with App(database) as app:
        again = app.enqueue("mail", {}, key="a", tenant="acme")
        assert (again.id, again.created) == (first, False)


def test_runs_under_way_are_waited_for(store, database, ends):
    enqueue(store)
    (run_,) = claim(store, limit=1)
    enqueue(store)
    seen = []

    def tell(what, done, total):
        if what == "runs to wait for" and done and not seen:
            seen.append(claim(store, limit=1))  # claims are stopped
            assert finish(store, run_, DONE)  # and ends are not

    assert move(ends, wait=30, tell=tell).outcome == "moved"
    assert seen == [[]]
    with App(database) as app:
        assert sorted(job.status.value for job in app.jobs()) == ["completed", "queued"]
        assert app.desk.read(lambda tx: tx.overview(10)["paused"]) == [], "the pauses of the move stay behind"


def test_runs_that_do_not_end_stop_the_move_and_nothing_changed(store, file, database, ends):
    enqueue(store)
    claim(store, limit=1)
    write = store.write
    write([lambda tx: tx.pause("images", "ann")])
    write(
        [lambda tx: tx.beat({"id": "w", "host": "h", "pid": 1, "lanes": '[["gpu","t",1]]', "places": 1, "running": 1})]
    )
    before = everything(file)
    error = refusal(lambda: move(ends, wait=0.3))
    assert error.code == "RUNS_UNDER_WAY"
    assert "--wait" in str(error)
    assert everything(file) == before
    assert everything(database)["jobs"] == []


def test_runs_under_way_on_the_database_are_waited_for_on_the_way_back(store, database, ends):
    enqueue(store)
    move(ends)
    with App(database) as app:
        (run_,) = claim(app.desk.store, limit=1)
        assert refusal(lambda: undo(ends, wait=0.3)).code == "RUNS_UNDER_WAY"
        app.enqueue("mail", {})
        (other,) = claim(app.desk.store, limit=1)
        assert finish(app.desk.store, run_, DONE)
        assert finish(app.desk.store, other, DONE)
    assert undo(ends).outcome == "moved"


def test_a_move_that_was_made_is_not_made_again(store, ends):
    enqueue(store)
    first = move(ends)
    again = move(ends)
    assert (again.outcome, again.move) == ("already", first.move)
    undo(ends)
    assert undo(ends).outcome == "already"


def test_a_database_in_use_is_refused(store, file, database, ends):
    enqueue(store)
    with App(database) as app:
        app.enqueue("mail", {})
    error = refusal(lambda: move(ends))
    assert error.code == "TARGET_NOT_EMPTY"
    assert "1 rows in job_queue" in str(error)
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


def test_views_of_the_users_own_survive(store, file, ends, tmp_path):
    enqueue(store)
    connection = apsw.Connection(str(tmp_path / "jobs.db"))
    connection.execute("create view mine as select id from job_queue; create view broken as select * from nowhere")
    connection.close()
    move(ends)
    undo(ends)
    connection = apsw.Connection(str(tmp_path / "jobs.db"))
    assert len(list(connection.execute("select * from mine"))) == 1
    connection.close()


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


def closing(database):
    """Whether a move waits for the tables."""
    query = "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and not granted"
    return run(database, query) == [(1,)]


def test_other_transactions_in_the_way_are_waited_for(store, database, ends):
    enqueue(store)
    move(ends)
    outcomes = []
    with psycopg.connect(database) as one:
        # It never looks for deadlocks, so the move is the one that finds it, steps back and tries again.
        one.execute("set deadlock_timeout = '1h'")
        one.execute("update job_workers set pid = 1")
        waiting = threading.Thread(target=lambda: outcomes.append(undo(ends, wait=20).outcome))
        waiting.start()
        wait_until(lambda: closing(database))
        one.execute("update job_pauses set name = name")
    waiting.join(20)
    assert outcomes == ["moved"]


def test_others_in_the_way_to_the_end_are_told(store, database, ends):
    enqueue(store)
    move(ends)
    with psycopg.connect(database) as one:
        one.execute("set deadlock_timeout = '1h'")
        one.execute("update job_workers set pid = 1")
        errors = []
        waiting = threading.Thread(target=lambda: errors.append(refusal(lambda: undo(ends, wait=-1))))
        waiting.start()
        wait_until(lambda: closing(database))
        one.execute("update job_pauses set name = name")
        waiting.join(20)
    assert [error.code for error in errors] == ["STORE_UNAVAILABLE"]


def test_a_large_queue_goes_in_batches(store, file, database, ends):
    many(store, 5_500)
    told = []
    moved = move(ends, tell=lambda *what: told.append(what))
    assert moved.tables["job_queue"].rows == 5_500
    assert ("copying job_queue", 3_000, 5_500) in told
    assert ("verifying job_queue", 5_500, 5_500) in told
    assert undo(ends).tables["job_queue"] == moved.tables["job_queue"]


def test_a_move_waits_for_another(store, file, database, side):
    enqueue(store)
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(move((side(file), side(database))).outcome)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(outcomes) == ["already", "already", "moved"]
    assert len(everything(database)["jobs"]) == 1


def database_name(url):
    return url.partition("?")[0].rpartition("/")[2]
