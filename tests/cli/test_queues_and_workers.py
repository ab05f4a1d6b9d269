from __future__ import annotations

import pytest

from holdfast.model.status import Status
from tests.cli.given import dead, ended, running, worker

COUNTS = {
    "waiting",
    "limited",
    "blocked",
    "running",
    "expired",
    "dead",
    "failed",
    "awaiting_auth",
    "completed_1h",
    "ended_badly_1h",
}


def test_queues_are_listed_with_their_types_taken_together(cli, app):
    app.enqueue("mail", queue="slow")
    app.enqueue("tick", queue="slow")
    running(app, "mail")
    dead(app, "mail")
    ended(app, Status.COMPLETED, "tick")
    default, slow = cli("queues", "list", "--json").json
    assert set(default) == COUNTS | {"name", "paused", "oldest_s", "types"}
    assert (default["name"], default["running"], default["dead"], default["completed_1h"]) == ("default", 1, 1, 1)
    assert (slow["name"], slow["waiting"], slow["types"], slow["paused"]) == ("slow", 2, ["mail", "tick"], None)
    head, *lines = cli("queues", "list").out.splitlines()
    assert head.split()[:3] == ["QUEUE", "STATE", "WAITING"]
    assert [line.split()[:3] for line in lines] == [["default", "open", "0"], ["slow", "open", "2"]]


def test_no_queues_is_an_empty_listing(cli, app):
    app.jobs()
    assert cli("queues", "list", "--json").json == []
    assert cli("queues", "list").err == "no queue holds anything\n"


def test_a_queue_is_paused_and_resumed(cli):
    assert cli("queues", "pause", "slow").out == "queue slow is paused\n"
    (queue,) = cli("queues", "list", "--json").json
    assert queue["paused"]["by"].startswith("cli:")
    assert "paused" in cli("queues", "list").out
    assert cli("queues", "pause", "slow").err == "it was so before\n"
    assert cli("queues", "resume", "slow", "--json").json == {"name": "slow", "paused": False, "changed": True}
    assert cli("queues", "resume", "slow", "--json").json["changed"] is False


def test_a_queue_needs_a_name_that_can_be(cli):
    answer = cli("queues", "pause", "a\nb")
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith("error BAD_NAME: ")


def test_workers_are_listed_with_what_they_draw_from(cli, app):
    worker(app, "host:7:a", (("default", "mail", 1), ("slow", "mail", 2)))
    (shown,) = cli("workers", "--json").json
    assert set(shown) == {"id", "host", "pid", "started_at", "seen_at", "lanes", "places", "running", "alive"}
    assert shown["lanes"][1] == {"queue": "slow", "type": "mail", "version": 2}
    assert shown["alive"] is True
    running(app, owner="host:7:a/1-child")
    assert cli("workers").out.splitlines()[1].endswith("1/10  default, slow")


def test_a_worker_that_fell_silent_is_shown_so(bare, tmp_path, monkeypatch):
    from time import time_ns

    from holdfast import App

    url = f"sqlite:///{tmp_path}/old.db"
    with App(url, clock=lambda: time_ns() // 1_000_000 - 600_000) as app:
        worker(app)
    monkeypatch.setenv("HOLDFAST_URL", url)
    assert bare("workers", "--json").json[0]["alive"] is False
    assert "silent" in bare("workers").out


def test_no_workers_says_how_to_start_one(cli, app):
    app.jobs()
    assert cli("workers") == (0, "", "no worker was heard of: start one with `holdfast worker MODULE:APP`\n")


def test_figures_are_shown_by_queue_and_type(cli, app):
    ended(app, Status.COMPLETED, "mail")
    ended(app, Status.DEAD_LETTER, "mail")
    shown = cli("stats", "--json").json
    assert set(shown) == {"at", "cap", "paused", "lines"}
    assert (shown["lines"][0]["completed_1h"], shown["lines"][0]["ended_badly_1h"]) == (1, 1)
    cli("queues", "pause", "default")
    table = cli("stats").out
    assert "default (paused)" in table
    assert "50 %" in table


def test_jobs_that_wait_for_others_have_a_column_where_there_are_some(cli, app):
    parent = app.enqueue("mail")
    assert "BLOCKED" not in cli("stats").out
    app.enqueue("mail", depends_on=parent)
    head, line = cli("stats").out.splitlines()
    assert head.split()[2:6] == ["WAIT", "BLOCKED", "LIMITED", "OLDEST"]
    assert line.split()[2:4] == ["1", "1"]
    assert "1 blocked" in cli("top", "--once").out


def test_nothing_to_count_says_so(cli, app):
    app.jobs()
    assert cli("stats").err == "nothing waits, runs or ended in the last hour\n"


def test_a_pause_of_a_queue_that_nobody_knows_says_so(cli, app):
    app.enqueue("mail", queue="known")
    worker(app, "host:7:a", (("drawn", "mail", 1),))
    assert cli("queues", "pause", "known").err == cli("queues", "pause", "drawn").err == ""
    answer = cli("queues", "pause", "unheard-of")
    assert (answer.code, answer.out) == (0, "queue unheard-of is paused\n")
    assert answer.err.startswith("no job and no worker of this queue is known")


@pytest.mark.parametrize("family", ["queues", "tenants", "limits"])
def test_a_family_without_a_verb_lists(cli, app, family):
    app.enqueue("tick")
    app.tenant("acme").pause("me")
    for arguments in ([family], [family, "list"]):
        answer = cli(*arguments)
        assert answer.code == 0
        assert "Usage" not in answer.err
    names = [[one["name"] for one in cli(*words, "--json").json] for words in ([family], [family, "list"])]
    assert names[0] == names[1]


@pytest.mark.parametrize("family", ["queues", "tenants"])
def test_an_address_before_the_verb_is_heeded(cli, app, tmp_path, family):
    app.jobs()
    other = f"sqlite:///{tmp_path}/other.db"
    assert cli(family, "--url", other, "pause", "images").code == 0
    assert "images" not in cli(family, "list").out
    assert "images" in cli(family, "list", "--url", other).out
