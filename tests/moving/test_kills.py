"""kill -9 at any point: at most one of the two stores is alive, and the same command, or its opposite, puts it right."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.engine import moving
from tests.moving.given import everything, is_alive, lived_in, many, quiet

pytestmark = pytest.mark.slow
KILLED = Path(__file__).parent / "killed.py"
ROWS = 2_009
BEFORE = {
    "closed": ("runs to wait for", 0),
    "copying": ("copying job_queue", 1_000),
    "copied": ("copying job_schedules", 2),
    "verifying": ("verifying job_queue", 2_000),
    "before the commit": ("opening", 0),
}
AFTER = {"after the commit": ("opening", 1)}
POINTS = BEFORE | AFTER


@pytest.fixture(params=["apsw"])
def file(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"


def kill_at(point, file, database, direction="move"):
    what, done = POINTS[point]
    program = [sys.executable, str(KILLED), file, database, direction, what, str(done)]
    ended = subprocess.run(program, capture_output=True, check=False, timeout=60, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def again(file, database, side, direction="move"):
    return getattr(moving, direction)(side(file), side(database), wait=5, tell=quiet).outcome


@pytest.fixture
def lived(store, file):
    """All that the store holds; its runs have ended or their leases ran out."""
    lived_in(store)
    many(store, ROWS - 8)
    while not store.read(lambda tx: tx.expired(1)):
        pass
    store.close()
    return everything(file)


@pytest.mark.parametrize("point", POINTS)
def test_the_same_command_goes_on(lived, file, database, side, point):
    kill_at(point, file, database)
    assert not is_alive(file)
    assert everything(database)["jobs"] == ([] if point in BEFORE else lived["jobs"])
    assert again(file, database, side) == ("moved" if point in BEFORE else "already")
    assert everything(database) == lived
    assert not is_alive(file)


@pytest.mark.parametrize("point", POINTS)
def test_undo_takes_it_back(lived, file, database, side, point):
    kill_at(point, file, database)
    assert again(file, database, side, "undo") == ("reopened" if point in BEFORE else "moved")
    assert everything(file) == lived
    if point in AFTER:
        assert not is_alive(database)
    assert again(file, database, side) == "moved"


@pytest.mark.parametrize("point", POINTS)
def test_an_undo_that_was_killed_goes_on(lived, file, database, side, point):
    again(file, database, side)
    kill_at(point, file, database, "undo")
    assert not is_alive(database)
    assert is_alive(file) == (point in AFTER)
    assert again(file, database, side, "undo") == ("moved" if point in BEFORE else "already")
    assert everything(file) == lived


@pytest.mark.parametrize("point", POINTS)
def test_an_undo_that_was_killed_is_itself_undone(lived, file, database, side, point):
    again(file, database, side)
    kill_at(point, file, database, "undo")
    assert again(file, database, side) == ("reopened" if point in BEFORE else "moved")
    assert everything(database) == lived
    assert not is_alive(file)
