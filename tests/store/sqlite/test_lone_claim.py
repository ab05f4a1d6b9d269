"""A worker that was woken takes a job by one statement that commits by itself, and by the long way where it must."""

from __future__ import annotations

import pytest

from holdfast.engine.leases import exchange
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Order
from holdfast.store.sqlite.store import SqliteStore
from tests.store.given import HOUR, MAIL, NOON, claim, enqueue, get, insert, transactions, write
from tests.store.limited import limit

PRINT = Lane("default", "print")
NORMAL, FULL = 1, 2  # what SQLite calls them


@pytest.fixture
def store(file, open_file):
    """A store of a process that has written before."""
    opened = open_file(file)
    opened.migrate()
    return opened


def look(store, *orders):
    (answer,), _ = store.write([lambda tx: exchange(tx, (), orders)], hastily=True, briefly=True)
    if isinstance(answer, Exception):
        raise answer
    return answer


def take(store, *lanes):
    return [run for runs in look(store, Order("here:1:0", lanes or (MAIL,), 10, 60_000)).claims for run in runs]


def test_the_best_job_is_taken_without_a_transaction(store):
    later, first = enqueue(store), enqueue(store, priority=1)
    (run,), begun = transactions(store, lambda: take(store))
    assert (run.id, begun) == (first, 0)
    job = get(store, first)
    assert (job.status, job.attempts, run.token, run.lease_owner) == (Status.IN_PROGRESS, 1, 1, "here:1:0")
    assert (job.lease_until - job.started_at).total_seconds() == 60
    assert [run.id for run in take(store)] == [later]


def test_it_is_the_same_claim_as_by_the_long_way(store, clock):
    asked = NewJob("mail", '{"to":"ann"}', tenant="t", context='{"a":1}', timeout=7, max_attempts=4)
    insert(store, asked, asked)
    clock.forward(5)
    (at_once,), (usually,) = take(store), claim(store, owner="here:1:0", limit=1)
    assert at_once._replace(id=usually.id, created_at=usually.created_at) == usually


def test_the_best_of_several_lanes_is_the_most_urgent_then_the_one_that_waits_longest(store, clock):
    second, third = enqueue(store, kind="print"), enqueue(store)
    first = enqueue(store, priority=2)
    clock.forward(1)
    fourth = enqueue(store, kind="print")
    order = [run.id for _ in range(4) for run in take(store, MAIL, PRINT)]
    assert order == [first, second, third, fourth]


@pytest.fixture
def two_orders():
    return Order("a", (MAIL,), 1, 60_000), Order("b", (PRINT,), 1, 60_000)


def test_of_several_orders_one_is_served_and_the_next_exchange_serves_the_others(store, two_orders):
    mail, paper = enqueue(store), enqueue(store, kind="print")
    found = [transactions(store, lambda: look(store, *two_orders)) for _ in range(2)]
    assert [([[run.id for run in runs] for runs in got.claims], begun) for got, begun in found] == [
        ([[mail], []], 0),
        ([[], [paper]], 0),
    ]


def test_nothing_that_comes_after_it_can_undo_what_was_taken(store, two_orders, monkeypatch):
    job_id = enqueue(store)
    asked, execute = [], store._writer.execute

    def once(sql, *parameters):  # whatever follows meets a lock
        if "returning" not in sql:
            return execute(sql, *parameters)
        asked.append(sql)
        if len(asked) > 1:
            execute("begin")
            return execute("begin")
        return execute(sql, *parameters)

    monkeypatch.setattr(store._writer, "execute", once)
    assert [run.id for runs in look(store, *two_orders).claims for run in runs] == [job_id]


def test_jobs_that_share_a_call_are_taken_together(store):
    ids = [enqueue(store) for _ in range(3)]
    got, begun = transactions(store, lambda: look(store, Order("a", (MAIL,), 10, 60_000, together=True)))
    assert ([run.id for runs in got.claims for run in runs], begun) == (ids, 1)


def test_where_nothing_is_due_the_long_way_tells_when_something_will_be(store):
    enqueue(store, delay=HOUR // 1000)
    got, begun = transactions(store, lambda: look(store, Order("me", (MAIL,), 5, 60_000)))
    assert (got.claims, got.next_due, begun) == ([[]], NOON + HOUR, 1)


def test_what_is_not_due_does_not_hide_what_is_behind_it(store):
    enqueue(store, priority=1, delay=HOUR // 1000)
    due = enqueue(store)
    assert transactions(store, lambda: [run.id for run in take(store)]) == ([due], 0)


def test_a_paused_queue_and_another_version_give_nothing(store):
    enqueue(store)
    insert(store, NewJob("print", "{}", payload_version=2))
    write(store, lambda tx: tx.pause("default", "test"))
    assert take(store, MAIL, PRINT) == []
    write(store, lambda tx: tx.resume("default"))
    assert [run.type for run in take(store, MAIL, PRINT)] == ["mail"]
    assert take(store, MAIL, PRINT) == []


def test_a_job_with_limits_is_taken_together_with_its_units(store):
    limit(store, "site", concurrency=1)
    limited, behind = (insert(store, NewJob("mail", "{}", priority=1, limits=["site"]))[0].id for _ in range(2))
    runs, begun = transactions(store, lambda: take(store))
    assert ([run.id for run in runs], begun) == ([limited], 1)
    assert store._writer.execute("select owner from job_units") == [("here:1:0",)]
    plain = enqueue(store)
    while [run.id for run in take(store)] != [plain]:
        continue
    assert get(store, behind).status is Status.QUEUED


def test_lines_to_look_at_are_looked_at_first(store):
    limit(store, "site", concurrency=1)
    enqueue(store)
    insert(store, NewJob("mail", "{}", priority=1, limits=["site"]))
    assert transactions(store, lambda: len(take(store)))[1] == 1


def test_the_first_claim_of_a_process_takes_the_long_way_to_its_connection(file, open_file):
    enqueue(open_file(file))
    assert len(take(open_file(file))) == 1


def test_a_file_that_was_replaced_takes_the_long_way_to_the_new_one(store, file, open_file):
    enqueue(store)
    store.close(keep_log=True)
    write(store, lambda _: None)
    for part in ("", "-wal", "-shm"):
        file.with_name(file.name + part).unlink(missing_ok=True)
    job_id = enqueue(open_file(file))
    assert [run.id for run in take(store)] == [job_id]


def test_an_error_of_the_call_is_its_answer(store):
    def fails(_):
        raise LookupError("of its own")

    (answer,), _ = store.write([fails], hastily=True, briefly=True)
    assert isinstance(answer, LookupError)


def test_what_comes_after_it_is_durable_again(file, settings, clock):
    store = SqliteStore(f"sqlite:///{file}?{settings}&synchronous=full", clock=clock)
    store.watched = True  # a worker's, which rests where its claims begin
    enqueue(store)
    levels = [level(store), *(take(store) and [level(store)]), write(store, lambda _: level(store)), level(store)]
    store.insert_alone(NewJob("mail", "{}"))
    levels.append(level(store))
    store.close()
    assert levels == [NORMAL, NORMAL, FULL, NORMAL, FULL]


def test_a_commit_is_not_undone_by_what_comes_after_it(store, monkeypatch):
    store.watched = True
    monkeypatch.setattr(store._writer, "_level", "")  # so that it has to be set
    execute = store._writer.execute

    def fails(sql, *parameters):
        if "synchronous=normal" in sql:
            raise OSError("the disk is gone")
        return execute(sql, *parameters)

    monkeypatch.setattr(store._writer, "execute", fails)
    job_id = enqueue(store)
    assert get(store, job_id).status is Status.QUEUED


def level(store):
    return store._writer.execute("pragma synchronous")[0][0]
