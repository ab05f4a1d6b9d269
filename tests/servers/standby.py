"""A primary and a standby for the tests: no commit is acknowledged before the standby has it."""

from __future__ import annotations

import os
import time
from urllib.parse import urlsplit

import psycopg

from tests.servers.packages import free_port
from tests.servers.postgres import OwnServer

DURABLE = ("synchronous_commit=on", "max_connections=60")


class Standby(OwnServer):
    """A copy of a running server that follows it, until it is promoted."""

    def __init__(self, primary: OwnServer) -> None:
        self._primary = primary
        super().__init__(DURABLE, port=free_port())

    def promote(self) -> None:
        """From now on it takes writes."""
        self._run("pg_ctl", "-D", self.data, "-w", "promote")

    def _fill(self) -> None:
        primary = self._primary
        self._run(
            "pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync",
            "-h", str(primary.folder), "-p", str(primary.port), "-U", "postgres",
        )  # fmt: skip


class Pair:
    """Both, with one database that has the tables; `url` names both hosts."""

    def __init__(self) -> None:
        self.primary = OwnServer(DURABLE, port=free_port())
        self.database = urlsplit(self.primary.migrated()).path
        self.standby = Standby(self.primary)
        with psycopg.connect(self.primary.url, autocommit=True) as admin:
            admin.execute("alter system set synchronous_standby_names = '*'")
            admin.execute("select pg_reload_conf()")
            give_up = time.monotonic() + 20
            while admin.execute("select from pg_stat_replication where sync_state = 'sync'").fetchone() is None:
                assert time.monotonic() < give_up, "the standby does not follow"
                time.sleep(0.02)

    @property
    def url(self) -> str:
        """The address of both, as an application has it."""
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in (self.primary, self.standby))
        return f"postgresql://postgres@{hosts}{self.database}"

    def of(self, server: OwnServer) -> str:
        """The address of one of them alone."""
        return f"postgresql://postgres@127.0.0.1:{server.port}{self.database}"

    def fail_over(self) -> None:
        """The primary is gone for good, the standby takes its place."""
        self.primary.kill()
        self.standby.promote()

    def remove(self) -> None:
        for one in (self.standby, self.primary):
            one.remove(os.getpid())
