"""Rows into which another program wrote what is not JSON: shown with a mark, failed for good, and nobody else's trouble."""

from __future__ import annotations

import pytest

import holdfast
from holdfast.model.errors import KeyConflict
from holdfast.model.status import Status
from holdfast.testing import drain


def spoil(app, job_id, column="payload", text="{oops"):
    with app.transaction() as tx:
        tx.execute(f"update job_queue set {column} = ? where id = ?", (text, job_id))


@pytest.mark.parametrize("column", ["payload", "result", "error", "progress", "context", "auth"])
def test_a_listing_shows_it_with_a_mark_between_the_others(app, thumbnail, column):
    ids = [thumbnail.enqueue("a.png").id for _ in range(3)]
    spoil(app, ids[1], column)
    found = app.jobs()
    assert [job.id for job in found] == ids[::-1]
    assert getattr(found[1], column)["code"] == getattr(app.get(ids[1]), column)["code"] == "STORED_NOT_JSON"


@pytest.mark.parametrize("text", ["{oops", "", "[" * 100_000])
@pytest.mark.parametrize("open_ended", [False, True])
def test_its_run_fails_for_good_and_the_others_complete(app, open_ended, text):
    def plain(step: int) -> int:
        return step

    def any_names(**more: int) -> int:
        return more["step"]

    handler = app.job(any_names if open_ended else plain)
    handles = [handler.enqueue(step=number) for number in range(3)]
    spoil(app, handles[1].id, text=text)
    drain(app)
    job = app.get(handles[1].id)
    assert (job.status, job.attempts, job.error["code"]) == (Status.FAILED, 1, "PAYLOAD_NOT_JSON")
    assert [handles[0].result(timeout=5), handles[2].result(timeout=5)] == [0, 2]


def test_json_that_is_no_object_does_not_fit(app):
    def any_names(**more: int) -> None: ...

    handle = app.job(any_names).enqueue(step=1)
    spoil(app, handle.id, text="[1]")
    drain(app)
    assert (handle.status(), handle.job().error["code"]) == (Status.FAILED, "PAYLOAD_INVALID")


def test_a_handler_that_asks_for_a_spoilt_context_fails_for_good(app):
    @app.job
    def ask(job: holdfast.JobContext) -> str:
        return str(job.context)

    handle = ask.enqueue()
    spoil(app, handle.id, "context")
    drain(app)
    assert (handle.status(), handle.job().error["code"]) == (Status.FAILED, "PAYLOAD_NOT_JSON")


def test_a_key_that_it_holds_belongs_to_another_request(app, thumbnail):
    handle = thumbnail.using(key="k").enqueue("a.png")
    spoil(app, handle.id)
    with pytest.raises(KeyConflict):
        thumbnail.using(key="k").enqueue("a.png")
