"""Kills workers at random, stops some past their lease, lets the rest recover, then judges.

Run as `python -m tests.stories.kill_storm FOLDER WEATHER`; prints what happened and what was wrong.
Workers are forked from this process, which has the imports done and no connection open.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import apsw

from holdfast import App
from tests.stories.kill_judge import ENDED, WITNESS, judge
from tests.stories.kill_worker import LEASE_MS, Weather, Worker

WORKERS = 6
SECONDS_TO_END = 120


class Storm:
    """The workers that live, and when those that are stopped go on."""

    def __init__(self, folder: Path, weather: Weather) -> None:
        self.path = folder / "jobs.db"
        self.log = folder / "log.txt"
        self.weather = weather
        self.chance = random.Random(7)
        self.workers: list[int] = []
        self.stopped: dict[int, float] = {}
        self.stops = 0

    def rage(self) -> None:
        kills = self.weather.kills
        while len(self.workers) < WORKERS:
            self.fork()
        while kills:
            time.sleep(self.chance.random() * 0.016)
            self.wake(time.monotonic())
            one = self.chance.choice(self.workers)
            if one in self.stopped:
                continue
            if self.chance.random() < self.weather.stop_share and len(self.stopped) < WORKERS - 2:
                os.kill(one, signal.SIGSTOP)
                self.stopped[one] = time.monotonic() + LEASE_MS / 1000 * self.chance.uniform(1.2, 2.5)
                self.stops += 1
                continue
            self.kill(one)
            self.fork()
            kills -= 1
        self.wake(float("inf"))

    def fork(self) -> None:
        seed = self.chance.random()
        pid = os.fork()
        if pid == 0:
            try:
                Worker(f"sqlite:///{self.path}", str(self.log), self.weather, seed).work()
            finally:
                os._exit(1)  # only an error leads here
        self.workers.append(pid)

    def wake(self, now: float) -> None:
        for pid in [pid for pid, until in self.stopped.items() if until <= now]:
            os.kill(pid, signal.SIGCONT)
            del self.stopped[pid]

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        self.workers.remove(pid)
        assert os.WIFSIGNALED(status), f"a worker ended by an error of its own: {status}"

    def calm(self) -> None:
        """Wait until every job has ended; the judge counts those that have not."""
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(10_000)
        give_up = time.monotonic() + SECONDS_TO_END
        open_jobs = f"select count(*) from job_queue where status not in {ENDED}"
        while connection.execute(open_jobs).fetchone()[0] and time.monotonic() < give_up:
            time.sleep(0.1)
        connection.close()


def main(folder: Path, weather: Weather) -> None:
    storm = Storm(folder, weather)
    with App(f"sqlite:///{storm.path}") as app:
        app.jobs()
    install_witness(storm.path)
    begun = time.monotonic()
    try:
        storm.rage()
        raged = time.monotonic() - begun
        storm.calm()
    finally:
        for pid in list(storm.workers):
            storm.kill(pid)
    happened, wrong = judge(storm.path, storm.log)
    seconds = {"kills": weather.kills, "stops": storm.stops, "seconds": round(raged, 1)}
    sys.stdout.write(json.dumps({"happened": seconds | happened, "wrong": wrong}))


def install_witness(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(WITNESS)
    connection.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Weather(*json.loads(sys.argv[2])))
