"""`holdfast limits`."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "words", [("limits", "set", "api", "--rate", "5"), ("group", "pause", "g"), ("queues", "pause", "default")]
)
def test_who_acts_where_no_store_is_learns_which_file_was_made(bare, tmp_path, words):
    first, second = bare(*words), bare(*words)
    assert (first.code, second.code) == (0, 0)
    assert f"a new database was made: {tmp_path}/here/holdfast.db" in first.err
    assert "made" not in second.err


def test_limits_are_set_listed_dropped_and_reset(cli):
    assert cli("limits", "set", "domain", "--concurrency", "1").out == "domain: 1 at once\n"
    assert cli("limits", "set", "api", "--rate", "100", "--per", "1m").out == "api: 100 starts in 60 s\n"
    assert "on each host" in cli("limits", "set", "gpu", "--concurrency", "2", "--scope", "host").out
    assert "acme: 2" in cli("limits", "fair", "images", "--weight", "acme=2").out
    assert cli("limits", "exclusive", "gpu", "browser").out.startswith("exclusive:browser+gpu: 1 at once")
    head, *rows = cli("limits").out.splitlines()
    assert head.split() == ["NAME", "ALLOWS", "QUEUES", "STATE", "FROM"]
    assert [row.split()[0] for row in rows] == ["api", "domain", "exclusive:browser+gpu", "fair:images", "gpu"]
    assert cli("limits", "list").out.splitlines() == [head, *rows]
    listed = cli("limits", "--json").json
    assert (listed[0]["name"], listed[0]["rate"], listed[0]["per"], listed[0]["source"]) == ("api", 100, 60, "runtime")
    assert cli("limits", "drop", "api", "--json").json["removed"] is True
    assert "no limit any more" in cli("limits", "drop", "domain").out
    assert len(cli("limits", "list", "--json").json) == 3


def test_what_the_code_says_comes_back_with_reset(cli, app):
    from holdfast.engine.limits import declare
    from holdfast.model.limit import limit_of

    app.desk.write(declare, {"domain": limit_of("domain", concurrency=3)})
    assert "holdfast limits reset" in cli("limits", "drop", "domain").err
    assert "removed" in cli("limits").out
    assert cli("limits", "reset", "domain").out == "domain: 3 at once\n"


def test_without_limits_it_says_how_to_make_one(cli, app):
    app.jobs()
    assert cli("limits", "--json").json == []
    assert "holdfast limits set" in cli("limits").err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("set", "domain"), "BAD_LIMIT"),
        (("set", "fair:x", "--concurrency", "1"), "BAD_LIMIT"),
        (("fair", "images", "--weight", "acme"), "BAD_LIMIT"),
        (("drop", "nobody"), "LIMIT_NOT_FOUND"),
        (("reset", "nobody"), "LIMIT_NOT_FOUND"),
    ],
)
def test_what_cannot_be_is_refused(cli, app, words, code):
    app.jobs()
    answer = cli("limits", *words)
    assert answer.code == (1 if code == "LIMIT_NOT_FOUND" else 2)
    assert answer.err.splitlines()[-1].startswith(f"error {code}")
