"""Requests with a coalesce key, and what the tests of newest-wins look at."""

from __future__ import annotations

from holdfast.engine import jobs
from holdfast.model import stamp
from holdfast.model.request import NewJob
from tests.store.given import get, write


def ask(store, payload="{}", kind="mail", key="doc", **options):
    """A request: the id of its job, and what was done."""
    job = NewJob(kind, payload, coalesce_key=key, **options)
    ((job_id, outcome),) = write(store, lambda tx: jobs.enqueue(tx, [job]))
    return job_id, outcome


def history(store, job_id):
    return store.read(lambda tx: tx.history(job_id))


def due_at(store, job_id):
    return stamp.from_datetime(get(store, job_id).scheduled_at)
