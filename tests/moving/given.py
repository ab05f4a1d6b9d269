"""What the tests of a move start from: a file with jobs in every state, an empty database, and a witness for both."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from holdfast.engine import jobs, moving, schedules
from holdfast.model.batch import NewBatch
from holdfast.model.errors import StoreError
from holdfast.model.lease import Lane
from holdfast.model.outcome import Parked
from holdfast.model.request import NewJob
from holdfast.model.schedule import plan_of
from holdfast.model.subscription import subscription
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite.store import SqliteStore
from tests.store.given import DONE, FAILED, claim, claim_one, dead, ended, enqueue, finish, running, write  # noqa: F401

HOUR = 3_600_000
RAN_OUT = Lane("slow", "ran_out")
NIGHTLY = plan_of(NewJob("report", '{"text":"ü"}', tenant="acme"), cron="0 3 * * *", tz="Europe/Vienna")
OFTEN = plan_of(NewJob("poll", "{}"), every=90, catch_up="all")


def lived_in(store: Any) -> None:
    """Jobs in every status, with keys, tenants, parents, history, figures, schedules and a pause of a person."""
    enqueue(store, payload='{"text":"ü \\u0000 \\"quoted\\" \\t"}', key="a.png", tenant="acme", group="shop")
    later = enqueue(store, delay=HOUR, priority=1, queue="later", context='{"user_id":"ann"}')
    enqueue(store, "child", depends_on=later)
    ended(store, DONE, kind="report")
    ended(store, FAILED, kind="broken")
    retried = dead(store, kind="poison")
    write(store, lambda tx: (tx.retry(retried), tx.note(retried, from_status="dead_letter", why="retry", actor="ann")))
    dead(store, kind="poison_again")
    stopped = enqueue(store, "stopped")
    write(store, lambda tx: tx.cancel(stopped, tenant=None, graceful=False, error='{"class":"Cancelled"}'))
    write(store, lambda tx: tx.pause("images", "ann"))
    write(store, lambda tx: tx.pause_scope("group", "acme", "later", "ann"))
    write(store, lambda tx: tx.pause_scope("tenant", "umbrella", "umbrella", "ann"))
    write(store, lambda tx: tx.subscribe(subscription("ops", "pager", ends=["failed"], types=["ü"]), "ann"))
    finish(store, running(store, kind="asks"), Parked("log in", "https://example.org", "example.org", HOUR))
    gone = dead(store, kind="gone", tenant="acme")
    write(store, lambda tx: jobs.purge(tx, gone, actor="ann"))
    write(store, lambda tx: schedules.declare(tx, {"nightly": NIGHTLY}))
    write(store, lambda tx: schedules.add(tx, "often", OFTEN, by="ann"))
    batch = NewBatch(id="01JHQ8Y3M0G5V7T2K4N6P8R0SD", pattern=NewJob("item", "", tenant="acme"), total=2, digest="d",
                     callback='{"type": "ü"}', key="import")  # fmt: skip
    items = [NewJob("item", f'{{"n":{n}}}', tenant="acme") for n in range(2)]
    write(store, lambda tx: tx.add_batch(batch, items, [0, 1]))
    finish(store, claim_one(store, Lane("default", "item")), DONE)
    enqueue(store, RAN_OUT.type, queue=RAN_OUT.queue)
    claim_one(store, RAN_OUT, lease_ms=1)


def many(store: Any, number: int) -> None:
    for start in range(0, number, 5_000):
        jobs = [NewJob("mail", json.dumps({"n": n})) for n in range(start, min(start + 5_000, number))]
        write(store, lambda tx, jobs=jobs: tx.insert(jobs))


def everything(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that a store tells of its jobs, by its own public verbs: the witness that knows nothing of moves."""
    store = open_url(url)
    try:
        found = store.read(lambda tx: tx.list_jobs({}, "~", 100_000)[0])
        return {
            "jobs": [(job.as_json(), job.lease_token, job.idempotency_key, job.held) for job in found],
            "history": [(job.id, store.read(lambda tx, job=job: tx.history(job.id))) for job in found],
            "families": [(job.id, store.read(lambda tx, job=job: tx.parents(job.id, 10))) for job in found],
            "figures": sorted(store.read(lambda tx: tx.figures(0))),
            "pauses": store.read(lambda tx: tx.pauses()),
            "audit": store.read(jobs.audit),
            "schedules": store.read(lambda tx: tx.schedules()),
            "subscriptions": store.read(lambda tx: tx.subscriptions()),
            "batches": store.read(lambda tx: tx.batches(before="~", limit=100, tenant=None)),
            "items": store.read(lambda tx: tx.items("01JHQ8Y3M0G5V7T2K4N6P8R0SD", after=-1, limit=9, failed=False)),
        }
    finally:
        store.close()


def open_url(url: str) -> Any:
    return SqliteStore(url) if url.startswith("sqlite") else PostgresStore(url)


def is_alive(url: str) -> bool:
    """Whether a store gives out jobs."""
    store = open_url(url)
    try:
        store.read(lambda tx: tx.depth("default", 1))
    except StoreError as error:
        if error.code != "STORE_MOVED":
            raise
        return False
    finally:
        store.close()
    return True


def quiet(*_: object) -> None:
    """Told of progress, says nothing."""


def run(url: str, *statements: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            rows = connection.execute(statement)
        return rows.fetchall() if rows.description else []


def move(ends, wait=0.0, tell=quiet):
    return moving.move(*ends, wait=wait, tell=tell)


def undo(ends, wait=0.0, tell=quiet):
    return moving.undo(*ends, wait=wait, tell=tell)


def refusal(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


def database_name(url):
    return url.partition("?")[0].rpartition("/")[2]
