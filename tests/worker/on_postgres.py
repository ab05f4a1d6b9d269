"""A workshop on PostgreSQL, where processes wake each other over a network."""

from __future__ import annotations

from pathlib import Path

import psycopg

from tests.servers.postgres import Server, server
from tests.worker.workshop import Workshop


class PostgresWorkshop(Workshop):
    """One database on the tests' server, or on one of the test's own."""

    def __init__(self, folder: Path, *, on: Server | None = None, lease: float = 1.0) -> None:
        super().__init__(folder, lease=lease)
        self._server = on or server()
        self.url = self._server.migrated()

    def __exit__(self, kind: object, *rest: object) -> None:
        try:
            super().__exit__(kind, *rest)
        finally:
            self._server.drop(self.url)

    def count(self, condition: str) -> int:
        with psycopg.connect(self.url) as connection:
            found = connection.execute(f"select count(*) from job_queue where {condition}").fetchone()  # type: ignore[arg-type]
        assert found is not None
        return int(found[0])
