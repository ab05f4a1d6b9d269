"""A connection that swallows everything and closes nothing: every verb comes to an end, and says what happened."""

from __future__ import annotations

import threading
from time import monotonic

import pytest

from holdfast.model.decide import decide
from holdfast.model.errors import StoreError
from holdfast.model.lease import Lane
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.store.port import Ending, Order
from tests.signals.proxy import Proxy
from tests.store.given import DONE, LEASE, enqueue, get, listed, running, write

pytestmark = pytest.mark.slow

# The deadline is a second; the server's own has two more to come first; then a new connection is tried for two, and
# after a commit one more to ask what became of it. The rest is a busy machine's.
MOST = 10.0

VERBS = {
    "enqueue": lambda tx, _: tx.insert([NewJob("late", "{}")]),
    "enqueue many": lambda tx, _: tx.insert([NewJob("late", "{}")] * 3),
    "claim": lambda tx, _: tx.claim(Order("second", (Lane("default", "waiting"),), 1, LEASE)),
    "renew": lambda tx, run: tx.renew([(run.id, run.token)], LEASE),
    "progress": lambda tx, run: tx.progress(run.id, run.token, "1"),
    "finish": lambda tx, run: tx.finish([Ending(run, decide(run, DONE, DEFAULT_POLICY, spread=0.0))]),
    "cancel": lambda tx, run: tx.cancel(run.id, tenant=None, graceful=True, error="{}"),
    "look": lambda tx, run: tx.get(run.id),
}


class Silence:
    """Every verb at once, each on a store of its own, behind one proxy."""

    def __init__(self, pg, admin, open_url, proxy):
        self.proxy = proxy
        own = admin.info
        url = f"postgresql://{own.user}:{own.password}@127.0.0.1:{proxy.port}/{own.dbname}?deadline=1"
        enqueue(pg, "waiting")
        self.runs = {name: running(pg) for name in VERBS}
        self.stores = {name: open_url(url, patience=1) for name in VERBS}
        self.told = {}

    def warm(self):
        """Connections that worked so far."""
        for name, store in self.stores.items():
            assert get(store, self.runs[name].id)
            write(store, lambda tx: tx.get("0"))

    def all_at_once(self, call):
        """What each verb ended with, and after how long."""
        threads = [threading.Thread(target=self.one, args=(call, name)) for name in VERBS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert set(self.told) == set(VERBS), "some never came back"
        return self.told

    def one(self, call, name):
        started = monotonic()
        try:
            answer = call(name, self.stores[name])
        except StoreError as error:
            answer = error
        self.told[name] = (answer, monotonic() - started)


@pytest.fixture
def silence(pg, admin, open_url):
    host, port = admin.info.host, admin.info.port
    with Proxy(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)) as proxy:
        yield Silence(pg, admin, open_url, proxy)


def verb(silence, name):
    return lambda tx: VERBS[name](tx, silence.runs[name])


def run(name, store, call):
    """Who only looks does so on a connection of its own, and commits nothing."""
    return store.read(call) if name == "look" else write(store, call)


def judge(silence, told, *texts):
    for name, (answer, took) in told.items():
        assert isinstance(answer, StoreError), (name, answer)
        assert answer.code == "STORE_UNAVAILABLE", (name, answer)
        assert any(text in str(answer) for text in texts), (name, answer)
        assert took < MOST, (name, took)
    silence.proxy.heal()
    for name, store in silence.stores.items():
        assert get(store, silence.runs[name].id), name  # as if nothing had been


def test_a_server_that_accepts_a_connection_and_never_answers_holds_no_verb(silence):
    silence.proxy.swallow()
    told = silence.all_at_once(lambda name, store: run(name, store, verb(silence, name)))
    judge(silence, told, "check the address, and that the server runs")


def test_a_connection_that_falls_silent_between_two_calls_holds_no_verb(silence, pg):
    silence.warm()
    silence.proxy.swallow()
    told = silence.all_at_once(lambda name, store: run(name, store, verb(silence, name)))
    judge(silence, told, "check the address, and that the server runs")
    assert listed(pg, type="late") == []


def test_a_connection_that_falls_silent_in_mid_transaction_holds_no_verb(silence, pg):
    silence.warm()
    met = threading.Barrier(len(VERBS), action=silence.proxy.swallow, timeout=30)

    def in_the_middle(name, store):
        def call(tx):
            tx.get("0")
            met.wait()
            return verb(silence, name)(tx)

        return run(name, store, call)

    told = silence.all_at_once(in_the_middle)
    judge(silence, told, "the connection was lost; check that the server runs")
    assert listed(pg, type="late") == []


def test_a_connection_that_falls_silent_before_the_commit_holds_no_verb(silence, pg):
    silence.warm()
    met = threading.Barrier(len(VERBS), action=silence.proxy.swallow, timeout=30)

    def at_the_end(name, store):
        def call(tx):
            verb(silence, name)(tx)
            met.wait()

        return write(store, call)

    told = silence.all_at_once(at_the_end)
    judge(silence, told, "it is not known whether it was made")
    assert listed(pg, type="late") == []
