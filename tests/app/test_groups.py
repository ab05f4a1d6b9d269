"""`app.group(key)`: what an application sees of a group, and does to it."""

from __future__ import annotations

import asyncio
import threading

import pytest

import holdfast
from holdfast.engine import leases
from holdfast.model.errors import BadInput
from holdfast.model.failure import Failure
from holdfast.model.lease import Lane
from holdfast.model.outcome import Raised, Returned
from holdfast.model.status import Status
from holdfast.store.port import Order

LONG = 30.0


def end(app, outcome=Returned('{"sent":true}'), limit=100):  # noqa: B008
    """Run what is due, as a worker would."""
    runs = app.desk.write(leases.claim, Order("w", (Lane("default", "mail"),), limit, 60_000))
    app.desk.write(leases.finish, [(run, outcome) for run in runs])
    return [run.id for run in runs]


def fill(app, number=3, **options):
    return [app.enqueue("mail", {"number": place}, group="g", **options).id for place in range(number)]


def test_progress_results_and_errors(app):
    ids = fill(app, 4)
    done = end(app, limit=2)
    assert app.group("g").progress()["percent"] == 50.0
    end(app, Raised(Failure("ValueError", "no"), permanent=True), limit=1)
    group = app.group("g")
    assert dict(group.results()) == {job_id: {"sent": True} for job_id in done}
    assert [(one["status"], one["message"]) for one in group.errors()] == [("failed", "no")]
    assert sorted(job.id for job in group.jobs()) == sorted(ids)
    assert [job.status for job in group.jobs(status="queued")] == [Status.QUEUED]
    assert repr(group) == "<Group 'g'>"


def test_results_come_page_by_page(app, monkeypatch):
    monkeypatch.setattr("holdfast.groups._PAGE", 2)
    fill(app, 5)
    done = end(app)
    assert [job_id for job_id, _ in app.group("g").results()] == sorted(done)


def test_a_wait_ends_when_every_job_has(app):
    fill(app)
    threading.Timer(0.1, lambda: end(app)).start()
    assert app.group("g").wait(LONG)["counts"]["completed"] == 3
    assert app.group("none").wait()["total"] == 0


def test_a_wait_that_is_too_short_tells_how_far_it_came(app):
    fill(app)
    end(app, limit=1)
    with pytest.raises(holdfast.ResultTimeout, match="1 of 3 jobs have ended"):
        app.group("g").wait(0.05)
    with pytest.raises(BadInput):
        app.group("g").wait("soon")


async def test_a_coroutine_awaits_the_same(app):
    fill(app)
    with pytest.raises(holdfast.HoldfastError) as refused:
        app.group("g").wait(1)
    assert refused.value.code == "USE_AWAIT"
    waiting = [asyncio.ensure_future(app.group("g").await_(LONG)) for _ in range(20)]
    await asyncio.sleep(0.05)
    await asyncio.to_thread(end, app)
    assert {seen["done"] for seen in await asyncio.gather(*waiting)} == {3}
    assert (await app.group("g").aprogress())["done"] == 3
    fill(app)
    with pytest.raises(holdfast.ResultTimeout):
        await app.group("g").await_(0.05)


def test_a_group_of_a_tenant_is_another_group(app):
    fill(app, 1)
    fill(app, 2, tenant="acme")
    assert app.group("g").progress()["total"] == 1
    assert app.group("g", tenant="acme").progress()["total"] == 2
    assert app.group("g", tenant="acme").cancel()["cancelled"] == 2
    assert app.group("g").cancel(types=["post"])["left_alone"] == {"mail": 1}


def test_pause_and_resume(app):
    fill(app, tenant="acme")
    group, tenant = app.group("g", tenant="acme"), app.tenant("acme")
    assert group.pause("ann")["jobs"] == 3
    assert tenant.pause()["jobs"] == 3
    assert [(one["scope"], one["by"]) for one in group.progress()["paused"]] == [("group", "ann"), ("tenant", "python")]
    assert end(app) == []
    assert group.resume()["changed"]
    assert end(app) == []
    assert tenant.resume()["changed"]
    assert len(end(app)) == 3
    assert repr(tenant) == "<Tenant 'acme'>"


def test_names_are_checked(app):
    for wrong in (
        lambda: app.group(""),
        lambda: app.group("g", tenant=1),
        lambda: app.tenant(""),
        lambda: app.group("g").pause(""),
    ):
        with pytest.raises(BadInput):
            wrong()


def test_a_full_cancel_of_one_job(app):
    job_id = app.enqueue("mail").id
    assert app.cancel(job_id, mode="full") == {
        "id": job_id, "changed": True, "left": "queued", "status": "cancelled", "still_running": 0,
    }  # fmt: skip
