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
from holdfast.store.postgres.store import PostgresStore
from tests.patience import within
from tests.servers.postgres import server
from tests.store.given import BACK_ENDS, MAIL, insert, is_postgres, write
from tests.store.limited import limit, take

CROWD = int(os.environ.get("HOLDFAST_LIMIT_CROWD", "50000"))
MANY = int(os.environ.get("HOLDFAST_FAIR_CROWD", "20000"))
ROUNDS, WARM, BATCH = 300, 20, 10
ORDER = Order("here:1:a", (MAIL,), BATCH, 60_000)


class Drain:
    """Exchanges of ten plain jobs, and how long each took, in seconds."""

    def __init__(self, store):
        self.store, self.runs, self.times = store, [], []
        insert(store, *[NewJob("mail", "{}")] * (ROUNDS + WARM) * BATCH)

    def go_on(self, *orders):
        ended = [(run, Returned(None)) for run in self.runs]
        begin = time.perf_counter()
        claims = write(self.store, lambda tx: exchange(tx, ended, orders)).claims
        self.times.append(time.perf_counter() - begin)
        self.runs = [run for taken in claims for run in taken]
        assert len(self.runs) == BATCH * len(orders)

    def slowest_of(self, share):
        return sorted(self.times[WARM:])[int(ROUNDS * share)] * 1000


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


@pytest.fixture
def free(store, clock, tmp_path):
    """Another database of the same kind, with the same limit and nobody in line."""
    if is_postgres(store):
        url = server().migrated()
        other = PostgresStore(url, clock=clock)
    else:
        (tmp_path / "free").mkdir()
        other = BACK_ENDS["sqlite-apsw"](tmp_path / "free", clock)
    limit(other, "wall", concurrency=0)
    yield other
    other.close()
    if is_postgres(store):
        server().drop(url)


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


def compare(store, free, what, *, half=2.0):
    """Half of the exchanges, and all but the slowest few, take at most twice as long as beside no crowd: in turn, so that
    whatever else the machine does slows both.
    """
    crowded, alone = Drain(store), Drain(free)
    for _ in range(ROUNDS + WARM):
        crowded.go_on(ORDER)
        alone.go_on(ORDER)
    crowded.go_on()
    alone.go_on()
    shown = [(drain.slowest_of(0.5), drain.slowest_of(0.99)) for drain in (alone, crowded)]
    told = f"{CROWD} on {what}; p50 and p99 in ms without and with them: {shown}"
    sys.stdout.write(told + "\n")
    assert shown[1][0] <= half * shown[0][0] + 0.5, told
    assert shown[1][1] <= within(2) * shown[0][1] + 3, told  # the slowest few are other people's doing


@pytest.mark.parametrize("keys", ["one key", "keys of their own"])
def test_a_crowd_in_line_slows_nobody(store, free, keys):
    limit(store, "wall", concurrency=0)
    crowd(store, "wall" if keys == "one key" else "wall:{}")
    begin = time.perf_counter()
    settle(store)
    settled = time.perf_counter() - begin
    tidy(store)
    compare(store, free, f"{keys}: settled in {settled:.1f} s")


def test_a_crowd_that_nobody_has_looked_at_yet_slows_nobody(store, free):
    limit(store, "wall", concurrency=0)
    crowd(store, "wall:{}")
    compare(store, free, "keys of their own: just enqueued", half=within(2))  # each looks at some lines
    settle(store)
    tidy(store)
    limit(store, "wall", concurrency=0)
    compare(store, free, "keys of their own: their limit was said anew", half=within(2))
