"""The least that does the same work on PostgreSQL, without a library: what ours is held against.

A row with a commit of its own, a COPY, and a worker of one table: pydantic payload, coroutine handler, fenced finish
and the next claim in one statement of a database thread.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from time import perf_counter
from typing import Any

import psycopg
from psycopg.types.json import set_json_loads
from pydantic import TypeAdapter
from pydantic_core import to_json

from bench.bare_loop import Payload, handle
from bench.postgres.server import settle
from holdfast.cli.measures.rounds import Sample

CANONICAL = """
create table jobs (
    id text collate "C" primary key, type text not null, status text not null, priority smallint not null,
    scheduled_at timestamptz not null, lease_owner text, lease_until timestamptz, payload jsonb not null,
    idempotency_key text, attempts smallint not null, max_retries smallint not null, error text,
    created_at timestamptz not null, updated_at timestamptz not null, started_at timestamptz, completed_at timestamptz,
    result jsonb
);
create index due on jobs (priority, scheduled_at, id) where status = 'queued';
create unique index keys on jobs (idempotency_key) where idempotency_key is not null
"""
INSERT = """
insert into jobs values (
    %s, 'thumbnail', 'queued', 5, now(), null, null, %s, null, 0, 3, null, now(), now(), null, null, null
)
"""
QUEUE = """
create table job_queue (
    id text collate "C" primary key, type text not null,
    status text not null default 'queued' check (status in (
        'queued', 'in_progress', 'completed', 'failed', 'dead_letter', 'cancelled', 'awaiting_auth')),
    priority smallint not null default 5, scheduled_at timestamptz not null default now(), lease_owner text,
    lease_until timestamptz, payload jsonb not null, idempotency_key text unique, attempts smallint not null default 0,
    max_retries smallint not null default 3, error text, created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(), started_at timestamptz, completed_at timestamptz, result jsonb,
    queue text not null default 'default', tenant text not null default '', grp text,
    lease_token int not null default 0, version int not null default 0
) with (fillfactor = 70);
create index due on job_queue (queue, priority, scheduled_at, id) where status = 'queued';
create index lease on job_queue (lease_until) where status = 'in_progress'
"""
COPY = "copy job_queue (id, type, payload) from stdin"
EXCHANGE = """
with finished as (
    update job_queue as j set status = 'completed', result = e.result::jsonb, completed_at = now(), updated_at = now(),
        lease_owner = null, lease_until = null, version = version + 1
    from unnest(%s::text[], %s::int[], %s::text[]) as e (id, token, result)
    where j.id = e.id and j.lease_token = e.token and j.status = 'in_progress'
),
due as (
    select id from job_queue
    where status = 'queued' and queue = 'default' and priority = 5 and scheduled_at <= now()
    order by priority, scheduled_at, id limit %s for update skip locked
)
update job_queue as j set status = 'in_progress', lease_owner = 'host:1', lease_until = now() + interval '60 s',
    started_at = now(), updated_at = now(), attempts = attempts + 1, lease_token = lease_token + 1,
    version = version + 1
from due where j.id = due.id
returning j.id, j.type, j.payload, j.attempts, j.max_retries, j.lease_token
"""
WARM_UP = 50


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection that commits each statement and prepares it at its second use."""
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=1)
    set_json_loads(lambda text: text, connection)  # the payload is checked by pydantic, which reads it itself
    return connection


def insert_each(url: str, count: int, payload: str) -> Sample:
    """Rows one by one, each with a commit of its own."""
    with connect(url) as connection:
        connection.execute(CANONICAL)
        for number in range(WARM_UP):
            connection.execute(INSERT, (f"01H{number:023d}", payload))
        begin = perf_counter()
        for number in range(count):
            connection.execute(INSERT, (f"01J{number:023d}", payload))
        return Sample(count / (perf_counter() - begin))


def copy_all(url: str, count: int, payload: str) -> Sample:
    """Rows in one COPY."""
    with connect(url) as connection:
        return Sample(count / _fill(connection, count, payload))


def drain(url: str, count: int, batch: int, payload: str) -> Sample:
    """Run every job of a filled table to its end."""
    with connect(url) as connection:
        _fill(connection, count, payload)
        settle(url)
        took = asyncio.run(_drain(url, batch))
        (done,) = connection.execute("select count(*) from job_queue where status = 'completed'").fetchone() or (0,)
    assert done == count, f"{done} of {count} jobs completed"
    return Sample(count / took)


def _fill(connection: psycopg.Connection[Any], count: int, payload: str) -> float:
    connection.execute(QUEUE)
    begin = perf_counter()
    with connection.cursor().copy(COPY) as copy:
        for number in range(count):
            copy.write_row((f"01J{number:023d}", "thumbnail", payload))
    return perf_counter() - begin


async def _drain(url: str, batch: int) -> float:
    loop = asyncio.get_running_loop()
    orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
    thread = threading.Thread(target=_serve, args=(url, orders, loop))
    thread.start()
    adapter = TypeAdapter(Payload)

    def exchange(want: int, endings: list[Any]) -> asyncio.Future[Any]:
        future = loop.create_future()
        orders.put((want, endings, future))
        return future

    async def run(row: tuple[Any, ...], endings: list[Any]) -> None:
        result = await handle(adapter.validate_json(row[2]))
        endings.append((row[0], row[5], to_json(result).decode()))

    try:
        await exchange(0, [])  # the thread has its connection
        begin = perf_counter()
        endings: list[Any] = []
        rows = await exchange(batch, [])
        while rows:
            coming = exchange(batch, endings)  # the next batch is fetched while this one runs
            endings = []
            await asyncio.gather(*[asyncio.create_task(run(row, endings)) for row in rows])
            rows = await coming
        await exchange(0, endings)
        return perf_counter() - begin
    finally:  # a thread that waits for orders would keep the process alive
        orders.put(None)
        thread.join()


def _serve(url: str, orders: queue.SimpleQueue[Any], loop: asyncio.AbstractEventLoop) -> None:
    """The database thread: endings and a claim in one statement, which is one transaction."""
    with connect(url) as connection:
        while (order := orders.get()) is not None:
            want, endings, future = order
            columns = [list(column) for column in zip(*endings, strict=True)] or [[], [], []]
            try:
                rows = connection.execute(EXCHANGE, (*columns, want)).fetchall()
            except psycopg.Error as error:
                loop.call_soon_threadsafe(future.set_exception, error)
                return
            loop.call_soon_threadsafe(future.set_result, rows)
