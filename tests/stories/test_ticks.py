"""Several processes tick at once and are killed at any moment: one job for each tick, none lost, none twice.

Full size: HOLDFAST_TICK_KILLS=500 pytest -s tests/stories/test_ticks.py
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import App
from holdfast.engine import jobs, schedules
from holdfast.model.schedule import origin_of
from tests.patience import wait_for
from tests.servers.postgres import server
from tests.stories.crew import Crew, size, tell
from tests.stories.tick_worker import PLANS, open_app

pytestmark = pytest.mark.slow

CREW = 4
SPEED = 15.0


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
        return
    made = server().migrated()
    try:
        yield made
    finally:
        server().drop(made)


def ticks_of(app: App) -> dict[str, Counter[int]]:
    """Schedule -> how many jobs each of its ticks has."""
    found: dict[str, Counter[int]] = {}
    before = None
    while True:
        page, before = app.desk.read(jobs.list_jobs, limit=1000, before=before)
        for job in page:
            origin = origin_of(job.idempotency_key)
            found.setdefault(origin.name, Counter())[origin.tick] += 1
        if before is None:
            return found


def check(app: App, every_ms: dict[str, int]) -> int:
    """Every tick from the first to the last has one job; answers how many there are.

    What the policy passed over, on a machine that stood still for longer than a hundred ticks, must be counted.
    """
    found = ticks_of(app)
    assert set(found) == set(every_ms)
    for name, ticks in found.items():
        assert set(ticks.values()) == {1}, f"{name} made a job twice"
        row = app.schedules.get(name)
        all_of_them = range(min(ticks), max(ticks) + 1, every_ms[name])
        assert set(ticks) <= set(all_of_them)
        assert len(all_of_them) - len(ticks) == row.missed, f"{name} lost a tick"
        assert (row.fired, row.last_tick) == (len(ticks), max(ticks))
    return sum(map(len, found.values()))


def test_processes_that_tick_at_once_and_are_killed_make_each_job_once(url, tmp_path):
    kills, began, chance = size("HOLDFAST_TICK_KILLS", 15), time.time(), random.Random(7)
    with Crew(tmp_path) as crew, open_app(url, began, SPEED) as app:
        app.jobs()
        living = []

        def start():
            living.append(crew.start("tests.stories.tick_worker", url, began, SPEED))

        for _ in range(CREW):
            start()
        for _ in range(kills):
            one = living.pop(0)
            assert one.stdout.readline() == "ticking\n", crew.errors()
            time.sleep(chance.uniform(0, 0.2))
            one.send_signal(signal.SIGKILL)
            one.wait()
            start()
        for one in living:
            one.kill()
            one.wait()
        schedules.tick_all(app.desk)
        made = check(app, {name: plan.every_ms for name, plan in PLANS.items()})
    tell("ticks", {"kills": kills, "ticks": made, "lost": 0, "doubled": 0, "store": url.partition(":")[0]})
    assert made > kills


def test_real_workers_tick_in_time_and_go_on_when_one_is_killed(url, tmp_path):
    with Crew(tmp_path) as crew, App(url) as app:
        app.jobs()
        workers = [crew.start("holdfast.cli", "worker", "tests.stories.ticking:app", "--url", url) for _ in range(2)]
        wait_for(lambda: ticked(app, "second", 3), crew)
        os.kill(workers[0].pid, signal.SIGKILL)
        fired = app.schedules.get("second").fired
        wait_for(lambda: ticked(app, "second", fired + 3), crew.errors)
        app.schedules.pause("other")
        app.schedules.add("new", "beat", every=1, catch_up="all", overlap="allow")
        wait_for(lambda: ticked(app, "new", 2), crew.errors)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
            worker.wait(30)
        check(app, {"second": 1_000, "other": 2_000, "new": 1_000})
        late = [(job.created_at - job.scheduled_at).total_seconds() for job in app.jobs(limit=1000)]
        tell("lateness of ticks, s", {"worst": max(late), "mean": round(sum(late) / len(late), 3)})
        assert sorted(late)[len(late) // 2] < 1


def ticked(app: App, name: str, times: int) -> bool:
    return any(row.name == name and row.fired >= times for row in app.schedules())
