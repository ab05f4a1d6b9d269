"""A database of its own for each test that asks for a whole one."""

from __future__ import annotations

import psycopg
import pytest

from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import server
from tests.store.given import BACK_ENDS, NOON


@pytest.fixture
def bare():
    """The address of a database without tables."""
    url = server().database()
    yield url
    server().drop(url)


@pytest.fixture
def open_url(request):
    """Opens a store by its address, on the database's own clock unless another is given."""

    def open_with(url, **settings):
        store = PostgresStore(url, **settings)
        request.addfinalizer(store.close)
        return store

    return open_with


@pytest.fixture
def pg(tmp_path):
    """A store on this process's emptied database, at noon."""
    store = BACK_ENDS["postgres"](tmp_path, lambda: NOON)
    yield store
    store.close()


@pytest.fixture
def url(pg):
    return pg.url


@pytest.fixture
def admin(url):
    """A connection from outside: the person who looks, locks and kills."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def kill(admin):
    """Ends a store's connection on the server's side."""

    def kill_backend(connection):
        admin.execute("select pg_terminate_backend(%s, 5000)", (connection.raw.info.backend_pid,))

    return kill_backend
