"""An application on PostgreSQL, and the application's own connections to the same database."""

from __future__ import annotations

import psycopg
import pytest

import holdfast
from holdfast.testing import Clock
from tests.joins.kinds import KINDS
from tests.store.given import BACK_ENDS


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def url(tmp_path, clock):
    """The address of this process's emptied database, with a table of the application's own."""
    store = BACK_ENDS["postgres"](tmp_path, clock)
    store.close()
    with psycopg.connect(store.url) as connection:
        connection.execute("drop table if exists orders")
        connection.execute("create table orders (id integer)")
    yield store.url
    with psycopg.connect(store.url) as connection:
        connection.execute("drop table if exists orders")


@pytest.fixture
def app(url, clock):
    with holdfast.App(url, clock=clock) as application:
        yield application


@pytest.fixture
def send(app):
    @app.job
    def send(to: str) -> None:
        pass

    return send


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def connect(request):
    """Opens a connection of the application's own; it is closed after the test."""

    def open_kind(kind, url, **settings):
        opened = kind(url, **settings)
        request.addfinalizer(opened.close)
        return opened

    return open_kind


@pytest.fixture
def own(connect, kind, url):
    return connect(kind, url)


@pytest.fixture
def orders(url):
    """Reads the application's own rows, from outside."""

    def read():
        with psycopg.connect(url) as connection:
            return [number for (number,) in connection.execute("select id from orders order by id")]

    return read
