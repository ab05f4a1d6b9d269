"""Jobs that wait for a person, through the public API."""

from __future__ import annotations

import logging
import sys

import pytest

import holdfast
from holdfast.engine import sealing
from holdfast.engine.jobs import history
from holdfast.testing import drain
from holdfast.webhooks import new_secret

URL = "https://example.org/login"


@pytest.fixture
def secret(monkeypatch):
    monkeypatch.setenv(sealing.VARIABLE, new_secret())


@pytest.fixture
def seen():
    return []


@pytest.fixture
def fetch(app, seen):
    @app.job
    def fetch(job: holdfast.JobContext, page: str, key: str = "example.org", expires: float = 10_800) -> str:
        seen.append((page, job.attempt, job.auth))
        if not seen[-1][2] and page != "open":
            raise holdfast.AwaitAuth(f"log in to read {page}", URL, key, expires=expires)
        return "read"

    return fetch


def test_a_job_is_parked_and_goes_on_with_what_a_person_gave(app, fetch, seen, secret):
    handle = fetch.enqueue(page="a")
    drain(app)
    assert handle.status() == "awaiting_auth"
    assert app.resume(handle.id, data={"cookie": "c1"}, actor="ann") == [handle.id]
    drain(app)
    assert handle.result(timeout=0) == "read"
    assert seen == [("a", 1, None), ("a", 1, {"cookie": "c1"})]
    assert app.desk.read(history, handle.id)[-1]["actor"] == "ann"


def test_exactly_those_that_wait_for_the_key_go_on(app, fetch):
    mine = [fetch.enqueue(page=str(number)) for number in range(3)]
    other = fetch.enqueue(page="x", key="other.org")
    drain(app)
    assert app.resume(key="example.org") == [handle.id for handle in mine]
    assert [handle.status() for handle in (*mine, other)] == ["queued"] * 3 + ["awaiting_auth"]
    assert app.resume(key="example.org") == []


def test_more_than_a_page_of_them(app, fetch, monkeypatch):
    monkeypatch.setattr("holdfast.engine.parking.PAGE", 2)
    handles = [fetch.using(group="g").enqueue(page=str(number)) for number in range(5)]
    drain(app)
    assert app.resume(group="g") == [handle.id for handle in handles]


def test_within_a_tenant(app, fetch):
    handle = fetch.using(tenant="acme").enqueue(page="a")
    drain(app)
    assert app.resume(key="example.org") == []
    assert app.resume(key="example.org", tenant="acme") == [handle.id]


def test_nobody_in_time_and_it_is_a_dead_letter(app, fetch, clock):
    handle = fetch.enqueue(page="a", expires=60)
    drain(app)
    clock.advance(60)
    drain(app)
    with pytest.raises(holdfast.JobFailed, match="log in to read a"):
        handle.result(timeout=0)
    assert handle.job().error["code"] == "AUTH_EXPIRED"


def test_only_a_parked_job_is_resumed(app, fetch):
    handle = fetch.enqueue(page="open")
    with pytest.raises(holdfast.Conflict, match="is queued: only a parked job is resumed") as refused:
        app.resume(handle.id)
    assert refused.value.code == "WRONG_STATUS"
    with pytest.raises(holdfast.NotFound):
        app.resume("01JHQ8Y3M0G5V7T2K4N6P8R0SD")


@pytest.mark.parametrize(
    "which",
    [
        {},
        {"job_id": "a", "key": "b"},
        {"key": "a", "group": "b"},
        {"key": ""},
        {"group": "\0"},
        {"key": "k", "tenant": "\0"},
    ],
)
def test_it_must_be_said_which(app, which):
    with pytest.raises(holdfast.BadInput):
        app.resume(**which)


@pytest.mark.parametrize("data", ["text", 7, ["a"], {"a": float("nan")}, {"a": "x" * 70_000}])
def test_what_cannot_be_given_is_refused(app, fetch, secret, data):
    handle = fetch.enqueue(page="a")
    drain(app)
    with pytest.raises(holdfast.BadInput) as refused:
        app.resume(handle.id, data=data)
    assert "x" * 100 not in str(refused.value)
    assert handle.status() == "awaiting_auth"


# -- the key


def test_without_a_key_data_is_refused_and_a_plain_resume_is_not(app, fetch, monkeypatch):
    monkeypatch.delenv(sealing.VARIABLE, raising=False)
    handle = fetch.enqueue(page="a")
    drain(app)
    with pytest.raises(holdfast.BadInput, match="set HOLDFAST_SECRET") as refused:
        app.resume(handle.id, data={"code": "1"})
    assert refused.value.code == "NO_SECRET"
    assert handle.status() == "awaiting_auth"
    assert app.resume(handle.id) == [handle.id]


@pytest.mark.parametrize("bad", ["short", "not base64 at all!", "whsec_c2hvcnQ="])
def test_a_key_that_is_none_is_refused_and_not_repeated(app, fetch, monkeypatch, bad):
    monkeypatch.setenv(sealing.VARIABLE, bad)
    handle = fetch.enqueue(page="a")
    drain(app)
    with pytest.raises(holdfast.BadInput, match="base64") as refused:
        app.resume(handle.id, data={"code": "1"})
    assert refused.value.code == "NO_SECRET"
    assert "c2hvcnQ" not in str(refused.value)


def test_without_the_library_it_is_told_what_to_install(app, fetch, monkeypatch, secret):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    handle = fetch.enqueue(page="a")
    drain(app)
    with pytest.raises(holdfast.BadInput, match="extra encryption"):
        app.resume(handle.id, data={"code": "1"})


def test_a_key_can_be_changed_while_an_answer_waits(app, fetch, seen, monkeypatch):
    old, new = new_secret(), new_secret()
    monkeypatch.setenv(sealing.VARIABLE, old)
    handle = fetch.enqueue(page="a")
    drain(app)
    app.resume(handle.id, data={"code": "1"})
    monkeypatch.setenv(sealing.VARIABLE, f"{new} {old}")
    drain(app)
    assert (handle.status(), seen[-1][2]) == ("completed", {"code": "1"})


def test_an_answer_without_its_key_fails_the_run_and_says_so(app, fetch, monkeypatch):
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    handle = fetch.enqueue(page="a")
    drain(app)
    app.resume(handle.id, data={"code": "1"})
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    drain(app)
    error = handle.job().error
    assert (handle.status(), error["code"]) == ("queued", "NO_SECRET")
    assert "lacks the key" in error["message"]


def test_an_answer_is_for_its_own_job(app, fetch, secret):
    """Whoever can write to the database cannot give the answer of one job to another."""
    first, second = fetch.enqueue(page="a"), fetch.enqueue(page="b")
    drain(app)
    app.resume(first.id, data={"code": "1"})
    app.resume(second.id)
    with app.transaction() as tx:
        tx.execute(
            "update job_queue set auth_data = (select auth_data from job_queue where id = ?) where id = ?",
            (first.id, second.id),
        )
    drain(app)
    assert second.job().error["code"] == "NO_SECRET"
    assert "was changed in the store" in second.job().error["message"]


def test_an_answer_is_seen_nowhere(app, fetch, tmp_path, secret, caplog):
    caplog.set_level(logging.DEBUG)
    handle = fetch.enqueue(page="a")
    drain(app)
    app.resume(handle.id, data={"cookie": "very-private"})
    told = [handle.job(), handle.job().as_json(), app.explain(handle.id), app.desk.read(history, handle.id)]
    assert "very-private" not in str(told) + caplog.text
    app.close()
    assert all(b"very-private" not in file.read_bytes() for file in tmp_path.glob("jobs.db*") if file.is_file())


# -- what a handler may say


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"reason": ""}, "reason says"),
        ({"reason": 7}, "reason says"),
        ({"reason": "x", "url": "javascript:alert(1)"}, "an address of the web"),
        ({"reason": "x", "url": "file:///etc/passwd"}, "an address of the web"),
        ({"reason": "x", "url": "https://"}, "an address of the web"),
        ({"reason": "x", "url": "https://ann:secret@example.org"}, "must not hold"),
        ({"reason": "x", "url": "https://example.org/" + "x" * 2_000}, "up to 2000"),
        ({"reason": "x", "url": "https://example.org/a b"}, "without spaces"),
        ({"reason": "x", "url": "https://example.org/\x1b"}, "without spaces"),
        ({"reason": "x", "url": 7}, "an address"),
        ({"reason": "x", "expires": -1}, "seconds"),
    ],
)
def test_a_handler_that_asks_for_nonsense_hears_of_it(wrong, why):
    with pytest.raises(ValueError, match=why):
        holdfast.AwaitAuth(**wrong)


def test_a_key_is_a_name():
    with pytest.raises(holdfast.BadInput):
        holdfast.AwaitAuth("x", key="\0")


def test_a_long_reason_is_cut_and_scrubbed():
    asked = holdfast.AwaitAuth("log in\n with password=hunter22 " + "x" * 1_000)
    assert len(asked.reason) == 500
    assert "hunter22" not in asked.reason
    assert asked.reason.startswith("log in with password=[REDACTED]")


def test_explain_tells_what_it_waits_for(app, fetch):
    handle = fetch.enqueue(page="a")
    drain(app)
    ((reason),) = app.explain(handle.id)["reasons"]
    assert reason["code"] == "AWAITING_AUTH"
    assert reason["text"] == (
        f"log in to read a at {URL}, as all that wait for key 'example.org'; then `holdfast job resume {handle.id}`; "
        "after 3 h more it ends dead_letter"
    )
