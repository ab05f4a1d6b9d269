"""Real workers for the tests: a private folder, a log outside the store, and no process outlives the test."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

import apsw
import psycopg

import holdfast
from holdfast.cli.storms.processes import MARK, Worker, left_after, marked, send
from holdfast.model.job import Job
from tests.patience import PATIENCE, wait_for
from tests.worker import application

ROOT = Path(__file__).resolve().parents[2]
SPEC = "tests.worker.application:app"


class Line(NamedTuple):
    id: str
    token: int
    event: str
    at: float
    pid: int


def size(name: str, share: int) -> int:
    """How large a run is: what the environment asks for, else the share of `make test`."""
    return int(os.environ.get(name, share))


def tell(what: str, figures: object) -> None:
    """One line for whoever runs a test at full size (pytest -s)."""
    sys.stdout.write(f"\n{what}: {figures}\n")


class Workshop:
    """One database, its users and its workers."""

    def __init__(
        self, folder: Path, *, query: str = "synchronous=normal", lease: float = 1.0, url: str | None = None
    ) -> None:
        self.folder = folder
        self.database = folder / "jobs.db"
        self.url = url or f"sqlite:///{self.database}?{query}"
        self.log = folder / "log.txt"
        self.mark = secrets.token_hex(8)
        self.lease = lease
        self.workers: list[Worker] = []
        self.app: holdfast.App = application.app

    def __enter__(self) -> Self:
        self.app.use(self.url)
        self.app.jobs()  # the tables stand before anybody comes
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            tell("what the workers said", self.errors())
        for worker in self.workers:
            worker.thaw()
            if worker.process.poll() is None:
                worker.kill()
        left = left_after(self.mark, 5)
        for pid in left:
            send(pid, signal.SIGKILL)
        self.app.close()
        assert left == [], "processes were left behind"

    # -- workers

    def start(self, *arguments: object, ready: bool = True, spec: str = SPEC, **environment: str) -> Worker:
        """Start a worker; `ready` waits until its children are there."""
        settings = os.environ | {
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            MARK: self.mark,
            application.LOG: str(self.log),
            "HOLDFAST_TEST_LEASE": str(self.lease),
        }
        options = [spec, "--url", self.url, "--stop-seconds", "5", *map(str, arguments)]
        worker = Worker(options, settings | environment, self.folder / "errors.txt")
        self.workers.append(worker)
        if ready:
            wait_for(lambda: self.children(worker) or worker.process.poll() is not None, "children")
            assert worker.process.poll() is None, self.errors()
        return worker

    def template(self, worker: Worker) -> int:
        return wait_for(lambda: worker.family(marked(self.mark))[0], "a template")[0]

    def children(self, worker: Worker) -> list[int]:
        return worker.family(marked(self.mark))[1]

    def errors(self) -> str:
        path = self.folder / "errors.txt"
        return path.read_text()[-30_000:] if path.exists() else ""

    def stop(self, worker: Worker, signals: int) -> float:
        """Ask a worker to stop, so many times; answers the seconds that it took."""
        begun = time.monotonic()
        for _ in range(signals):
            worker.process.terminate()
            time.sleep(0.2)
        assert worker.process.wait(60) == 0, self.errors()
        return time.monotonic() - begun

    # -- jobs

    def enqueue(self, type: str, payload: dict[str, Any] | None = None, **options: Any) -> str:
        return self.app.enqueue(type, payload, **options).id

    def enqueue_many(self, type: str, count: int, payload: dict[str, Any] | None = None, **options: Any) -> list[str]:
        with self.app.transaction():
            return [self.enqueue(type, payload, **options) for _ in range(count)]

    def job(self, job_id: str) -> Job:
        return self.app.get(job_id)

    def ended(self, *job_ids: str, seconds: float = PATIENCE) -> list[Job]:
        """Wait until these jobs have ended."""
        wait_for(lambda: all(self.job(one).ended for one in job_ids), "the end of the jobs", seconds=seconds)
        return [self.job(one) for one in job_ids]

    def count(self, condition: str) -> int:
        query = f"select count(*) from job_queue where {condition}"
        if not self.database.exists():
            with psycopg.connect(self.url) as server:
                return int(server.execute(query).fetchall()[0][0])
        connection = apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(10_000)
        try:
            return int(connection.execute(query).fetchall()[0][0])
        finally:
            connection.close()

    def settled(self, *, seconds: float = PATIENCE) -> None:
        open_jobs = "status in ('queued', 'in_progress')"
        wait_for(lambda: not self.count(open_jobs), "the end of all jobs", seconds=seconds, every=0.05)

    def settled_of(self, type: str, *, seconds: float = PATIENCE) -> None:
        waiting = f"type = '{type}' and status in ('queued', 'in_progress')"
        wait_for(lambda: not self.count(waiting), f"the end of all {type} jobs", seconds=seconds, every=0.05)

    # -- the log

    def lines(self, *events: str, id: str | None = None) -> list[Line]:
        if not self.log.exists():
            return []
        parts = [line.split(" ") for line in self.log.read_text().splitlines()]
        found = [
            Line(one[0], int(one[1]), " ".join(one[2:-2]), float(one[-2]), int(one[-1])) for one in parts
        ]  # fmt: skip
        return [line for line in found if (not events or line.event in events) and id in (None, line.id)]

    def begun(self, job_id: str, times: int = 1, *, seconds: float = PATIENCE) -> Line:
        """Wait until the handler of a job was entered so many times; the line of the last one."""
        return wait_for(
            lambda: len(found := self.lines("began", id=job_id)) >= times and found, f"run {times}", seconds=seconds
        )[-1]  # fmt: skip
