"""A queue moves whole, and back; what is closed is told to whoever still uses it."""

from __future__ import annotations

import threading
import time

import apsw

from holdfast import App
from holdfast.engine import moving
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
    move,
    quiet,
    refusal,
    undo,
)
from tests.patience import wait_for
from tests.store.given import DONE


def test_everything_arrives_as_it_was(store, file, database, ends):
    lived_in(store)
    wait_for(lambda: store.read(lambda tx: tx.expired(10)))
    before = everything(file)
    moved = move(ends)
    assert moved.outcome == "moved"
    assert everything(database) == before
    assert moved.tables["job_queue"].rows == len(before["jobs"]) == 12
    assert moved.tables["job_queue"].statuses == {
        "awaiting_auth": 1, "cancelled": 1, "completed": 2, "dead_letter": 1, "failed": 1, "in_progress": 1, "queued": 5,
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


def test_who_uses_the_file_during_the_copy_is_told_at_once(store, file, ends):
    enqueue(store)
    codes = []

    def tell(what, done, total):
        if what == "verifying job_queue":
            codes.append(refusal(lambda: enqueue(store)).code)

    begun = time.monotonic()
    move(ends, tell=tell)
    assert codes == ["STORE_MOVED"]
    assert time.monotonic() - begun < 5, "nobody waits for a lock"


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


def test_a_table_that_is_missing_where_nothing_ever_moved_is_told_as_that(store, file, database):
    for url in (file, database):
        with App(url) as app:
            error = refusal(lambda app=app: app.desk.write(lambda tx: tx.execute("select * from nowhere")))
            assert error.code == "STORE_REFUSED"


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
    wait_for(lambda: store.read(lambda tx: tx.expired(10)))
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
