"""Upkeep: each task at its time, one leader, retention in small steps, a heartbeat."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.engine import jobs
from holdfast.engine.desk import Desk
from holdfast.engine.figures import statistics
from holdfast.model.errors import StoreError
from holdfast.testing import Clock
from holdfast.upkeep.loop import LEAD_MS, Upkeep
from holdfast.upkeep.retention import BATCHES, Heartbeat, Retention
from tests.upkeep.given import waiting


class Task:
    def __init__(self, name: str, interval: float, *, leader_only: bool = False) -> None:
        self.name, self.interval, self.leader_only = name, interval, leader_only
        self.runs = 0

    def run_once(self) -> dict[str, int]:
        self.runs += 1
        return {"done": 1}


def test_each_task_runs_at_its_own_interval(desk: Desk):
    often, rarely = Task("often", 0.0), Task("rarely", 3600)
    upkeep = Upkeep(desk, "a", [often, rarely])
    assert upkeep.run_due() == {"often": {"done": 1}, "rarely": {"done": 1}}
    upkeep.run_due()
    assert (often.runs, rarely.runs) == (2, 1)
    assert upkeep.next_at <= time.monotonic()


def test_a_task_that_fails_does_not_take_the_others_along(desk: Desk, caplog):
    class Broken(Task):
        def run_once(self) -> dict[str, int]:
            super().run_once()
            raise ValueError("out of order")

    broken, sound = Broken("broken", 0), Task("sound", 0)
    upkeep = Upkeep(desk, "a", [broken, sound])
    assert upkeep.run_due() == {"sound": {"done": 1}}
    upkeep.run_due()
    assert (broken.runs, sound.runs) == (2, 2)
    assert "broken failed" in caplog.text


def test_an_error_of_the_store_is_left_to_the_caller(desk: Desk):
    class Away(Task):
        def run_once(self) -> dict[str, int]:
            raise StoreError("STORE_BUSY", "held by another")

    with pytest.raises(StoreError):
        Upkeep(desk, "a", [Away("away", 0)]).run_due()


def test_without_tasks_there_is_nothing_to_do(desk: Desk):
    upkeep = Upkeep(desk, "a", [])
    assert upkeep.run_due() == {}
    assert upkeep.next_at > time.monotonic()


def test_one_of_two_leads_and_the_other_takes_over_when_it_resigns(desk: Desk, other: Desk):
    first, second = (
        Upkeep(desk, "a", [one := Task("t", 0, leader_only=True)]),
        Upkeep(other, "b", [two := Task("t", 0, leader_only=True)]),
    )
    for upkeep in (first, second, first, second):
        upkeep.run_due()
    assert (one.runs, two.runs) == (2, 0)
    first.goodbye()
    second.run_due()
    assert two.runs == 1


def test_a_leader_that_died_is_followed_after_its_time(desk: Desk, other: Desk, clock: Clock):
    assert Upkeep(desk, "a", []).leads()
    second = Upkeep(other, "b", [])
    assert not second.leads()
    clock.advance(LEAD_MS / 1000 + 1)
    assert second.leads()


def test_two_processes_have_one_leader_between_them(tmp_path: Path):
    program = """
import sys, time
from holdfast.engine.desk import Desk
from holdfast.store.sqlite.store import SqliteStore
from holdfast.upkeep.loop import Upkeep
desk = Desk(SqliteStore(sys.argv[1]))
upkeep = Upkeep(desk, sys.argv[2], [])
print(upkeep.leads(), flush=True)
sys.stdin.readline()
upkeep.goodbye()
print("gone", flush=True)
"""
    url = f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    command = [sys.executable, "-c", program, url]
    started = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for name in "abc"
    ]
    try:
        answers = [process.stdout.readline().strip() for process in started if process.stdout]
        assert sorted(answers) == ["False", "False", "True"]
        leader = started[answers.index("True")]
        leader.communicate("go\n")
        heir = subprocess.run([*command, "d"], input="go\n", capture_output=True, text=True, check=True)
        assert heir.stdout.split() == ["True", "gone"]
    finally:
        for process in started:
            if process.poll() is None:
                process.communicate("go\n")


def test_retention_deletes_what_is_old_and_keeps_the_rest(desk: Desk, clock: Clock):
    old = waiting(desk, 3)
    for job_id in old[:2]:
        desk.write(jobs.cancel, job_id)
    clock.advance(8 * 24 * 3600)
    young = waiting(desk, 1)
    desk.write(jobs.cancel, young[0])
    assert Retention(desk).run_once() == {"deleted": 2}
    left, _ = desk.read(jobs.list_jobs)
    assert {job.id for job in left} == {old[2], young[0]}


def test_retention_walks_a_long_table_in_small_steps(desk: Desk, clock: Clock):
    ids = waiting(desk, 30)
    for job_id in ids:
        desk.write(jobs.cancel, job_id)
    clock.advance(8 * 24 * 3600)
    retention = Retention(desk, window=1)
    steps = []
    original = desk.store.write

    def counting(calls, **how):
        steps.append(len(calls))
        return original(calls, **how)

    desk.store.write = counting  # type: ignore[method-assign]
    assert retention.run_once() == {"deleted": BATCHES}
    assert retention.run_once() == {"deleted": 30 - BATCHES}
    assert retention.run_once() == {"deleted": 0}
    assert len(steps) >= 30


def test_a_worker_is_listed_while_it_beats_and_forgotten_when_it_leaves(desk: Desk):
    line = {"id": "a", "host": "h", "pid": 1, "lanes": "[]", "places": 4, "running": 2}
    assert Heartbeat(desk, lambda: line).run_once() == {}
    assert [worker["id"] for worker in desk.read(lambda tx: tx.workers(0))] == ["a"]
    Upkeep(desk, "a", []).goodbye()
    assert desk.read(lambda tx: tx.workers(0)) == []
    assert desk.read(statistics)["lines"] == []
