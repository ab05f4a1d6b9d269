"""Two applications on one store: what the one enqueued does not fit the other's handler of the same name."""

from __future__ import annotations

import pytest
from typing_extensions import TypedDict

import holdfast
from holdfast.testing import drain, temporary_app


class Address(TypedDict):
    url: str


def one(url: str) -> None: ...
def open_one(url: str, **more: int) -> None: ...
def many(jobs: list[Address]) -> None: ...


@pytest.mark.parametrize(("handler", "settings"), [(one, {}), (open_one, {}), (many, {"batch": 5})])
@pytest.mark.parametrize("payload", [{"document": 7}, {"url": 7}])
def test_a_payload_that_does_not_fit_names_the_other_application_as_a_possibility(handler, settings, payload):
    with temporary_app() as app, holdfast.App(app.url) as other:
        app.job(type="fetch", **settings)(handler)
        handle = other.enqueue("fetch", payload)
        drain(app)
        error = app.get(handle.id).error
    assert error["code"] == "PAYLOAD_INVALID"
    assert error["message"].startswith(f"payload does not fit {handler.__name__}: ")
    assert error["message"].endswith(
        "; was it enqueued by another version, or by another application? give types or queues names of their own"
    )


def test_a_payload_that_is_refused_at_once_is_the_callers_own():
    with temporary_app() as app:
        handler = app.job(one)
        with pytest.raises(holdfast.PayloadError) as caught:
            handler.enqueue(document=7)
    assert "another application" not in str(caught.value)
