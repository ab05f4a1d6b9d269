"""Every test gets an application on a database file of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_app(tmp_path: Path) -> Iterator[Callable[..., holdfast.App]]:
    """Makes applications on the test's file; closes what the test leaves open."""
    made: list[holdfast.App] = []

    def make(query: str = "synchronous=normal", **settings: Any) -> holdfast.App:
        made.append(holdfast.App(f"sqlite:///{tmp_path}/jobs.db?{query}", **settings))
        return made[-1]

    yield make
    for app in made:
        app.close()


@pytest.fixture
def app(make_app: Callable[..., holdfast.App], clock: Clock) -> holdfast.App:
    return make_app(clock=clock)


@pytest.fixture
def thumbnail(app: holdfast.App) -> Any:
    def thumbnail(path: str, width: int = 200) -> dict[str, Any]:
        return {"path": path, "width": width}

    return app.job(thumbnail)


@pytest.fixture
def in_thread() -> Iterator[Callable[..., threading.Thread]]:
    """Starts work on another thread; the test does not end before it."""
    threads: list[threading.Thread] = []

    def start(work: Callable[[], Any]) -> threading.Thread:
        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return threads[-1]

    yield start
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
