"""A crowd in line for limits neither blocks nor slows what is claimed beside it."""

from __future__ import annotations

import os
import sys
import time

import psycopg
import pytest

from holdfast.engine import limits
from holdfast.engine.leases import exchange
from holdfast.model.limit import fair
from holdfast.model.outcome import Returned
from holdfast.model.request import NewJob
from holdfast.store.port import Order
from tests.patience import within
from tests.store.given import BACK_ENDS, MAIL, insert, is_postgres, write
from tests.store.limited import limit, take

CROWD = int(os.environ.get("HOLDFAST_LIMIT_CROWD", "50000"))
MANY = int(os.environ.get("HOLDFAST_FAIR_CROWD", "20000"))
ROUNDS, BATCH = 300, 10


def paces(store):
    """How long exchanges of ten plain jobs take, in seconds, shortest first."""
    insert(store, *[NewJob("mail", "{}")] * (ROUNDS + 20) * BATCH)
    order = Order("here:1:a", (MAIL,), BATCH, 60_000)
    runs, times = [], []
    for _ in range(ROUNDS + 20):
        begin = time.perf_counter()
        ended = [(run, Returned(None)) for run in runs]
        runs = write(store, lambda tx, ended=ended: exchange(tx, ended, [order])).claims[0]
        times.append(time.perf_counter() - begin)
        assert len(runs) == BATCH
    write(store, lambda tx: exchange(tx, [(run, Returned(None)) for run in runs], []))
    return sorted(times[20:])


def settle(store):
    """Look at all lines that are to be looked at."""
    for _ in range(CROWD):
        take(store, limit=1)
        look = store.read(lambda tx: tx.next_look())
        if look is None or look > store.now() + 1000:
            return
    raise AssertionError("there is no end to it")


pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite-apsw", "postgres"])
def open_store(request, tmp_path):
    """The two stores: drivers and poolers make no difference to what is measured here."""
    opened = []

    def open_with(clock):
        opened.append(BACK_ENDS[request.param](tmp_path, clock))
        return opened[-1]

    yield open_with
    for store in opened:
        store.close()


def test_a_tenant_with_one_job_among_a_crowd_of_another(store):
    write(store, lambda tx: limits.set_limit(tx, fair("default"), by="test"))
    for _ in range(0, MANY, 5_000):
        insert(store, *[NewJob("mail", "{}", tenant="big", priority=1)] * 5_000)
    for _ in range(20):
        assert take(store, limit=1)
    (single,) = insert(store, NewJob("mail", "{}", tenant="small", priority=10))
    assert single.id in [take(store, limit=1)[0].id for _ in range(10)]


def crowd(store, key):
    """So many in line for keys without room."""
    for start in range(0, CROWD, 5_000):
        many = range(start, min(CROWD, start + 5_000))
        insert(store, *[NewJob("mail", "{}", priority=1, limits=[key.format(number)]) for number in many])


def tidy(store):
    """What a server does by itself within a minute: a million notes were taken down."""
    if is_postgres(store):
        with psycopg.connect(store.url, autocommit=True) as connection:
            connection.execute("vacuum job_looks")


def compare(before, after, what, *, half=2.0):
    """Half of the exchanges, and all but the slowest few, take at most twice as long."""
    shown = {
        name: (times[len(times) // 2] * 1000, times[int(len(times) * 0.99)] * 1000)
        for name, times in (("before", before), ("after", after))
    }
    told = f"{CROWD} on {what}; p50 and p99 in ms: {shown}"
    sys.stdout.write(told + "\n")
    assert shown["after"][0] <= half * shown["before"][0] + 0.5, told
    assert shown["after"][1] <= within(2) * shown["before"][1] + 3, told  # the slowest few are other people's doing


@pytest.mark.parametrize("keys", ["one key", "keys of their own"])
def test_a_crowd_in_line_slows_nobody(store, keys):
    limit(store, "wall", concurrency=0)
    before = paces(store)
    crowd(store, "wall" if keys == "one key" else "wall:{}")
    begin = time.perf_counter()
    settle(store)
    settled = time.perf_counter() - begin
    tidy(store)
    compare(before, paces(store), f"{keys}: settled in {settled:.1f} s")


def test_a_crowd_that_nobody_has_looked_at_yet_slows_nobody(store):
    limit(store, "wall", concurrency=0)
    before = paces(store)
    crowd(store, "wall:{}")
    compare(before, paces(store), "keys of their own: just enqueued", half=within(2))  # each looks at some lines
    settle(store)
    tidy(store)
    limit(store, "wall", concurrency=0)
    compare(before, paces(store), "keys of their own: their limit was said anew", half=within(2))
