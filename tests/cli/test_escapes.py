"""What a job holds is shown, never obeyed: not by the terminal, not by the library that draws tables."""

from __future__ import annotations

import json

import pytest

from holdfast.cli.plain import clean, json_lines, json_text
from tests.cli.given import EVIL, RAW, dead, progress, running, worker


@pytest.fixture
def evil(app) -> str:
    """The id of a dead letter that holds the worst; beside it a run and a worker that do, too."""
    run = running(app, "[bold]tick[/bold]")
    progress(app, run, done=1, total=2, message=EVIL)
    worker(app, "[red]host[/red]:1", (("[blue]", "[x]", 1),))
    app.enqueue("[link=http://x]", {"text": EVIL, EVIL: [EVIL]})
    return dead(app, "[/red]", message=EVIL, group="[red]")


@pytest.mark.parametrize(
    "arguments",
    [
        ["jobs"], ["jobs", "--json"], ["job", "show", "ID"], ["job", "show", "ID", "--json"], ["job", "explain", "ID"],
        ["job", "history", "ID"], ["queues", "list"], ["workers"], ["stats"], ["dlq", "list"], ["top", "--once"],
        ["doctor"], ["dlq", "list", "--type", EVIL], ["queues", "pause", EVIL], ["job", "show", EVIL],
        ["enqueue", EVIL], ["jobs", "--status", EVIL], [EVIL], ["--url", EVIL, "jobs"],
    ],
)  # fmt: skip
def test_nothing_in_the_output_is_obeyed(cli, evil, arguments):
    answer = cli(*(evil if argument == "ID" else argument for argument in arguments))
    shown = answer.out + answer.err
    assert [raw for raw in RAW if raw in shown] == []
    assert "\x1b" not in shown
    assert answer.code in (0, 1, 2)


def test_markup_in_a_name_is_shown_as_it_is(cli, evil):
    assert "[bold]tick[/bold]" in cli("jobs").out
    assert "[link=http://x]" in cli("jobs").out
    assert "[red]host[/red]:1" in cli("top", "--once").out
    assert ":smile:" in cli("dlq", "list").out


def test_a_newline_in_an_error_does_not_make_a_row(cli, evil):
    assert len(cli("dlq", "list").out.splitlines()) == 2


def test_a_newline_in_an_error_does_not_make_a_field(cli, app):
    job_id = dead(app, message="broken\nstatus    completed")
    lines = cli("job", "show", job_id).out.splitlines()
    assert [line.split() for line in lines if line.startswith("status")] == [["status", "dead_letter"]]


def test_json_output_holds_the_same_text_it_shows_safely(cli, evil):
    (job,) = cli("dlq", "list", "--json").json
    assert job["error"]["message"] == EVIL


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red]", "plain [red]"),
        ("naïve 日本　語", "naïve 日本　語"),
        ("a\tb\r\nc", "a\\tb\\r\\nc"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        (7, "7"),
    ],
)
def test_text_is_one_visible_line(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize("value", [EVIL, {EVIL: [EVIL]}, "\U000e0041", [], {"a": 1}])
def test_json_for_people_is_the_same_value_without_control_characters(value):
    for text in (json_text(value), json_text(value, indent=2), json_lines([value, value])):
        assert "\x1b" not in text
        assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert json.loads(json_text(value, indent=2)) == value
    assert json.loads(json_lines([value, value])) == [value, value]
