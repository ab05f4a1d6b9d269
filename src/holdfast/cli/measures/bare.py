"""The yardsticks: what the disk and the database do without a queue on top of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import gmtime, perf_counter, strftime
from typing import TYPE_CHECKING

from holdfast.cli.measures import ruler
from holdfast.cli.measures.rounds import Sample
from holdfast.store.sqlite.connection import Connection
from holdfast.store.sqlite.location import Location
from holdfast.store.sqlite.store import WAL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = Path(__file__).parent
_PAGE = bytes(4096)


def disk(folder: Path, seconds: float) -> Sample:
    """How often a page can be put on the disk for good, one after the other."""
    synchronise = getattr(os, "fdatasync", os.fsync)
    path = folder / "page"
    waits: list[float] = []
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        end = perf_counter() + seconds
        while perf_counter() < end or len(waits) < 2:  # noqa: PLR2004  # percentiles need two
            begin = perf_counter()
            os.write(descriptor, _PAGE)
            synchronise(descriptor)
            waits.append(1000 * (perf_counter() - begin))
    finally:
        os.close(descriptor)
        path.unlink()
    return Sample(1000 * len(waits) / sum(waits), ruler.percentiles(waits))


def insert_each(url: str, jobs: int, seconds: float = 60.0) -> Sample:
    """Rows one by one, each with a commit of its own: so many, or for so long."""
    connection = _opened(url)
    text = _query("bare_insert")
    done, took, begin = 0, 0.0, perf_counter()
    for row in rows(jobs):
        connection.raw.execute(text, row)
        done += 1
        if (took := perf_counter() - begin) >= seconds:
            break
    connection.close()
    return Sample(done / took)


def insert_all(url: str, jobs: int) -> Sample:
    """So many rows in one transaction."""
    connection = _opened(url)
    begin = perf_counter()
    connection.begin()
    connection.executemany(_query("bare_insert"), rows(jobs))
    connection.commit()
    took = perf_counter() - begin
    connection.close()
    return Sample(jobs / took)


def _opened(url: str) -> Connection:
    location = Location(url)
    connection = Connection(location)
    connection.prepare(location.synchronous, WAL_LIMIT)
    connection.script(_query("bare_table"))
    return connection


def rows(jobs: int) -> Iterator[tuple[object, ...]]:
    """So many, as a bare table takes them."""
    now, text = strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime()), json.dumps(ruler.payload())
    fixed = ("thumbnail", "queued", 5, now, None, None, text, None, 0, 3, None, now, now, None, None, None)
    return ((f"01J{number:023d}", *fixed) for number in range(jobs))


def _query(name: str) -> str:
    return (_HERE / f"{name}.sql").read_text(encoding="utf-8")
