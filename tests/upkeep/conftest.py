"""Every test gets a desk on a database file of its own, on a clock that it moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.engine.desk import Desk
from holdfast.store.sqlite.store import SqliteStore
from holdfast.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desks(tmp_path: Path, clock: Clock) -> Iterator[Callable[[], Desk]]:
    opened: list[Desk] = []

    def another() -> Desk:
        opened.append(Desk(SqliteStore(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal", clock=clock)))
        return opened[-1]

    yield another
    for desk in opened:
        desk.close()


@pytest.fixture
def desk(desks: Callable[[], Desk]) -> Desk:
    return desks()


@pytest.fixture
def other(desks: Callable[[], Desk]) -> Desk:
    """A second desk on the same file, as another process has it."""
    return desks()
