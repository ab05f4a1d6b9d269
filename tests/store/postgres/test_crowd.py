"""Whether news of a new job has time: a hint that is asked for seldom, and that follows what waits."""

from __future__ import annotations

import pytest

from holdfast.model.request import NewJob
from holdfast.store.postgres import crowd
from holdfast.store.postgres.crowd import Crowd
from tests.store.given import BACK_ENDS, NOON, insert

MAIL = NewJob("mail", "{}")


@pytest.fixture
def clock(monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(crowd, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def busy(monkeypatch):
    """Every job takes long enough to be stored."""
    monkeypatch.setattr(crowd, "BUSY", 0.0)


def counted(answer=True):
    looks = []
    return looks, lambda: looks.append(1) or answer


def test_whose_jobs_are_stored_at_once_asks_nothing_and_tells_at_once(clock):
    seen, (looks, look) = Crowd(), counted()
    for _ in range(100):
        assert not seen.waits(MAIL, crowd.BUSY / 16, look)
        clock[0] += crowd.LOOK / 8  # exactly, in binary
    assert not looks


def test_who_waits_for_the_store_asks_once_in_a_while(clock):
    seen, (looks, look) = Crowd(), counted()
    answers = []
    for _ in range(5 * 64):
        answers.append(seen.waits(MAIL, crowd.LOOK / 64, look))
        clock[0] += crowd.LOOK / 64
    assert answers == [False] * 64 + [True] * 4 * 64
    assert len(looks) == 4


def test_the_hint_ends_with_the_crowd(clock):
    seen = Crowd()
    for answer in (True, False):
        seen.waits(MAIL, crowd.BUSY, lambda: False)
        clock[0] += crowd.LOOK
        assert seen.waits(MAIL, 0.0, lambda answer=answer: answer) is answer


def test_each_lane_has_its_own_and_they_are_bounded(clock):
    seen = Crowd()
    seen.waits(MAIL, crowd.BUSY, lambda: True)
    clock[0] += crowd.LOOK
    assert seen.waits(MAIL, 0.0, lambda: True)
    assert not seen.waits(NewJob("mail", "{}", priority=1), 0.0, lambda: True)
    for number in range(crowd.MOST):
        seen.waits(NewJob("mail", "{}", queue=f"q{number}"), 0.0, lambda: True)
    assert not seen.waits(MAIL, 0.0, lambda: True)


@pytest.mark.parametrize(
    ("waited", "options", "patient"),
    [
        (50, {}, False),
        (300, {}, True),
        (300, {"priority": 1}, False),
        (300, {"queue": "other"}, False),
        (900, {}, False),  # of old ones those that come now tell nothing
    ],
)
@pytest.mark.usefixtures("busy")
def test_a_job_behind_others_has_time(tmp_path, clock, waited, options, patient):
    now = [NOON]
    store = BACK_ENDS["postgres"](tmp_path, lambda: now[0])
    insert(store, MAIL)
    now[0] += waited
    job = NewJob("mail", "{}", **options)
    assert not store.insert_alone(job)[1].patient
    clock[0] += crowd.LOOK
    assert store.insert_alone(job)[1].patient is patient
    store.close()


@pytest.mark.usefixtures("busy")
def test_a_look_that_fails_is_none(pg, clock):
    pg.insert_alone(MAIL)
    pg.queries["crowd"] = "select 1 / 0"
    clock[0] += crowd.LOOK
    assert not pg.insert_alone(MAIL)[1].patient
    assert pg.insert_alone(MAIL)[0][1]
