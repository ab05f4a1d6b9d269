"""The server is killed again and again under load: nothing that was acknowledged is lost, nothing is stored twice."""

from __future__ import annotations

import os
import threading
from collections import Counter
from time import sleep

import pytest

from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import OwnServer
from tests.store.given import DONE, claim, finish, insert, recover

CRASHES = int(os.environ.get("HOLDFAST_CRASHES", "8"))


class Load:
    """One caller and two workers, each with a connection of its own, for as long as the storm lasts."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.over = threading.Event()
        self.stored: list[str] = []
        self.finished: list[str] = []
        self.unsure = 0
        self.threads = [threading.Thread(target=self.run, args=(step,)) for step in (self.put, self.work, self.work)]

    def run(self, step):
        store = PostgresStore(self.url)
        while step(store) or not self.over.is_set():
            sleep(0.002)
        store.close()

    def put(self, store):
        if self.over.is_set():
            return False
        try:
            self.stored += [answer.id for answer in insert(store, NewJob("mail", "{}"))]
        except StoreError as error:
            self.unsure += "not known" in str(error)
        return True

    def work(self, store):
        try:
            recover(store)
            runs = claim(store, owner=str(id(store)), lease_ms=2_000)
            self.finished += [run.id for run in runs if finish(store, run, DONE)]
        except StoreError:
            return True
        return bool(runs)


@pytest.mark.slow
def test_a_server_that_crashes_under_load_loses_nothing_and_doubles_nothing():
    server = OwnServer(("synchronous_commit=on",))
    load = Load(server.migrated())
    for thread in load.threads:
        thread.start()
    for _ in range(CRASHES):
        sleep(0.8)  # under load, not waiting for anything
        server.stop("immediate")
        server.start()
    sleep(3)  # longer than a lease: what a crash cut off runs again
    load.over.set()
    for thread in load.threads:
        thread.join()

    store = PostgresStore(load.url)
    kept = dict(store.read(lambda tx: tx.execute("select id, status from job_queue")))
    store.close()
    server.remove(os.getpid())
    assert load.unsure == 0
    assert set(load.stored) == set(kept)
    assert Counter(kept.values()) == {"completed": len(load.stored)}
    assert set(load.finished) <= set(kept)
    assert len(load.stored) > CRASHES
