"""Where measurements are made: each on an empty database of its own, which is gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.measures.rounds import Sample


class Place(Protocol):
    """A disk or a server that can be measured."""

    what: str  # "the disk"
    ground: tuple[str, str, str]  # its own measurement: name, title and side

    def fresh(self) -> Any:
        """A block with a private folder and the address of an empty database."""

    def limit(self, seconds: float) -> Sample:
        """How often something small is made durable, one after the other."""

    def insert_each(self, url: str, seconds: float) -> Sample:
        """Rows one by one, each with a commit of its own."""

    def insert_all(self, url: str, jobs: int) -> Sample:
        """Rows in one transaction."""

    def facts(self) -> dict[str, Any]:
        """What the figures depend on."""


class Files:
    """SQLite files in a folder; `query` is what stands behind the question mark of the store's address."""

    what = "the disk"
    ground = ("disk", "a page made durable", "fdatasync")

    def __init__(self, folder: Path, query: str = "") -> None:
        self._folder = folder
        self._query = query

    @contextmanager
    def fresh(self) -> Iterator[tuple[Path, str]]:
        """A file in a folder of its own."""
        with private(self._folder) as folder:
            yield folder, f"sqlite:///{folder / 'jobs.db'}{'?' if self._query else ''}{self._query}"

    def limit(self, seconds: float) -> Sample:
        """Pages."""
        from holdfast.cli.measures import bare  # noqa: PLC0415

        return bare.disk(self._folder, seconds)

    def insert_each(self, url: str, seconds: float) -> Sample:
        """Rows one by one."""
        from holdfast.cli.measures import bare  # noqa: PLC0415

        return bare.insert_each(url, NO_END, seconds)

    def insert_all(self, url: str, jobs: int) -> Sample:
        """Rows in one transaction."""
        from holdfast.cli.measures import bare  # noqa: PLC0415

        return bare.insert_all(url, jobs)

    def facts(self) -> dict[str, Any]:
        """The library and the disk."""
        import apsw  # noqa: PLC0415

        from holdfast.store.sqlite.location import file_system  # noqa: PLC0415

        return {"sqlite": apsw.sqlite_lib_version(), "file system": file_system(str(self._folder / "any"))}


class Schema:
    """A schema of a PostgreSQL database that is made for each measurement, and thrown away with all that is in it."""

    what = "the server"
    ground = ("commits", "an empty transaction", "one connection")

    def __init__(self, folder: Path, url: str) -> None:
        from holdfast.cli.measures.server import Server  # noqa: PLC0415

        self._folder = folder
        self._server = Server(url)

    @contextmanager
    def fresh(self) -> Iterator[tuple[Path, str]]:
        """A schema, and a folder."""
        with private(self._folder) as folder, self._server.schema() as url:
            yield folder, url

    def limit(self, seconds: float) -> Sample:
        """Transactions that write nothing but their own end."""
        return self._server.commits(seconds)

    def insert_each(self, url: str, seconds: float) -> Sample:
        """Rows one by one."""
        return self._server.insert_each(url, seconds)

    def insert_all(self, url: str, jobs: int) -> Sample:
        """Rows in one transaction."""
        return self._server.insert_all(url, jobs)

    def facts(self) -> dict[str, Any]:
        """The server."""
        return {"postgresql": self._server.version()}


NO_END = 10**9


@contextmanager
def private(folder: Path) -> Iterator[Path]:
    """A folder in a folder, for one measurement."""
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)  # the whole folder goes in the end
