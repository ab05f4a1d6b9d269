"""Callers and workers at the level of the store, who write down what was acknowledged."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import sleep

from holdfast.model.backoff import Backoff
from holdfast.model.errors import StoreError
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.store.postgres.store import PostgresStore
from tests.store.given import DONE, claim, finish, insert, recover

# A job that is in hand at three crashes of the server would rightly be put aside, and at two wait for seconds: here each
# has to be completed.
MOST = 1_000
JOB = NewJob("mail", "{}", max_attempts=MOST)
POLICY = replace(DEFAULT_POLICY, max_crashes=MOST, backoff=Backoff(base_ms=1, cap_ms=100, jitter_ms=0))


class Load:
    """Two callers and two workers, each with a connection of its own, until it is ended."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.over = threading.Event()
        self.stored: list[str] = []
        self.finished: list[str] = []
        self.unsure = self.refused = 0
        steps = (self.put, self.put_alone, self.work, self.work)
        self.threads = [threading.Thread(target=self.run, args=(step,)) for step in steps]

    def begin(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        """No more jobs; the workers end those that are left."""
        self.over.set()
        for thread in self.threads:
            thread.join()

    def figures(self):
        return {"stored": len(self.stored), "finished": len(self.finished), "refused": self.refused}

    def run(self, step):
        store = PostgresStore(self.url)
        while step(store) or not self.over.is_set():
            sleep(0.002)
        store.close()

    def put(self, store):
        """In a transaction, which may lose its answer."""
        return self.stores(lambda: [answer.id for answer in insert(store, JOB)])

    def put_alone(self, store):
        """In one statement, which is sent again."""
        return self.stores(lambda: [store.insert_alone(JOB)[0][0]])

    def stores(self, call):
        if self.over.is_set():
            return False
        try:
            self.stored += call()
        except StoreError as error:
            self.refused += 1
            self.unsure += "not known" in str(error)
        return True

    def work(self, store):
        try:
            recover(store, policy=POLICY)
            runs = claim(store, owner=str(id(store)), lease_ms=2_000)
            for run in runs:
                self.finished += [run.id] if finish(store, run, DONE) else []
        except StoreError:
            return True
        return bool(runs)
