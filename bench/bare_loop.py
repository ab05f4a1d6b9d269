"""The least that does the same work on SQLite, without a library: what ours is held against.

A bulk insert, and a worker of one table: pydantic payload, coroutine
handler, fenced finish, claim and finish in one transaction of a database thread.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from time import gmtime, perf_counter, strftime
from typing import Any

import apsw
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

from holdfast.cli.measures.rounds import Sample

QUEUE = """
create table job_queue (
    id text primary key, type text not null,
    status text not null default 'queued' check (status in (
        'queued', 'in_progress', 'completed', 'failed', 'dead_letter', 'cancelled', 'awaiting_auth')),
    priority int not null default 5 check (priority between 1 and 10), scheduled_at text not null,
    lease_owner text, lease_until text, payload text not null, idempotency_key text unique,
    attempts int not null default 0, max_retries int not null default 3, error text, created_at text not null,
    updated_at text not null, started_at text, completed_at text, result text, queue text not null default 'default',
    tenant text not null default '', grp text, lease_token int not null default 0, version int not null default 0
) without rowid;
create index due on job_queue (queue, priority, scheduled_at, id) where status = 'queued';
create index lease on job_queue (lease_until) where status = 'in_progress'
"""
BULK = "insert into job_queue (id, type, scheduled_at, payload, created_at, updated_at) values (?, ?, ?, ?, ?, ?)"
CLAIM = """
update job_queue set status = 'in_progress', lease_owner = ?1, lease_until = ?2, started_at = ?3, updated_at = ?3,
    attempts = attempts + 1, lease_token = lease_token + 1, version = version + 1
where id in (
    select id from job_queue indexed by due
    where status = 'queued' and queue = 'default' and priority = 5 and scheduled_at <= ?3
    order by priority, scheduled_at, id limit ?4
)
returning id, type, payload, attempts, max_retries, lease_token
"""
FINISH = """
update job_queue set status = 'completed', result = ?3, completed_at = ?4, updated_at = ?4,
    lease_owner = null, lease_until = null, version = version + 1
where id = ?1 and lease_token = ?2 and status = 'in_progress'
"""


class Payload(BaseModel):
    """What the job takes."""

    path: str
    width: int = 3


async def handle(payload: Payload) -> dict[str, int]:
    """The job."""
    return {"width": payload.width}


def connect(path: Path) -> apsw.Connection:
    """A connection with the settings that ours has."""
    connection = apsw.Connection(str(path))
    settings = ("journal_mode=wal", "synchronous=full", "journal_size_limit=67108864", "cache_size=-16000")
    for setting in (*settings, "temp_store=memory", "busy_timeout=5000"):  # one a call: it stops at the first row
        connection.execute(f"pragma {setting}").fetchall()
    return connection


def insert_all(path: Path, count: int, payload: str) -> Sample:
    """Rows by the thousand, in one transaction."""
    connection = connect(path)
    took = _fill(connection, count, payload)
    connection.close()
    return Sample(count / took)


def drain(path: Path, count: int, batch: int, payload: str) -> Sample:
    """Run every job of a filled table to its end."""
    connection = connect(path)
    _fill(connection, count, payload)
    took = asyncio.run(_drain(path, batch))
    done = connection.execute("select count(*) from job_queue where status = 'completed'").fetchone()[0]
    connection.close()
    assert done == count, f"{done} of {count} jobs completed"
    return Sample(count / took)


def _fill(connection: apsw.Connection, count: int, payload: str) -> float:
    connection.execute(QUEUE)
    now = _now()
    begin = perf_counter()
    with connection:
        connection.executemany(BULK, _rows(count, now, payload))
    return perf_counter() - begin


def _rows(count: int, now: str, payload: str) -> Iterator[tuple[str, ...]]:
    return ((f"01J{i:023d}", "thumbnail", now, payload, now, now) for i in range(count))


async def _drain(path: Path, batch: int) -> float:
    loop = asyncio.get_running_loop()
    orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
    thread = threading.Thread(target=_serve, args=(path, orders, loop))
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


def _serve(path: Path, orders: queue.SimpleQueue[Any], loop: asyncio.AbstractEventLoop) -> None:
    """The database thread: endings and a claim in one transaction."""
    connection = connect(path)
    while (order := orders.get()) is not None:
        want, endings, future = order
        connection.execute("begin immediate")
        now = _now()
        if endings:
            connection.executemany(FINISH, [(job_id, token, result, now) for job_id, token, result in endings])
        rows = connection.execute(CLAIM, ("host:1", now, now, want)).fetchall() if want else []
        connection.execute("commit")
        loop.call_soon_threadsafe(future.set_result, rows)
    connection.close()


def _now() -> str:
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime()) + ".000Z"
