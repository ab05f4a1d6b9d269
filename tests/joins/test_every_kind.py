"""What holds on every kind of connection that a caller may hand in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import holdfast
from tests.servers.postgres import server


def queued(app):
    return [job.id for job in reversed(app.jobs())]


def test_a_commit_shows_the_job_with_the_callers_rows(app, own, orders):
    own.begin()
    own.execute("insert into orders values (7)")
    handle = own.enqueue(app, "ship", {"order": 7})
    assert handle.created
    assert (orders(), queued(app)) == ([], [])
    own.commit()
    assert (orders(), queued(app)) == ([7], [handle.id])


def test_a_roll_back_takes_the_job_with_it(app, own, orders):
    own.begin()
    handle = own.enqueue(app, "ship", {"order": 7})
    own.execute("insert into orders values (7)")
    own.roll_back()
    assert (orders(), queued(app)) == ([], [])
    with pytest.raises(holdfast.NotFound):
        handle.status()


def test_the_enqueue_may_be_all_there_is(app, own):
    own.begin()
    handle = own.enqueue(app, "ship")
    own.commit()
    assert handle.status() == "queued"


def test_a_handlers_own_door_takes_the_connection(app, own, send):
    own.begin()
    handle = own.enqueue_for(send.using(priority=1), to="a")
    assert queued(app) == []
    own.commit()
    assert app.get(handle.id).priority == 1


def test_many_are_stored_in_their_order(app, own, send):
    own.begin()
    handles = own.enqueue_many(app, [send.call(to=str(number)) for number in range(100)])
    assert queued(app) == []
    own.commit()
    stored = {job.id: job.payload["to"] for job in app.jobs(limit=200)}
    assert [stored[handle.id] for handle in handles] == [str(number) for number in range(100)]


def test_many_vanish_together(app, own, send):
    own.begin()
    assert len(own.enqueue_many(app, [send.call(to="a"), send.call(to="b")])) == 2
    own.roll_back()
    assert queued(app) == []


def test_none_at_all_needs_no_connection(app, own):
    assert own.enqueue_many(app, []) == []


def test_a_taken_key_answers_its_job(app, own, send):
    there = app.enqueue("send", {"to": "a"}, key="k")
    own.begin()
    again = own.enqueue(app, "send", {"to": "a"}, key="k")
    both = own.enqueue_many(
        app, [send.using(key="k").call(to="a"), send.using(key="new").call(to="b"), send.using(key="new").call(to="b")]
    )
    own.commit()
    assert (again.id, again.created) == (there.id, False)
    assert [handle.created for handle in both] == [False, True, False]
    assert [handle.id for handle in both] == [there.id, both[1].id, both[1].id]


def test_a_key_conflict_leaves_the_callers_transaction_whole(app, own, send, orders):
    app.enqueue("send", {"to": "a"}, key="k")
    own.begin()
    own.execute("insert into orders values (7)")
    with pytest.raises(holdfast.KeyConflict):
        own.enqueue(app, "send", {"to": "b"}, key="k")
    with pytest.raises(holdfast.KeyConflict):
        own.enqueue_many(app, [send.call(to="x"), send.using(key="k").call(to="b")])
    kept = own.enqueue(app, "send", {"to": "c"})
    own.commit()
    assert orders() == [7]
    assert queued(app)[1:] == [kept.id]


def test_a_key_whose_window_is_over_is_given_anew(app, own, clock):
    first = app.enqueue("send", {"to": "a"}, key="k", key_window=60)
    app.cancel(first.id)
    clock.advance(61)
    own.begin()
    second = own.enqueue(app, "send", {"to": "b"}, key="k", key_window=60)
    own.commit()
    assert second.created
    assert app.get(first.id).idempotency_key is None


def test_a_full_queue_refuses_and_leaves_the_callers_transaction_whole(url, clock, own, orders):
    with holdfast.App(url, clock=clock, max_depth={"default": 1}) as app:
        own.begin()
        own.execute("insert into orders values (7)")
        own.enqueue(app, "ship", key="k")
        with pytest.raises(holdfast.QueueFull):
            own.enqueue(app, "ship")
        assert not own.enqueue(app, "ship", key="k").created
        own.commit()
        assert orders() == [7]


OPTIONS = {
    "scheduled_at": datetime(2031, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC),
    "priority": 2,
    "queue": "mail",
    "tenant": "Größe",
    "group": 'a"b\\c',
    "max_attempts": 9,
    "timeout": 7.5,
    "context": {"user_id": "ann", "trace_id": "t"},
    "key": "k:%(x)s $1 :now",
    "key_window": 3600,
}
PAYLOAD = {"text": "a\\u0000 'ü' %s $1 :now \u2028 \U0001f600", "list": [1, 2.5, -0.0, 10**30, None, True], "": {}}


def test_every_option_is_stored_as_by_the_store_itself(app, own):
    mine = app.enqueue("other", PAYLOAD, **OPTIONS)
    theirs_options = OPTIONS | {"key": "another"}
    own.begin()
    theirs = own.enqueue(app, "other", PAYLOAD, **theirs_options)
    own.commit()
    assert face(app, theirs.id) == face(app, mine.id)


def test_every_option_of_many_is_stored_as_by_the_store_itself(app, own):
    @app.job
    def other(text: str, number: float) -> None:
        pass

    call = {"text": PAYLOAD["text"], "number": -0.0}
    (mine, plain) = app.enqueue_many([other.using(**OPTIONS).call(**call), other.call(**call)])
    own.begin()
    handles = own.enqueue_many(app, [other.using(**OPTIONS | {"key": "another"}).call(**call), other.call(**call)])
    own.commit()
    assert [face(app, handle.id) for handle in handles] == [face(app, mine.id), face(app, plain.id)]


def face(app, job_id):
    job = app.get(job_id)
    skipped = ("id", "idempotency_key")
    return {name: repr(getattr(job, name)) for name in type(job).__slots__ if name not in skipped}


def test_in_autocommit_the_job_is_stored_at_once(app, connect, kind, url, send):
    own = connect(kind, url, autocommit=True)
    handle = own.enqueue(app, "ship")
    assert handle.status() == "queued"
    with pytest.raises(holdfast.KeyConflict):
        own.enqueue_many(app, [send.using(key="k").call(to="a"), send.using(key="k").call(to="b")])
    assert queued(app) == [handle.id]
    assert len(own.enqueue_many(app, [send.call(to="a"), send.call(to="b")])) == 2
    assert len(queued(app)) == 3


def test_a_failed_transaction_is_refused_until_it_is_rolled_back(app, own):
    own.begin()
    with pytest.raises(Exception, match="nonsense"):
        own.execute("nonsense")
    with pytest.raises(holdfast.StoreError, match="roll it back") as caught:
        own.enqueue(app, "ship")
    assert caught.value.code == "WRONG_CONNECTION"
    own.roll_back()
    own.begin()
    handle = own.enqueue(app, "ship")
    own.commit()
    assert handle.status() == "queued"


def test_a_connection_to_another_database_is_refused(app, connect, kind):
    elsewhere = connect(kind, server().url)
    with pytest.raises(holdfast.StoreError, match="does not lead to the jobs of") as caught:
        elsewhere.enqueue(app, "ship")
    assert caught.value.code == "WRONG_CONNECTION"


def test_a_connection_that_finds_another_table_of_that_name_is_refused(app, own):
    own.begin()
    own.execute("create temporary table job_queue (id text)")
    with pytest.raises(holdfast.StoreError, match="search_path"):
        own.enqueue(app, "ship")
    own.roll_back()


def test_a_job_of_the_callers_transaction_waits_for_others(app, own):
    failed = app.enqueue("ship", {})
    app.cancel(failed.id)
    before = app.enqueue("ship", {})
    own.begin()
    first = own.enqueue(app, "ship", {})
    child = own.enqueue(app, "send", {"to": "a"}, depends_on=[before, first])
    fallen = own.enqueue(app, "send", {"to": "b"}, depends_on=failed)
    with pytest.raises(holdfast.BadInput, match="nothing was stored"):
        own.enqueue(app, "send", {"to": "c"}, depends_on="nobody")
    own.commit()
    assert (app.get(child.id).blocked, app.get(child.id).status) == (2, "queued")
    assert app.get(fallen.id).error["parent"] == failed.id
    app.cancel(before.id)
    assert app.get(child.id).status == "cancelled"
