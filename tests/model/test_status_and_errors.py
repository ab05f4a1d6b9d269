from __future__ import annotations

import pickle
import re
from datetime import UTC, datetime

import pytest

from holdfast.model import errors
from holdfast.model.errors import CODES, AwaitAuth, HandlerSignal, HoldfastError, Permanent, Retry, Snooze
from holdfast.model.job import PUBLIC_FIELDS, Job, loads
from holdfast.model.news import News
from holdfast.model.status import MEANINGS, MOVES, RETRYABLE_BY_HAND, TERMINAL, WAITING, Status

ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HoldfastError)]


def test_there_are_seven_statuses_and_all_are_explained():
    assert len(Status) == 7
    assert set(MEANINGS) == set(MOVES) == set(Status)
    assert all(MEANINGS.values())


def test_every_status_can_be_reached_and_only_four_end():
    reached = {to for moves in MOVES.values() for _, to in moves} | {Status.QUEUED}
    assert reached == set(Status)
    assert {Status.COMPLETED, Status.FAILED, Status.DEAD_LETTER, Status.CANCELLED} == TERMINAL
    assert {Status.QUEUED, Status.AWAITING_AUTH} == WAITING


def test_an_ended_job_moves_only_by_a_persons_retry():
    assert {status for status in TERMINAL if MOVES[status]} == RETRYABLE_BY_HAND | {Status.CANCELLED}
    assert MOVES[Status.CANCELLED] == (("a parent that took it along is retried", Status.QUEUED),)
    assert all(MOVES[status] == (("retry by a person", Status.QUEUED),) for status in RETRYABLE_BY_HAND)


def test_only_a_claim_leads_to_a_run():
    leading = {(status, verb) for status, moves in MOVES.items() for verb, to in moves if to is Status.IN_PROGRESS}
    assert leading == {(Status.QUEUED, "claim")}


def test_a_move_is_named_once_in_a_status():
    for moves in MOVES.values():
        assert len({verb for verb, _ in moves}) == len(moves)


def test_a_status_is_its_text():
    assert str(Status.DEAD_LETTER) == "dead_letter"
    assert Status("queued") is Status.QUEUED


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_survives_pickling(kind):
    back = pickle.loads(pickle.dumps(kind("KEY_CONFLICT", "use another key")))  # noqa: S301  # our own bytes
    assert (type(back), back.code, str(back)) == (kind, "KEY_CONFLICT", "use another key")


@pytest.mark.parametrize(
    "signal",
    [
        Permanent("never"),
        Retry("later", after=5),
        Retry(),
        Snooze(3.5),
        AwaitAuth("log in", "http://x", "k", expires=9),
    ],
)
def test_a_signal_of_a_handler_survives_pickling(signal):
    back = pickle.loads(pickle.dumps(signal))  # noqa: S301  # our own bytes
    assert isinstance(back, HandlerSignal)
    assert (type(back), str(back), vars(back)) == (type(signal), str(signal), vars(signal))


def test_every_class_of_error_stands_in_the_tree_on_top():
    drawn = set(re.findall(r"^[│├└─ ]*(\w+)(?= |$)", errors.__doc__, re.MULTILINE))
    kinds = {kind.__name__ for kind in ERRORS} | {"HandlerSignal", "Permanent", "Retry", "Snooze", "AwaitAuth"}
    assert kinds <= drawn


def test_every_code_is_explained_in_a_line():
    assert all(re.fullmatch(r"[A-Z_]+", code) and meaning and "\n" not in meaning for code, meaning in CODES.items())


def a_job(**changes):
    moment = datetime(2025, 1, 16, 12, tzinfo=UTC)
    values = dict.fromkeys(Job.__slots__) | {
        "id": "0" * 26, "status": Status.QUEUED, "scheduled_at": moment, "lease_token": 7, "payload": {"a": [1]},
    }  # fmt: skip
    return Job(**values | changes)


def test_the_public_form_of_a_job_is_plain_json_without_the_token():
    public = a_job().as_json()
    assert tuple(public) == PUBLIC_FIELDS
    assert "lease_token" not in public
    assert (public["status"], type(public["status"])) == ("queued", str)
    assert public["scheduled_at"] == "2025-01-16T12:00:00.000Z"
    assert (public["payload"], public["result"]) == ({"a": [1]}, None)


@pytest.mark.parametrize("status", Status)
def test_a_job_knows_whether_it_has_ended(status):
    assert a_job(status=status).ended is (status in TERMINAL)


def test_stored_text_is_read_as_its_value():
    assert loads(None) is None
    assert loads("[1]") == [1]


def test_no_news_are_no_news():
    news = News()
    assert not news
    news.jobs.append("x")
    assert news


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e10])
@pytest.mark.parametrize("signal", [Snooze, lambda s: Retry(after=s), lambda s: AwaitAuth("log in", expires=s)])
def test_a_handler_that_asks_for_an_impossible_time_hears_of_it(signal, seconds):
    with pytest.raises(ValueError, match="seconds"):
        signal(seconds)


def test_a_missing_extra_is_told_with_a_command_to_copy():
    assert errors.install("http").endswith('pip install "/path/to/the/clone[http]"')
