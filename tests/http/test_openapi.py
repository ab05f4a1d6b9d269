"""The document and the site are made from one table; both are looked at from outside."""

from __future__ import annotations

import re

import pytest

from holdfast.app import App
from holdfast.http import create_http_app
from holdfast.http.problems import HTTP_CODES
from holdfast.http.table import TABLE
from holdfast.model.errors import CODES
from tests.house_rules.tree import DOCS

CONTRACT = """
POST /v1/jobs · GET /v1/jobs · GET /v1/jobs/{id} · POST /v1/jobs/{id}/cancel · POST /v1/jobs/{id}/retry · POST /v1/jobs/{id}/resume ·
GET /v1/jobs/{id}/explain · GET /v1/jobs/{id}/history · GET /v1/queues · POST /v1/queues/{name}/pause ·
POST /v1/queues/{name}/resume · GET /v1/batches · GET /v1/batches/{id} · GET /v1/batches/{id}/items · POST /v1/batches/{id}/cancel ·
GET /v1/schedules · POST /v1/schedules · GET /v1/schedules/{name} ·
POST /v1/schedules/{name}/pause · POST /v1/schedules/{name}/resume · POST /v1/schedules/{name}/trigger ·
GET /v1/limits · POST /v1/limits · POST /v1/limits/{name}/drop · POST /v1/limits/{name}/reset ·
POST /v1/schedules/{name}/remove · POST /v1/schedules/{name}/reset · GET /v1/dead-letter · POST /v1/dead-letter/retry · POST /v1/dead-letter/purge ·
GET /v1/stats · GET /v1/workers · GET /v1/events · GET /v1/health/live · GET /v1/health/ready · GET /metrics ·
GET /v1/groups/{key} · POST /v1/groups/{key}/cancel · POST /v1/groups/{key}/pause · POST /v1/groups/{key}/resume ·
GET /openapi.json · GET /
"""


BEYOND = {  # what the contract does not name
    ("GET", "/v1/audit"),
    ("POST", "/v1/resume"),
    ("GET", "/v1/subscriptions"),
    ("POST", "/v1/subscriptions"),
    ("POST", "/v1/subscriptions/{name}/remove"),
    ("GET", "/v1/pauses"),
    ("POST", "/v1/tenants/{name}/pause"),
    ("POST", "/v1/tenants/{name}/resume"),
}


@pytest.fixture(scope="module")
def document(quiet_site):
    return quiet_site.get("/openapi.json").json


def operations(document):
    return {
        (method.upper(), path): one for path, methods in document["paths"].items() for method, one in methods.items()
    }


def test_the_document_lists_exactly_the_routes_of_the_site(document, tmp_path):
    with App(f"sqlite:///{tmp_path / 'jobs.db'}") as app:
        site = create_http_app(app)
    served = {
        (method, re.sub(r":\w+}", "}", route.path))
        for route in site.routes
        if route.name != "static"
        for method in route.methods - {"HEAD"}
    }
    assert served == set(operations(document))


def test_the_site_has_every_route_of_the_contract(document):
    promised = {tuple(entry.split()) for entry in CONTRACT.split("·")}
    assert set(operations(document)) == promised | BEYOND


def test_every_operation_is_explained(document):
    for one in operations(document).values():
        assert one["summary"]
        assert one["operationId"]
        assert one["tags"]
        assert any(status.startswith("2") for status in one["responses"])


def test_operation_ids_are_unique(document):
    ids = [one["operationId"] for one in operations(document).values()]
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere(document):
    references = set(re.findall(r"'#/components/schemas/(\w+)'", str(document)))
    assert references
    assert references <= set(document["components"]["schemas"])


def test_every_schema_is_used(document):
    references = set(re.findall(r"'#/components/schemas/(\w+)'", str(document)))
    assert set(document["components"]["schemas"]) <= references


@pytest.mark.parametrize(
    "entry", [entry for entry in TABLE if entry.body and entry.example], ids=lambda entry: entry.name
)
def test_every_example_of_a_body_fits_its_shape(entry):
    entry.body.model_validate(entry.example)


@pytest.mark.parametrize(
    "entry", [entry for entry in TABLE if entry.answer_example is not None], ids=lambda entry: entry.name
)
def test_every_example_of_an_answer_fits_its_shape(entry):
    entry.answer.model_validate(entry.answer_example)


def test_every_route_stands_on_the_reference_page(document):
    page = (DOCS / "reference" / "http.md").read_text(encoding="utf-8")
    assert [f"{method} {path}" for method, path in operations(document) if f"`{method} {path}`" not in page] == []


def test_every_code_of_the_door_stands_on_the_reference_page():
    page = (DOCS / "reference" / "http.md").read_text(encoding="utf-8")
    assert [code for code, (status, _) in HTTP_CODES.items() if f"| `{code}` | {status} |" not in page] == []
    assert not set(HTTP_CODES) & set(CODES)


def test_every_metric_stands_on_the_reference_page(quiet_site):
    page = (DOCS / "reference" / "http.md").read_text(encoding="utf-8")
    names = re.findall(r"^# TYPE (\w+)", quiet_site.get("/metrics").body.decode(), re.MULTILINE)
    assert [name for name in names if f"| `{name}` |" not in page] == []
