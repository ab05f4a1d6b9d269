"""What is stored is durable, also in a database that is set to tell of commits before they are."""

from __future__ import annotations

import psycopg
import pytest

from holdfast.engine.leases import exchange
from holdfast.model.request import NewJob
from holdfast.store.port import Order
from tests.servers.postgres import server
from tests.store.given import MAIL, write

SAID = "select current_setting('synchronous_commit')"
NOTE = """
create table said (what text);
create function note() returns trigger language plpgsql as
$$ begin insert into said values (tg_op || ' ' || current_setting('synchronous_commit')); return null; end $$;
create trigger note after insert or update on job_queue for each row execute function note();
"""


@pytest.fixture(params=["off", "local", "on"])
def level(request):
    return request.param


@pytest.fixture
def store(level, open_url):
    """A store in a database of its own, which is set to that level, and notes the level of each write."""
    url = server().migrated()
    with psycopg.connect(url, autocommit=True) as connection:
        (name,) = connection.execute("select current_database()").fetchone()
        connection.execute(f'alter database "{name}" set synchronous_commit = {level}')
        connection.execute(NOTE)
    store = open_url(url)
    yield store
    store.close()
    server().drop(url)


def test_every_write_of_ours_waits_for_the_disk(store, level):
    wanted = "on" if level == "off" else level  # what an administrator made stricter, or laxer for standbys, stays
    store.watched = True
    order = Order("here:1:a", (MAIL,), 5, 60_000)
    for _ in range(3):
        store.insert_alone(NewJob("mail", "{}"))
        assert store.write([lambda tx: len(exchange(tx, (), [order]).claims[0])], hastily=True)[0] == [1]
    assert write(store, lambda tx: tx.execute(SAID)) == [(wanted,)]
    tx = store.begin()
    assert tx.execute(SAID) == [(wanted,)]
    store.roll_back()
    with psycopg.connect(store.url) as connection:
        assert set(connection.execute("select what from said").fetchall()) == {
            (f"INSERT {wanted}",),
            (f"UPDATE {wanted}",),
        }
