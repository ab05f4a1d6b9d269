"""The server is killed again and again under load: nothing that was acknowledged is lost, nothing is stored twice.

Full size: HOLDFAST_CRASHES=40 pytest -s tests/store/postgres/test_storm.py
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from time import sleep

import pytest

from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import OwnServer
from tests.store.postgres.load import Load

KEPT = "select id, status, attempts, crashed, scheduled_at, lease_until from job_queue"
CRASHES = int(os.environ.get("HOLDFAST_CRASHES", "8"))


@pytest.mark.slow
def test_a_server_that_crashes_under_load_loses_nothing_and_doubles_nothing():
    server = OwnServer(("synchronous_commit=on",))
    load = Load(server.migrated())
    load.begin()
    for _ in range(CRASHES):
        sleep(0.8)  # under load, not waiting for anything
        server.stop("immediate")
        server.start()
    sleep(3)  # longer than a lease: what a crash cut off runs again
    load.end()

    store = PostgresStore(load.url)
    kept = {job_id: how for job_id, *how in store.read(lambda tx: tx.execute(KEPT))}
    store.close()
    server.remove(os.getpid())
    sys.stdout.write(f"\n{CRASHES} crashes: {load.figures()}\n")
    assert load.unsure == 0
    assert set(load.stored) == set(kept)
    assert [how for how in kept.values() if how[0] != "completed"] == []
    assert set(load.finished) <= set(kept)
    assert max(Counter(load.finished).values()) == 1  # nobody's second finish was accepted
    assert len(load.stored) > CRASHES
