"""`holdfast webhook`: look at deliveries and send them again, without the application's code."""

from __future__ import annotations

import json

import pytest

from holdfast.cli import main
from holdfast.testing import drain
from holdfast.webhooks.signing import key_of
from tests.webhooks.receiver import OK, status


@pytest.fixture
def clock():
    """The command line has the present, not a clock of the test's."""
    return


@pytest.fixture
def cli(app, capsys):
    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["--url", app.url, "webhook", *arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def failed(local, receiver):
    receiver.answers = [status(404), OK]
    app = local()
    handle = app.webhooks.deliver("here", "invoice.paid", {"n": 1})
    drain(app)
    return handle


def test_deliveries_are_listed_with_the_last_answer(cli, app, failed):
    app.enqueue("other")
    code, out, _ = cli("list")
    assert code == 0
    _, line = out.splitlines()
    assert line.split()[:4] == [failed.id, "here", "invoice.paid", "failed"]
    assert line.endswith("404")


def test_the_list_is_narrowed_and_goes_on(cli, app, failed):
    app.webhooks.deliver("here", "ping")
    assert json.loads(cli("list", "--status", "failed", "--json")[1])[0]["id"] == failed.id
    _, out, err = cli("list", "--limit", "1")
    assert len(out.splitlines()) == 2
    assert "--before" in err


def test_one_delivery_is_shown_with_its_attempts(cli, failed):
    code, out, _ = cli("show", failed.id)
    assert code == 0
    assert failed.job().payload["id"] in out
    assert "WEBHOOK_ANSWER" in out
    assert out.splitlines()[-1].split()[0] == "1"
    assert "404" in out.splitlines()[-1]
    assert json.loads(cli("show", failed.id, "--json")[1])["progress"]["partial"]["attempts"][0]["status"] == 404


def test_a_delivery_that_waits_is_shown_without_attempts(cli, app, local):
    handle = local().webhooks.deliver("here", "ping", delay=600)
    code, out, err = cli("show", handle.id)
    assert code == 0
    assert "next" in out
    assert "no attempt has ended yet" in err


def test_a_job_that_is_no_delivery_is_refused(cli, app):
    code, _, err = cli("show", app.enqueue("other").id)
    assert code != 0
    assert "holdfast job show" in err


def test_a_replay_is_enqueued_and_delivered(cli, app, failed, receiver):
    code, out, _ = cli("replay", failed.id)
    assert code == 0
    drain(app)
    assert app.handle(out.strip()).status() == "completed"
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1
    again = json.loads(cli("replay", failed.id, "--json")[1])
    assert (again["replay_of"], again["id"] != out.strip()) == (failed.id, True)


def test_what_waits_is_not_replayed(cli, local):
    handle = local().webhooks.deliver("here", "ping")
    code, _, err = cli("replay", handle.id)
    assert code == 1
    assert "has not ended" in err


def test_a_secret_is_made(cli):
    assert len(key_of(cli("secret")[1].strip())) == 32
    assert len(key_of(json.loads(cli("secret", "--json")[1])["secret"])) == 32


def test_subscriptions_are_made_listed_and_removed(cli, app):
    code, out, _ = cli("subscribe", "ops", "--endpoint", "pager", "--end", "failed", "--end", "dead_letter", "--type", "a", "--result")  # fmt: skip
    assert (code, out) == (
        0,
        "endpoint pager hears of: failed, dead_letter; type a; with the result; in force within 5 s\n",
    )
    code, out, _ = cli("subscribe", "all", "--endpoint", "books", "--end", "completed", "--queue", "q", "--group", "g", "--tenant", "t", "--json")  # fmt: skip
    assert (code, json.loads(out)["groups"]) == (0, ["g"])
    _, out, _ = cli("subscriptions")
    header, first, second = out.splitlines()
    assert header.split() == ["NAME", "ENDPOINT", "HEARS", "OF"]
    assert first.split() == ["all", "books", "completed;", "queue", "q;", "group", "g;", "tenant", "t"]
    assert second.startswith("ops")
    assert [one["name"] for one in json.loads(cli("subscriptions", "--json")[1])] == ["all", "ops"]
    assert cli("unsubscribe", "ops")[:2] == (0, "subscription ops is gone\n")
    code, out, err = cli("unsubscribe", "ops")
    assert (code, out) == (1, "")
    assert "there is no subscription ops" in err
    assert json.loads(cli("unsubscribe", "all", "--json")[1]) == {"name": "all", "changed": True}
    assert "no subscriptions" in cli("subscriptions")[2]


def test_a_subscription_that_cannot_be_is_wrong_use(cli, app):
    app.jobs()
    assert cli("subscribe", "ops", "--endpoint", "pager", "--end", "queued")[0] == 2
    assert cli("subscribe", "ops", "--endpoint", "pager")[0] == 2
    assert cli("subscribe", "ops", "--endpoint", "pager", "--end", "failed", "--type", "a\tb")[0] == 2
