"""The primary is killed under load and its standby takes its place: what was acknowledged is there, and work goes on.

Full size: HOLDFAST_FAILOVERS=20 pytest -s tests/store/postgres/test_failover.py
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

import pytest

from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.postgres.store import PostgresStore
from tests.patience import wait_for
from tests.servers.standby import Pair
from tests.store.given import enqueue, get, listed
from tests.store.postgres.load import Load
from tests.worker.workshop import Workshop

FAILOVERS = int(os.environ.get("HOLDFAST_FAILOVERS", "1"))

pytestmark = pytest.mark.slow


@pytest.fixture
def pair():
    """A primary and its standby."""
    one = Pair()
    yield one
    one.remove()


def refusal(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


def test_a_standby_takes_no_writes_is_told_so_and_takes_them_when_it_is_promoted(pair, open_url):
    before, standby = open_url(pair.of(pair.primary)), open_url(pair.of(pair.standby))
    job_id = enqueue(before)
    error = refusal(lambda: enqueue(standby))
    assert error.code == "STORE_READ_ONLY"
    assert "standby" in str(error)
    assert standby._writer is None  # the next call looks again, for the primary may be elsewhere by then
    assert refusal(lambda: standby.insert_alone(NewJob("mail", "{}"))).code == "STORE_READ_ONLY"
    answers, _ = standby.write([lambda tx: tx.insert([NewJob("mail", "{}")])] * 2)
    assert [answer.code for answer in answers] == ["STORE_READ_ONLY"] * 2
    before.close()
    pair.fail_over()
    assert listed(standby) == [job_id]
    assert get(standby, enqueue(standby)).status is Status.QUEUED


def test_only_a_primary_tells_what_became_of_a_commit_and_what_never_reached_it_was_not_written(pair, open_url):
    store = open_url(pair.url)
    enqueue(store)
    ahead = str(int(store._mark) + 1_000)  # as of a primary whose last transactions were lost with it
    standby = open_url(pair.of(pair.standby), patience=0.2)
    assert standby._became(store._mark, "0" * 26) is None
    assert standby._became(ahead, "0" * 26) is None
    pair.fail_over()
    assert store._became(ahead, "") == "aborted"
    assert store._became(ahead, "0" * 26) == "aborted"


@pytest.mark.parametrize("number", range(FAILOVERS))
def test_a_failover_under_load_loses_nothing_acknowledged_and_the_worker_goes_on(number, pair, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # where the workers of a host meet
    with Workshop(tmp_path, url=pair.url, lease=2) as workshop:
        worker = workshop.start()
        load = Load(pair.url)
        quick = workshop.enqueue_many("quick", 20)
        long = workshop.enqueue("nap", {"seconds": 4})
        workshop.begun(long)
        load.begin()
        wait_for(lambda: len(load.finished) > 50, "load")
        struck = time.monotonic()
        pair.fail_over()
        stored = len(load.stored)
        wait_for(lambda: len(load.stored) > stored + 20, "the load to go on")
        away = time.monotonic() - struck
        time.sleep(3)  # longer than a lease: what was cut off runs again
        load.end()
        quick += workshop.enqueue_many("quick", 20)
        jobs = workshop.ended(*quick, long)
        assert {job.status for job in jobs} == {Status.COMPLETED}
        assert worker.process.poll() is None
        assert workshop.errors().count("the store is away") <= 2  # once by the child, once by its supervisor
        worker.process.terminate()
        assert worker.process.wait(20) == 0

    store = PostgresStore(pair.url)
    kept = dict(store.read(lambda tx: tx.execute("select id, status from job_queue where type = 'mail'")))
    store.close()
    sys.stdout.write(f"\nfailover: away {away:.1f} s, {load.figures()}\n")
    assert load.unsure == 0
    assert set(load.stored) == set(kept)
    assert Counter(kept.values()) == {"completed": len(load.stored)}
    assert set(load.finished) <= set(kept)
    assert max(Counter(load.finished).values()) == 1  # nobody's second finish was accepted
