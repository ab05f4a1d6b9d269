"""Batches over HTTP."""

from __future__ import annotations

import pytest

import holdfast
from holdfast.http import answers, flow_answers
from holdfast.testing import drain


@pytest.fixture
def batch(site):
    with holdfast.App(site.app.url) as app:

        @app.job
        def square(n: int) -> int:
            if n == 2:
                raise holdfast.Permanent("not two")
            return n * n

        made = app.map(square, [{"n": n} for n in range(4)])
        drain(app)
        yield made


def test_batches_are_listed_and_shown(site, batch):
    page = site.get("/v1/batches").json
    flow_answers.BatchPage.model_validate(page)
    assert [(one["id"], one["done"], one["failed"]) for one in page["items"]] == [(batch.id, 3, 1)]
    shown = site.get(f"/v1/batches/{batch.id}").json
    flow_answers.BatchView.model_validate(shown)
    assert shown["percent"] == 100.0
    assert site.get("/v1/batches?limit=1").json["next"] == batch.id
    assert site.get(f"/v1/batches?before={batch.id}").json == {"items": [], "next": None}


def test_items_come_page_by_page(site, batch):
    page = site.get(f"/v1/batches/{batch.id}/items?limit=2").json
    flow_answers.ItemPage.model_validate(page)
    assert [one["number"] for one in page["items"]] == [0, 1]
    rest = site.get(f"/v1/batches/{batch.id}/items?after={page['next']}").json
    flow_answers.ItemPage.model_validate(rest)
    assert [(one["number"], one["status"]) for one in rest["items"]] == [(2, "failed"), (3, "done")]
    (failed,) = site.get(f"/v1/batches/{batch.id}/items?failed=true").json["items"]
    assert failed["error"]["message"] == "not two"


def test_a_batch_is_cancelled(site, batch):
    reply = site.post(f"/v1/batches/{batch.id}/cancel")
    flow_answers.BatchView.model_validate(reply.json)
    assert reply.json["done"] == 3


@pytest.mark.parametrize("path", ["", "/items"])
def test_a_batch_nobody_knows_is_not_found(site, path):
    reply = site.get(f"/v1/batches/nobody{path}")
    assert (reply.status, reply.json["code"]) == (404, "BATCH_NOT_FOUND")
    assert site.post("/v1/batches/nobody/cancel").status == 404


def test_a_job_tells_which_items_of_which_batch_it_runs(site, batch):
    (chunk,) = site.get("/v1/jobs?view=summary").json["items"]
    assert chunk["batch"] == {"id": batch.id, "first": 0, "last": 3}
    shown = site.get(f"/v1/jobs/{chunk['id']}").json
    answers.JobShown.model_validate(shown)
    assert shown["batch"] == chunk["batch"]
    other = site.app.enqueue("other").id
    assert "batch" not in site.get(f"/v1/jobs/{other}").json
