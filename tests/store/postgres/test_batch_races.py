"""Batches on a server with many hosts: whoever ends the last item calls back, and nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from holdfast.engine import batches, leases
from holdfast.model.batch import ItemEnd
from holdfast.model.lease import Lane
from holdfast.model.outcome import Returned
from holdfast.model.request import NewJob
from holdfast.store.port import Order
from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import server
from tests.store.given import DONE, MAIL, claim, finish, write
from tests.store.test_batches import PROGRESS, cancelled, chunk_text, counts, new_batch

REPORT = Lane("default", "report")
ROUNDS = 20


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    made = server().migrated()
    yield made
    server().drop(made)


@pytest.fixture
def hosts(url) -> Iterator[list[PostgresStore]]:
    stores = [PostgresStore(url) for _ in range(4)]
    yield stores
    for store in stores:
        store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("truncate job_queue, job_batches, job_items, job_history")


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls on threads that begin together."""
    gate = threading.Barrier(len(calls))
    answers: list[Any] = [None] * len(calls)

    def run(place: int) -> None:
        gate.wait()
        answers[place] = calls[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return answers


def reports(store: Any) -> int:
    return len(claim(store, REPORT, limit=100))


def single(store: Any, count: int) -> str:
    jobs = [NewJob("mail", f'{{"n":{n}}}') for n in range(count)]
    batch = new_batch(count)
    return write(store, lambda tx: tx.add_batch(batch, jobs, list(range(count))))[0]


def test_two_last_items_that_end_at_once_call_back_once(hosts):
    one, other, *_ = hosts
    for _ in range(ROUNDS):
        batch = single(one, 2)
        first, second = claim(one)
        assert at_once(lambda: finish(one, first, DONE), lambda: finish(other, second, DONE)) == [True, True]  # noqa: B023
        assert counts(one, batch) == (2, 0, 0)
        assert reports(one) == 1


def test_the_last_item_waits_for_one_that_is_being_counted(hosts, url):
    """A statement's snapshot may be older than the lock it waits for."""
    one, other, *_ = hosts
    batch = single(one, 2)
    first, second = claim(one)
    transaction = one.begin()
    assert leases.finish(transaction, [(first, Returned(None))]) == [True]
    waiter = threading.Thread(target=finish, args=(other, second, DONE))
    waiter.start()
    with psycopg.connect(url, autocommit=True) as look:
        while not look.execute("select count(*) from pg_locks where not granted").fetchone()[0]:
            assert waiter.is_alive()
    one.commit()
    waiter.join(10)
    assert counts(one, batch) == (2, 0, 0)
    assert reports(one) == 1


def test_batches_that_hosts_end_side_by_side_do_not_lock_each_other_out(hosts):
    """Each host ends jobs of both batches in one transaction, and stores items of both in one."""
    one = hosts[0]
    for _ in range(ROUNDS):
        made = []
        for _ in range(2):
            jobs = [NewJob("mail", chunk_text(n, 1)) for n in range(4)]
            batch = new_batch(4)
            made.append(batch.id)
            write(one, lambda tx, batch=batch, jobs=jobs: tx.add_batch(batch, jobs, [None] * 4))
        runs = write(one, lambda tx: tx.claim(Order("o", (MAIL,), 100, 60_000)))
        of = {batch: [run for run in runs if run.batch == batch] for batch in made}

        def work(store: Any, place: int, of: Any = of, made: Any = made) -> None:
            mine = [of[batch][place] for batch in (made if place % 2 else reversed(made))]
            ends = [lambda tx, run=run: tx.store_items(run, [ItemEnd(place, "done", "1")], PROGRESS) for run in mine]
            answers, _ = store.write(ends)
            assert answers == [True, True]
            answers, _ = store.write([lambda tx: leases.finish(tx, [(run, Returned(None)) for run in mine])])
            assert answers == [[True, True]]

        at_once(*(lambda store=store, place=place: work(store, place) for place, store in enumerate(hosts)))
        assert [counts(one, batch) for batch in made] == [(4, 0, 0)] * 2
        assert reports(one) == 2


def test_a_cancel_meets_endings_and_every_item_counts_once(hosts):
    one, other, third, _ = hosts
    for _ in range(ROUNDS):
        batch = single(one, 20)
        runs = claim(one, limit=10)

        def cancel(batch: str = batch) -> None:
            left = True
            while left:
                _, left = write(third, lambda tx: batches.cancel(tx, batch))

        held = at_once(
            lambda runs=runs: [finish(one, run, DONE) for run in runs[:5]],
            lambda runs=runs: [finish(other, run, DONE) for run in runs[5:]],
            cancel,
        )
        done = sum(held[0]) + sum(held[1])
        assert (counts(one, batch), cancelled(one, batch)) == ((done, 0, 0), 20 - done)
        assert reports(one) == 1


def test_one_key_given_on_two_hosts_at_once_makes_one_batch(hosts):
    one, other, *_ = hosts
    for number in range(ROUNDS):
        job = NewJob("mail", chunk_text(0, 1))
        both = [new_batch(1, key=f"k{number}") for _ in range(2)]
        answers = at_once(
            lambda: write(one, lambda tx: tx.add_batch(both[0], [job], [None])),  # noqa: B023
            lambda: write(other, lambda tx: tx.add_batch(both[1], [job], [None])),  # noqa: B023
        )
        assert len({batch_id for batch_id, _ in answers}) == 1
        assert sorted(created for _, created in answers) == [False, True]
        assert len(claim(one)) == 1
