"""While processes enqueue and work, their queue moves to PostgreSQL and back: nothing is lost, nothing runs twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from holdfast import App
from holdfast.engine import moving
from tests.moving.given import quiet
from tests.patience import wait_for

pytestmark = pytest.mark.slow
BUSY = Path(__file__).parent / "busy.py"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["apsw"])
def file(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"


def lines(folder, kind):
    return [line.split() for path in folder.glob(f"{kind}-*") for line in path.read_text().splitlines()]


def test_nothing_is_lost_and_nothing_runs_twice(file, store, database, side, tmp_path):
    store.close()
    stop = tmp_path / "stop"
    processes = [
        subprocess.Popen(
            [sys.executable, str(BUSY), file, database, kind, str(tmp_path / f"{kind}-{n}"), str(stop)],
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        )
        for kind, number in (("enqueue", 2), ("work", 2))
        for n in range(number)
    ]

    def enqueued(where):
        return sum(line[0] == where for line in lines(tmp_path, "enqueue"))

    wait_for(lambda: enqueued("sqli") > 100)
    ends = side(file), side(database)
    assert moving.move(*ends, wait=30, tell=quiet).outcome == "moved"
    wait_for(lambda: enqueued("post") > 100)
    at_the_file = enqueued("sqli")
    assert moving.undo(*ends, wait=30, tell=quiet).outcome == "moved"
    wait_for(lambda: enqueued("sqli") > at_the_file + 100)
    assert moving.move(*ends, wait=30, tell=quiet).outcome == "moved"
    stop.touch()
    assert [process.wait(30) for process in processes] == [0] * len(processes)

    with App(database) as app:
        jobs, before = [], None
        while page := app.jobs(limit=500, before=before):
            jobs += page
            before = page[-1].id
    acknowledged = Counter(job_id for _, job_id in lines(tmp_path, "enqueue"))
    assert set(acknowledged.values()) == {1}
    assert {job.id for job in jobs} >= set(acknowledged)
    assert len(jobs) - len(acknowledged) <= 2, "at most one enqueue a process was made and not yet written down"
    claims = Counter(job_id for where, job_id, _ in lines(tmp_path, "work") if where != "late")
    assert set(claims.values()) == {1}, "no job was claimed in both stores"
    assert [line for line in lines(tmp_path, "work") if line[0] == "late"] == []
    assert {job.id for job in jobs if job.status.value == "completed"} == set(claims)
