"""A file and a database of its own for each test, and both as the ends of a move."""

from __future__ import annotations

import pytest

from holdfast.store.sqlite.store import SqliteStore
from holdfast.wiring import open_side
from tests.servers.postgres import server

DRIVERS = {"apsw": "synchronous=normal", "sqlite3": "driver=sqlite3&allow_unsafe_sqlite=1&synchronous=normal"}


@pytest.fixture(params=DRIVERS)
def file(request, tmp_path) -> str:
    """The address of a SQLite store, by either driver."""
    return f"sqlite:///{tmp_path}/jobs.db?{DRIVERS[request.param]}"


@pytest.fixture
def store(file):
    store = SqliteStore(file)
    store.migrate()
    yield store
    store.close()


@pytest.fixture
def database():
    """The address of an empty database that has the tables."""
    url = server().migrated()
    yield url
    server().drop(url)


@pytest.fixture
def side(request):
    """Opens a store as an end of a move."""

    def open_end(url):
        end = open_side(url)
        request.addfinalizer(end.close)
        return end

    return open_end


@pytest.fixture
def ends(side, file, database):
    return side(file), side(database)
