"""Who holds the jobs, and what comes next, after any move that was cut short anywhere."""

from __future__ import annotations

import pytest

from holdfast.model.moving import Mark, Step, are_related, is_remnant, moved, next_step

NEVER = Mark()
CLOSED = Mark(is_open=False, closed_by="m1", peer="p")
FILLED = Mark(filled_by="m1", peer="s")
GOING_BACK = Mark(is_open=False, closed_by="m2", filled_by="m1", peer="s")
BACK = Mark(filled_by="m2", peer="p")
CLOSED_AGAIN = Mark(is_open=False, closed_by="m3", filled_by="m2", peer="p")
FILLED_AGAIN = Mark(filled_by="m3", peer="s")
# What the file remembers, what the database remembers, the next step there, the next step back.
STATES = [
    (NEVER, NEVER, Step.CLOSE, Step.CLOSE),
    (CLOSED, NEVER, Step.COPY, Step.REOPEN),
    (CLOSED, FILLED, Step.DONE, Step.CLOSE),
    (CLOSED, GOING_BACK, Step.REOPEN, Step.COPY),
    (BACK, GOING_BACK, Step.CLOSE, Step.DONE),
    (CLOSED_AGAIN, GOING_BACK, Step.COPY, Step.REOPEN),
    (CLOSED_AGAIN, FILLED_AGAIN, Step.DONE, Step.CLOSE),
]


@pytest.mark.parametrize(("file", "database", "there", "back"), STATES)
def test_each_state_has_one_way_on_and_one_way_back(file, database, there, back):
    assert next_step(file, database) is there
    assert next_step(database, file) is back


@pytest.mark.parametrize(("file", "database", "there", "back"), STATES[1:])
def test_at_most_one_is_open_once_a_move_began(file, database, there, back):
    assert not (file.is_open and database.is_open)


def test_what_the_other_one_has_may_be_overwritten_and_nothing_else():
    assert is_remnant(GOING_BACK, BACK)
    assert is_remnant(GOING_BACK, CLOSED_AGAIN)
    assert is_remnant(CLOSED, GOING_BACK)
    assert not is_remnant(CLOSED, NEVER)
    assert not is_remnant(GOING_BACK, CLOSED)
    assert not is_remnant(NEVER, NEVER)


def test_only_what_came_from_one_to_the_other_can_be_undone():
    assert are_related(CLOSED, FILLED)
    assert are_related(BACK, GOING_BACK)
    assert not are_related(NEVER, NEVER)
    assert not are_related(CLOSED, NEVER)


def test_whoever_opens_a_closed_store_is_told_where_to_go():
    error = moved("sqlite:////var/jobs.db", "postgresql://db/jobs")
    assert error.code == "STORE_MOVED"
    assert "moved to postgresql://db/jobs" in str(error)
    assert "HOLDFAST_URL" in str(error)
