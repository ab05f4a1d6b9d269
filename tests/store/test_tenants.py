"""Whoever asks for one tenant meets no job of another: every verb of the engine that takes a tenant, on every store."""

from __future__ import annotations

import inspect

import pytest

from holdfast.engine import explain, jobs
from holdfast.model.errors import NotFound
from tests.store.given import dead, enqueue, get, status, write

ONE = {
    "get": lambda tx, job_id: jobs.get(tx, job_id, "acme"),
    "get_with_family": lambda tx, job_id: jobs.get_with_family(tx, job_id, "acme"),
    "cancel": lambda tx, job_id: jobs.cancel(tx, job_id, tenant="acme"),
    "retry": lambda tx, job_id: jobs.retry(tx, job_id, tenant="acme"),
    "history": lambda tx, job_id: jobs.history(tx, job_id, "acme"),
    "purge": lambda tx, job_id: jobs.purge(tx, job_id, tenant="acme"),
    "explain": lambda tx, job_id: explain.explain(tx, job_id, "acme"),
}
MANY = {
    "dead_letters": lambda tx: [job.id for job in jobs.dead_letters(tx, tenant="acme")],
    "list_jobs": lambda tx: [job.id for job in jobs.list_jobs(tx, tenant="acme")[0]],
}


def test_every_verb_that_takes_a_tenant_is_tried_here():
    takes = {
        name
        for module in (jobs, explain)
        for name, verb in vars(module).items()
        if inspect.isfunction(verb)
        and verb.__module__ == module.__name__
        and {"tenant", "where"} & set(inspect.signature(verb).parameters)
        and not name.startswith("_")
    }
    # Those behind the purge are tried in test_audit.py, and below, as a part of the first.
    assert takes == {*ONE, *MANY, "retry_dead", "purge_dead", "audit", "retry_those"}


@pytest.mark.parametrize("verb", ONE)
@pytest.mark.parametrize("tenant", ["umbrella", ""])
def test_a_job_of_another_tenant_is_not_there(store, verb, tenant):
    for job_id in (dead(store, tenant=tenant), enqueue(store, "waiting", tenant=tenant)):
        before = get(store, job_id)
        with pytest.raises(NotFound):
            write(store, lambda tx, job_id=job_id: ONE[verb](tx, job_id))
        assert get(store, job_id) == before


@pytest.mark.parametrize("verb", ONE)
def test_its_own_job_is_there(store, verb):
    ended, waiting = dead(store, tenant="acme"), enqueue(store, "waiting", tenant="acme")
    write(store, lambda tx: ONE[verb](tx, waiting if verb == "cancel" else ended))


@pytest.mark.parametrize("verb", MANY)
def test_a_list_has_its_own_jobs_alone(store, verb):
    own = dead(store, tenant="acme")
    dead(store, tenant="umbrella")
    dead(store)
    assert write(store, MANY[verb]) == [own]


def test_dead_letters_are_retried_for_one_tenant_alone(store):
    own, other, nobodys = (dead(store, tenant=tenant) for tenant in ("acme", "umbrella", ""))
    assert write(store, lambda tx: jobs.retry_dead(tx, tenant="acme")) == 1
    assert [status(store, one).value for one in (own, other, nobodys)] == ["queued", "dead_letter", "dead_letter"]


def test_dead_letters_are_purged_for_one_tenant_alone(store):
    _, other, nobodys = (dead(store, tenant=tenant) for tenant in ("acme", "umbrella", ""))
    assert write(store, lambda tx: jobs.purge_dead(tx, tenant="acme")) == 1
    assert {job.id for job in write(store, jobs.dead_letters)} == {other, nobodys}


def test_a_key_belongs_to_its_tenant(store):
    first, second = (enqueue(store, tenant=tenant, key="same") for tenant in ("acme", "umbrella"))
    assert first != second
    assert not store.read(lambda tx: tx.has_key("", "same"))
