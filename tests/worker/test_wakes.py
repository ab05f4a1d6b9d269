"""A real worker on PostgreSQL: woken by each network, no later than by polling when there is none, and quiet when idle.

Full size: HOLDFAST_PICK_UPS=100 HOLDFAST_IDLE_SECONDS=124 pytest -s tests/worker/test_wakes.py
"""

from __future__ import annotations

import json
import random
import time

import pika
import psycopg
import pytest

import holdfast
from holdfast.cli.storms.processes import marked
from holdfast.engine.queues import workers
from tests.patience import wait_for, within
from tests.servers.postgres import FAST, OwnServer, server
from tests.signals.networks import KINDS, processor_seconds, proxied, url_of
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow

POLL = 1.0


def signal_of(kind):
    return "store" if kind == "postgres" else url_of(kind)


@pytest.fixture
def open_workshop(request, tmp_path, monkeypatch):
    """A workshop whose processes wake each other by a signal."""

    def opened(signal, on=None, **settings):
        monkeypatch.setenv("HOLDFAST_SIGNAL", signal)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # where the workers of a host meet
        on = on or server()
        url = on.migrated()
        request.addfinalizer(lambda: on.drop(url))
        shop = Workshop(tmp_path, url=url, **settings)
        shop.__enter__()
        request.addfinalizer(lambda: shop.__exit__(None))
        return shop

    return opened


def pick_up(workshop, *, most=float("inf")):
    """Seconds from the enqueue's call to the handler's first line."""
    begun = time.time()
    (job,) = workshop.ended(workshop.enqueue("stamp"))
    assert job.result - begun < most
    return job.result - begun


@pytest.mark.parametrize("kind", KINDS)
def test_an_idle_worker_is_woken_long_before_it_would_look(kind, open_workshop):
    workshop = open_workshop(signal_of(kind), lease=60)
    workshop.start()
    pick_up(workshop)
    chance = random.Random(1)
    took = []
    for _ in range(size("HOLDFAST_PICK_UPS", 15)):
        time.sleep(chance.uniform(0.05, 0.2))
        took.append(pick_up(workshop) * 1000)
    took.sort()
    tell(f"pick-up by {kind}, ms", {"p50": round(took[len(took) // 2], 1), "worst": round(took[-1], 1)})
    assert took[len(took) // 2] < within(100)
    assert took[-1] < 15_000  # without a signal it would be up to 30 s


@pytest.mark.parametrize("kind", ["redis", "rabbitmq"])
def test_with_the_broker_dead_a_job_is_found_by_polling(kind, open_workshop):
    with proxied(kind) as (proxy, url):
        workshop = open_workshop(url, lease=60)
        workshop.start()
        for _ in range(3):
            pick_up(workshop)
        proxy.refuse()
        wait_for(lambda: workshop.errors().count("polling instead") >= 2, "both ears have said it")
        took = []
        for _ in range(5):
            time.sleep(0.1)
            took.append(pick_up(workshop, most=POLL + 0.2))
        tell(f"pick-up with {kind} dead, s", [round(one, 2) for one in took])
        assert workshop.errors().count("polling instead") == 2
        proxy.heal()
        wait_for(lambda: workshop.errors().count("get through again") >= 2, "both ears hear again")
        assert min(pick_up(workshop) for _ in range(5)) < 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_whose_broker_never_was_there_polls(kind, open_workshop):
    dead = {"redis": "redis://127.0.0.1:1/0", "rabbitmq": "amqp://127.0.0.1:1/", "postgres": "off"}[kind]
    workshop = open_workshop(dead, lease=60)
    workshop.start()
    pick_up(workshop)
    for _ in range(3):
        time.sleep(0.1)
        pick_up(workshop, most=POLL + 0.2)


def test_a_trigger_from_a_stranger_wakes_a_worker(open_workshop):
    """The contract: exchange bpc, routing key jobs.trigger, body {"job_id": ...}."""
    workshop = open_workshop(url_of("rabbitmq"), lease=60)
    workshop.start()
    pick_up(workshop)
    connection = pika.BlockingConnection(pika.URLParameters(url_of("rabbitmq")))
    channel = connection.channel()
    took = []
    for _ in range(5):
        time.sleep(0.3)
        with psycopg.connect(workshop.url) as own:  # its commit is nobody's news
            handle = workshop.app.enqueue("stamp", connection=own)
        begun = time.time()
        channel.basic_publish("bpc", "jobs.trigger", json.dumps({"job_id": handle.id}).encode())
        (job,) = workshop.ended(handle.id)
        took.append(job.result - begun)
    connection.close()
    tell("pick-up by a stranger's trigger, s", [round(one, 3) for one in took])
    assert sorted(took)[2] < within(0.3)


def test_a_job_due_later_is_taken_when_it_is_due_although_the_worker_rests_long(open_workshop):
    workshop = open_workshop("store", lease=60)
    workshop.start()
    pick_up(workshop)
    for kind in ("stamp", "alone"):
        begun = time.time()
        job_id = workshop.enqueue(kind, {} if kind == "stamp" else {"seconds": 0}, delay=2)
        workshop.ended(job_id)
        assert 1.9 < time.time() - begun < 15


def test_an_enqueue_in_the_callers_own_transaction_is_found_soon_after_its_commit(open_workshop):
    workshop = open_workshop("store", lease=60)
    workshop.start()
    pick_up(workshop)
    took = []
    for _ in range(5):
        with psycopg.connect(workshop.url) as own:
            handle = workshop.app.enqueue("stamp", connection=own)
            time.sleep(0.15)
        begun = time.time()
        (job,) = workshop.ended(handle.id)
        took.append(job.result - begun)
    tell("pick-up after a caller's own commit, s", [round(one, 3) for one in took])
    assert max(took) < within(1)


def test_an_idle_worker_asks_next_to_nothing_of_the_database(open_workshop):
    """One transaction in half a minute for all of it: it lives, what expired, what comes due, who leads, what is old."""
    own = OwnServer((*FAST, "log_statement=all", "log_line_prefix='%a|'"))
    workshop = open_workshop("store", lease=60, on=own)
    try:
        workshop.start()
        pick_up(workshop)
        time.sleep(3)  # what follows a start is over
        workshop.app.close()
        seconds = size("HOLDFAST_IDLE_SECONDS", 34)
        log = own.folder / "log"
        begun = log.stat().st_size
        tree = list(marked(workshop.mark))
        used = sum(processor_seconds(pid) for pid in tree)
        time.sleep(seconds)
        share = (sum(processor_seconds(pid) for pid in tree) - used) / seconds
        said = log.read_bytes()[begun:].decode()
        transactions = said.count("begin read write") + said.count("begin isolation level")
        statements = sum("statement:" in line or "execute" in line for line in said.splitlines())
        probes = said.count("pg_notify")
        tell(
            "an idle worker on PostgreSQL",
            {
                "transactions": transactions,
                "statements": statements,
                "probes": probes,
                "seconds": seconds,
                "percent of a core": round(share * 100, 2),
            },
        )
        assert 1 <= transactions <= 1 + seconds // 30
        assert probes <= 1 + seconds // 30
        assert share < 0.02
        assert [worker["alive"] for worker in seen_from_outside(workshop.url)] == [True]
        if seconds > 60:
            jobs_that_nobody_told_of_are_found(workshop)
    finally:
        workshop.app.use(workshop.url)


def seen_from_outside(url):
    with holdfast.App(url, signal="off") as app:
        return app.desk.read(workers, silent_too=True)


def jobs_that_nobody_told_of_are_found(workshop):
    """By the one look of the whole worker: in time where they are due after it, else with it."""
    took = []
    for kind, payload in (("stamp", {}), ("alone", {"seconds": 0})):
        for delay in (40, 0):
            with holdfast.App(workshop.url, signal="off") as silent:
                due = time.time() + delay
                job_id = silent.enqueue(kind, payload, delay=delay).id
                wait_for(lambda silent=silent, job_id=job_id: silent.get(job_id).ended, "its end")
            took.append(round(time.time() - due, 2))
    tell("jobs that nobody told of, s from the time they were due to their end", took)
    assert max(took[::2]) < 15
    assert max(took[1::2]) < 45
