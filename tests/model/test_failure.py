from __future__ import annotations

import json
import re
import time
import urllib.error

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import PayloadError, Permanent, StoreError
from holdfast.model.failure import (
    FIRST_LINES,
    LAST_LINES,
    LONGEST_CAUSE,
    LONGEST_MESSAGE,
    MOST_CAUSES,
    Failure,
    failure_of,
    scrub,
    timed_out,
)
from holdfast.model.job import raised_at, raised_from
from holdfast.model.payload import encode

PLANTED = "hunter2Hunter2hunter2"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"


def kept(error, **more):
    return json.loads(failure_of(error, **more).as_text())


def test_class_message_and_code_are_kept():
    assert kept(ValueError("wrong")) == {"class": "ValueError", "message": "wrong", "code": "HANDLER_ERROR"}


def test_the_class_of_a_library_is_named_with_its_module():
    assert kept(json.JSONDecodeError("x", "", 0))["class"] == "json.decoder.JSONDecodeError"


def test_an_error_of_ours_is_named_as_users_know_it():
    assert kept(Permanent("no"))["class"] == "holdfast.Permanent"
    assert kept(StoreError("STORE_FULL", "full"))["class"] == "holdfast.StoreError"
    theirs = type("Permanent", (Permanent,), {"__module__": "holdfast_pipelines.capture"})
    assert kept(theirs("no"))["class"] == "holdfast_pipelines.capture.Permanent"


def test_an_error_of_ours_keeps_its_code():
    assert kept(StoreError("STORE_FULL", "full"))["code"] == "STORE_FULL"


def test_an_error_without_a_code_takes_the_one_that_is_given():
    assert kept(ValueError("late"), code="TIMEOUT")["code"] == "TIMEOUT"


class Remote(Exception):
    def code(self):
        return 14


class Touchy(Exception):
    @property
    def code(self):
        raise RuntimeError("not now")


@pytest.mark.parametrize(
    "error",
    [Remote("gone"), Touchy("x"), SystemExit(3), urllib.error.HTTPError("http://x", 404, "m", None, None)],
    ids=["a method", "a property that raises", "a number", "a number of a protocol"],
)
def test_a_code_that_is_not_ours_never_keeps_a_job_from_ending(error):
    assert isinstance(kept(error)["code"], str)


class Broken(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Odd(Exception):
    def __str__(self):
        return 5  # noqa: PLE0307  # that is the point


@pytest.mark.parametrize("error", [Broken(), Odd()])
def test_an_error_that_cannot_say_what_it_is_still_ends_its_job(error):
    assert kept(error)["message"] == "(the error has no readable message)"


@pytest.mark.parametrize(
    "text",
    [
        f"cannot reach postgres://app:{PLANTED}@db:5432/x",
        f"redis://:{PLANTED}@cache",
        f"amqp://user:{PLANTED}@mq/vhost failed",
        f"Authorization: Bearer {PLANTED}",
        f"authorization: basic {PLANTED}==",
        f"password={PLANTED}",
        f"PASSWORD: {PLANTED}",
        f"'db_password': '{PLANTED}'",
        f'{{"api_key": "{PLANTED}", "x": 1}}',
        f"apikey={PLANTED}&x=1",
        f"x-api-token = {PLANTED}",
        f"client_secret:{PLANTED};",
        f"sk-{PLANTED}",
        f"ghp_{PLANTED}",
        f"xoxb-{PLANTED}",
        f"glpat-{PLANTED}",
    ],
)
def test_a_planted_secret_is_never_kept(text):
    assert PLANTED not in scrub(text)
    assert "[REDACTED]" in scrub(text)
    assert PLANTED not in kept(ValueError(f"before {text} after"))["message"]


@pytest.mark.parametrize("secret", [JWT, "AKIAIOSFODNN7EXAMPLE"])
def test_a_secret_is_known_by_its_form(secret):
    assert secret not in scrub(f"signed with {secret}, refused")


@pytest.mark.parametrize("length", [400, 700, 1_900])
@pytest.mark.parametrize("before", ["access_token=", "Bearer ", "password: "])
def test_a_long_secret_is_redacted_to_its_end(before, length):
    secret = (PLANTED * 100)[:length]
    assert PLANTED not in scrub(f"refused: {before}{secret} by the server")


def test_a_secret_that_a_cut_would_split_is_still_redacted():
    text = "x" * (LONGEST_MESSAGE - 12) + f" password={PLANTED}"
    assert "hunter2" not in scrub(text)


def test_what_stands_around_a_secret_stays():
    assert scrub(f"user=ann password={PLANTED} host=db") == "user=ann password=[REDACTED] host=db"


def test_plain_text_is_kept_as_it_is():
    text = "Zeile 1\nZeile 2: größer als 5 € (token expired)"
    assert scrub(text) == text


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\r", "\x7f", "\u202e", "\ud800"])
def test_control_and_half_characters_are_replaced(letter):
    text = scrub(f"a{letter}b")
    assert letter not in text
    assert text[0] + text[-1] == "ab"
    text.encode()


@given(st.text())
def test_any_message_can_be_stored(text):
    message = json.loads(Failure("E", text).as_text())["message"]
    message.encode()
    assert len(message) <= LONGEST_MESSAGE


def test_a_long_message_is_cut_and_says_so():
    text = scrub("word " * 10_000)
    assert len(text) == LONGEST_MESSAGE
    assert text.endswith("…")
    assert scrub("x" * LONGEST_MESSAGE) == "x" * LONGEST_MESSAGE


@pytest.mark.parametrize("text", ["a" * 10**6, "password" * 10**5, "://:" * 10**5, "eyJ" + "a." * 10**5, "sk-" * 10**5])
def test_no_message_makes_the_scrubbing_slow(text):
    started = time.process_time()
    scrub(text)
    assert time.process_time() - started < 1


def deep(levels):
    if levels:
        deep(levels - 1)
    raise ValueError("deep")


def handler(levels):
    deep(levels)


def caught_from(act, *args):
    with pytest.raises(BaseException) as caught:
        act(*args)
    return caught.value


def test_of_a_long_way_the_first_lines_and_the_innermost_are_kept():
    _, *where = failure_of(caught_from(handler, 50)).where  # the first is this test's own
    told, between = [line.rpartition(" in ")[2] for line in where], 53 - FIRST_LINES - LAST_LINES
    assert told == ["handler", "deep", f"… {between} more", *["deep"] * LAST_LINES]
    assert re.fullmatch(rf"{re.escape(__name__)}:\d+ in deep", where[-1])


@pytest.mark.parametrize("levels", [0, 3, FIRST_LINES + LAST_LINES - 4])
def test_of_a_short_way_every_line_is_kept(levels):
    where = failure_of(caught_from(handler, levels)).where
    assert [line.rpartition(" in ")[2] for line in where][1:] == ["handler", *["deep"] * (levels + 1)]


def chained():
    try:
        int("x")
    except ValueError as error:
        raise RuntimeError("no number") from error


def in_passing():
    try:
        chained()
    except RuntimeError:
        raise KeyError("other")  # noqa: B904  # as people write it


def hidden():
    try:
        chained()
    except RuntimeError:
        raise KeyError("other") from None


def test_what_an_error_was_raised_from_is_kept_with_its_line():
    error = kept(caught_from(in_passing))
    assert [cause["class"] for cause in error["causes"]] == ["RuntimeError", "ValueError"]
    assert error["causes"][1]["message"] == "invalid literal for int() with base 10: 'x'"
    assert error["causes"][1]["where"][-1].endswith("in chained")
    assert raised_from(error) == (
        "; from RuntimeError: no number; from ValueError: invalid literal for int() with base 10: 'x'"
    )
    assert "causes" not in kept(caught_from(hidden))


def test_of_a_group_the_first_members_are_kept():
    error = kept(ExceptionGroup("many", [ValueError(number) for number in range(9)]))
    assert [cause["message"] for cause in error["causes"]] == ["0", "1", "2"][:MOST_CAUSES]


def test_a_ring_of_causes_comes_to_an_end():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert [cause["message"] for cause in kept(first)["causes"]] == ["b", "a"]


def test_the_message_of_a_cause_is_scrubbed_and_cut():
    error = ValueError("x")
    error.__cause__ = ValueError(f"password={PLANTED} " + "y" * LONGEST_MESSAGE)
    (cause,) = kept(error)["causes"]
    assert PLANTED not in cause["message"]
    assert len(cause["message"]) == LONGEST_CAUSE


class Deadly(Exception):
    def __str__(self):
        raise SystemExit("even my text kills")


def test_an_error_whose_text_would_end_the_process_is_kept_also_as_a_cause():
    assert kept(Deadly())["message"] == "(the error has no readable message)"
    error = ValueError("x")
    error.__context__ = Deadly()
    assert kept(error)["causes"][0]["message"] == "(the error has no readable message)"


def test_notes_are_part_of_the_message():
    error = ValueError("wrong")
    error.add_note("in row 7")
    assert kept(error)["message"] == "wrong\nin row 7"
    error.__notes__ = 7
    assert kept(error)["message"] == "(the error has no readable message)"


@pytest.mark.parametrize("error", [None, {}, {"causes": 7}, {"causes": [7]}])
def test_an_error_of_another_program_was_raised_from_nothing(error):
    assert raised_from(error) == ""


def test_lines_of_our_own_are_left_out():
    with pytest.raises(PayloadError) as caught:
        encode({"a": object()})
    assert [line.rpartition(" in ")[2] for line in failure_of(caught.value).where] == [
        "test_lines_of_our_own_are_left_out"
    ]


def test_a_log_gets_the_class_and_the_line_and_no_message():
    assert Failure("KeyError", "alice@example.org", where=("a:1 in f", "b:2 in g")).for_logs() == {
        "error": "KeyError", "where": "a:1 in f > b:2 in g",
    }  # fmt: skip
    assert Failure("KeyError", "x", where=("a:1 in f",)).for_logs() == {"error": "KeyError", "where": "a:1 in f"}
    assert Failure("KeyError", "alice@example.org").for_logs() == {"error": "KeyError"}


def test_what_has_no_lines_tells_none():
    assert "where" not in json.loads(failure_of(ValueError("x")).as_text())


@pytest.mark.parametrize(
    ("timeout_ms", "told"), [(30_000, "30 s"), (1_500, "1.5 s"), (50, "0.05 s"), (31 * 86_400_000, "2678400 s")]
)
def test_a_time_out_is_told_in_seconds(timeout_ms, told):
    failure = timed_out(timeout_ms)
    assert (failure.kind, failure.code, failure.where) == ("TimeoutError", "TIMEOUT", ())
    assert failure.message == f"ran longer than its time-out of {told}"


def test_how_a_time_out_ended_the_run_is_told_with_it():
    told = timed_out(1_000, how="its process was killed").message
    assert told == "ran longer than its time-out of 1 s: its process was killed"


class Waiting:
    def __await__(self):
        yield


async def inner():
    await Waiting()


async def outer():
    await inner()


def test_a_time_out_tells_the_lines_at_which_a_coroutine_waits():
    waits = outer()
    waits.send(None)
    told = [line.rpartition(" in ")[2] for line in timed_out(1_000, waits).where]
    waits.close()
    assert told == ["outer", "inner", "Waiting.__await__"]
    assert timed_out(1_000, waits).where == ()  # it has ended


def test_a_time_out_tells_the_lines_that_a_cancellation_came_through():
    assert timed_out(1_000, caught_from(handler, 0)).where[-1].endswith(" in deep")


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (None, []),
        ({}, []),
        ({"where": ["a:1 in f", "b:2 in g"]}, ["b:2 in g", "a:1 in f"]),
        ({"where": "elsewhere"}, []),
        ({"where": [7]}, ["7"]),
    ],
)
def test_where_an_error_was_raised_innermost_first(error, lines):
    assert raised_at(error) == lines
