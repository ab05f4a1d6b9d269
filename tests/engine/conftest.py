"""Every test gets a desk on a database file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.desk import Desk
from tests.engine.given import Clock, open_desk


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desks(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Desk]]:
    """Opens the test's database, as another process would; closes what the test leaves open."""
    opened: list[Desk] = []

    def open_another(**settings: Any) -> Desk:
        opened.append(open_desk(tmp_path, clock, **settings))
        return opened[-1]

    yield open_another
    for desk in opened:
        desk.close()


@pytest.fixture
def desk(desks: Callable[..., Desk]) -> Desk:
    return desks()


@pytest.fixture
def other(desks: Callable[..., Desk], desk: Desk) -> Desk:
    """A second desk on the same file, as another process has it."""
    return desks()
