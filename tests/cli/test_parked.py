"""`holdfast parked` and `holdfast job resume`."""

from __future__ import annotations

import pytest

from holdfast.engine import leases, sealing
from holdfast.model.outcome import Parked
from holdfast.webhooks import new_secret
from tests.cli.given import EVIL, RAW, running

URL = "https://example.org/login"


def parked(app, reason="log in", url=URL, key="example.org", **options):
    claim = running(app, "fetch", **options)
    app.desk.write(leases.finish, [(claim, Parked(reason, url, key, 3_600_000))])
    return claim.id


def test_parked_jobs_are_listed_with_what_they_wait_for(cli, app):
    job_id = parked(app)
    header, line = cli("parked").out.splitlines()
    assert header.split() == ["ID", "TYPE", "UNTIL", "KEY", "REASON", "URL"]
    assert line.split() == [job_id, "fetch", *line.split()[2:-4], "example.org", "log", "in", URL]
    (job,) = cli("parked", "--json").json
    assert job["id"] == job_id
    assert {name: job["auth"][name] for name in ("reason", "url", "key")} == {
        "reason": "log in", "url": URL, "key": "example.org",
    }  # fmt: skip
    assert job["auth"]["until"].endswith("Z")


def test_there_may_be_none(cli, app):
    app.jobs()  # there is a store
    answer = cli("parked")
    assert (answer.code, answer.out, answer.err) == (0, "", "no job waits for a person\n")
    assert cli("parked", "--json").json == []


def test_a_list_goes_on_below(cli, app):
    older, newer = parked(app), parked(app)
    assert [job["id"] for job in cli("parked", "--limit", "1", "--json").json] == [newer]
    assert f"more: --before {newer}" in cli("parked", "--limit", "1").err
    assert [job["id"] for job in cli("parked", "--before", newer, "--json").json] == [older]


def test_nothing_that_a_handler_says_reaches_the_terminal_raw(cli, app):
    parked(app, reason=EVIL, key=None, url=None)
    for command in (["parked"], ["jobs"]):
        out = cli(*command).out
        assert not any(raw in out for raw in RAW)


def test_one_goes_on(cli, app):
    job_id = parked(app)
    assert cli("job", "resume", job_id).out == "1 job resumed\n"
    assert app.get(job_id).status == "queued"
    refused = cli("job", "resume", job_id)
    assert (refused.code, refused.out) == (1, "")
    assert "WRONG_STATUS" in refused.err


def test_all_that_wait_for_a_key_go_on(cli, app):
    ids = [parked(app), parked(app)]
    parked(app, key="other.org")
    assert cli("job", "resume", "--key", "example.org", "--json").json == {"count": 2, "ids": ids}
    assert cli("job", "resume", "--key", "example.org").out == "0 jobs resumed\n"


def test_or_of_a_group_within_a_tenant(cli, app):
    job_id = parked(app, group="g", tenant="acme")
    assert cli("job", "resume", "--group", "g", "--json").json["count"] == 0
    assert cli("job", "resume", "--group", "g", "--tenant", "acme", "--json").json["ids"] == [job_id]


@pytest.mark.parametrize("which", [[], ["ID", "--key", "k"], ["--key", "k", "--group", "g"]])
def test_it_must_be_said_which(cli, which):
    answer = cli("job", "resume", *which)
    assert answer.code == 2
    assert "an ID, or --key KEY, or --group GROUP" in answer.err


@pytest.mark.parametrize("data", ["[1]", "7", "{", "text"])
def test_data_is_an_object_and_never_repeated(cli, app, monkeypatch, data):
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    answer = cli("job", "resume", parked(app), "--data", data)
    assert answer.code == 2
    assert "data" in answer.err


def test_data_is_sealed_for_the_job(cli, app, monkeypatch):
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    job_id = parked(app)
    assert cli("job", "resume", job_id, "--data", '{"code": "1"}').code == 0
    ((sealed,),) = app.desk.write(lambda tx: tx.execute("select auth_data from job_queue"))
    assert sealing.unseal(job_id, sealed) == {"code": "1"}
    assert sealed not in cli("job", "show", job_id, "--json").out


def test_data_may_come_from_standard_input(cli, app, monkeypatch):
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    job_id = parked(app)
    assert cli("job", "resume", job_id, "--data", "-", stdin='{"code": "2"}').code == 0
    ((sealed,),) = app.desk.write(lambda tx: tx.execute("select auth_data from job_queue"))
    assert sealing.unseal(job_id, sealed) == {"code": "2"}


def test_without_a_secret_it_says_what_to_do(cli, app, monkeypatch):
    monkeypatch.delenv(sealing.VARIABLE, raising=False)
    answer = cli("job", "resume", parked(app), "--data", '{"code": "1"}', "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "NO_SECRET")
    assert "HOLDFAST_SECRET" in answer.json["error"]["message"]


def test_a_parked_job_is_shown_and_explained(cli, app):
    job_id = parked(app)
    shown = cli("job", "show", job_id).out
    assert "parked until" in shown
    assert f"log in {URL}" in shown
    assert f"log in at {URL}" in cli("job", "explain", job_id).out
