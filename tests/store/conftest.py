"""Every test that asks for `store` runs once on each back end, and once more through a pooler, on a database of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.store.given import EVERY_WAY, WAYS, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=EVERY_WAY)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Callable[[], int]], Any]]:
    """Opens the test's database, as another process would; closes what the test leaves open."""
    opened: list[Any] = []

    def open_with(clock: Callable[[], int]) -> Any:
        opened.append(WAYS[request.param](tmp_path, clock))
        return opened[-1]

    yield open_with
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[Callable[[], int]], Any], clock: Clock) -> Any:
    return open_store(clock)


@pytest.fixture
def other(open_store: Callable[[Callable[[], int]], Any], store: Any, clock: Clock) -> Any:
    """A second store on the same database, as another process has it."""
    return open_store(clock)
