from __future__ import annotations

from holdfast.model.status import Status
from tests.cli.given import EVIL, RAW, dead, ended, running


def fill(app):
    ended(app, Status.COMPLETED, "mail", group="g")
    dead(app, "mail", group="g")
    running(app, "mail", group="g")
    app.enqueue("post", group="g")


def test_a_group_is_shown(cli, app):
    fill(app)
    seen = cli("group", "show", "g", "--json").json
    assert (seen["total"], seen["done"], seen["percent"]) == (4, 2, 50.0)
    out = cli("group", "show", "g").out
    assert "2 of 4 (50 %)" in out
    assert "dead_letter" in out
    assert "tenant" not in out
    missing = cli("group", "show", "none")
    assert (missing.code, "GROUP_NOT_FOUND" in missing.err) == (1, True)


def test_a_wait_for_a_group_that_is_not_done_fails(cli, app):
    fill(app)
    late = cli("group", "show", "g", "--wait", "0.1", "--json")
    assert (late.code, late.json["done"]) == (1, 2)
    assert "RESULT_TIMEOUT" in late.err
    cli("group", "cancel", "g")
    assert cli("group", "show", "g", "--wait", "10").code == 0


def test_a_group_is_cancelled(cli, app):
    fill(app)
    first = cli("group", "cancel", "g", "--type", "mail", "--mode", "graceful")
    assert first.out.splitlines() == [
        "group g: 0 jobs cancelled, 1 run asked to stop, 1 still running",
        "  mail: 1 were in_progress",
        "  post: 1 left alone",
    ]
    answer = cli("group", "cancel", "g", "--mode", "full", "--json").json
    assert (answer["cancelled"], answer["still_running"]) == (2, 1)
    assert cli("group", "cancel", "g").out == "group g: 0 jobs cancelled\n"


def test_groups_and_tenants_are_paused_and_resumed(cli, app):
    app.enqueue("mail", group="g", tenant="acme")
    assert cli("group", "pause", "g", "--tenant", "acme").out == "group g is paused: 1 job held\n"
    assert cli("group", "pause", "g", "--tenant", "acme").err == "it was so before\n"
    assert cli("tenants", "pause", "acme", "--json").json["jobs"] == 1
    (one,) = cli("tenants", "list", "--json").json
    assert (one["name"], one["by"].startswith("cli:")) == ("acme", True)
    assert "acme" in cli("tenants", "list").out
    assert "group g paused" in cli("top", "--once").out
    assert cli("group", "resume", "g", "--tenant", "acme").out == "group g is open: 1 job let go\n"
    assert "tenant acme paused" in cli("top", "--once").out
    assert cli("tenants", "resume", "acme").out == "tenant acme is open: 1 job let go\n"
    assert cli("tenants", "list").err == "no tenant is paused\n"


def test_a_pause_before_the_first_job_says_that_none_is_known(cli, app):
    app.enqueue("mail", group="known")
    unknown, known = cli("group", "pause", "unheard-of"), cli("group", "pause", "known")
    assert (unknown.code, known.err) == (0, "")
    assert "no job of this group is known yet" in unknown.err
    assert app.get(app.enqueue("mail", group="unheard-of").id).held


def test_a_group_that_nobody_made_is_told_as_unknown(cli, app):
    app.enqueue("mail", group="known")
    for wait in ((), ("--wait", "5")):
        answer = cli("group", "show", "unheard-of", *wait)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("error GROUP_NOT_FOUND: no jobs in group 'unheard-of'")
    unknown, known = cli("group", "cancel", "unheard-of"), cli("group", "cancel", "known")
    assert (unknown.code, unknown.err) == (0, "no job of this group is known: is its key spelt right?\n")
    assert (known.code, known.err) == (0, "")


def test_a_key_that_holds_escapes_is_shown_harmlessly(cli, app):
    key = "".join(letter for letter in EVIL if letter.isprintable())
    app.enqueue("mail", group=key)
    out = cli("group", "show", key).out + cli("group", "pause", key).out
    assert not [raw for raw in RAW if raw in out]


def test_a_full_cancel_of_a_job_tells_of_its_handler(cli, app):
    job_id = running(app, "mail").id
    assert "its handler has not stopped yet" in cli("job", "cancel", job_id, "--mode", "full").out
