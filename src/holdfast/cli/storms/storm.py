"""The storm: workers at work, a killer among them, users who go on using the queue; then calm, then the verdict."""

from __future__ import annotations

import os
import secrets
import signal
from dataclasses import asdict, dataclass, field
from random import Random
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.cli.storms import application, judge
from holdfast.cli.storms.feed import Feed
from holdfast.cli.storms.processes import MARK, Worker, left_after, marked, send

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

CALM_SECONDS = 180.0
STOP_SECONDS = 5.0
_KILLS = {"child": 86, "template": 8, "supervisor": 6}
_STOPS = {"stop a child": 1, "stop a supervisor": 1, "stop a whole worker": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """How a storm rages: until so many kills are done, or the seconds are over."""

    kills: int = 200
    jobs: int = 2_000
    seconds: float = 3_600.0
    stops: float = 0.12  # share of the strikes
    slow: float = 0.01  # share of the jobs
    workers: int = 2
    processes: int = 2
    seed: int = 0


@dataclass(slots=True, kw_only=True)
class Report:
    """What happened, and what was wrong."""

    weather: dict[str, Any]
    seconds: float = 0.0
    strikes: dict[str, int] = field(default_factory=dict)
    happened: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return bool(self.wrong) and not any(self.wrong.values())

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"passed": self.passed, **asdict(self)}


class Storm:
    """One storm in a private folder. `tell` hears of its progress: what is counted, how far, of how many."""

    def __init__(self, folder: Path, weather: Weather, tell: Callable[[str, int, int], None]) -> None:
        self._folder = folder
        self._weather = weather
        self._tell = tell
        self._chance = Random(weather.seed)
        self._database = folder / "jobs.db"
        self._log = folder / "log.txt"
        self._mark = secrets.token_hex(8)
        self._workers: list[Worker] = []
        self._report = Report(weather=asdict(weather), strikes=dict.fromkeys([*_KILLS, *_STOPS], 0))
        self._kills = 0
        self._died = 0

    def run(self) -> Report:
        """Rage, calm down, judge. Nothing of it is left running, whatever happens."""
        app = application.app
        app.use(f"sqlite:///{self._database}")
        feed = Feed(app, self._chance, slow=self._weather.slow)
        begun = monotonic()
        codes: list[int | None] = []
        try:
            app.jobs()  # makes the tables
            self._install_witness()
            for _ in range(self._weather.workers):
                self._start_worker()
            self._rage(feed, begun + self._weather.seconds)
            feed.enqueue(self._weather.jobs - len(feed.enqueued))
            self._calm()
            codes = [worker.end(STOP_SECONDS + 5) for worker in self._workers]
        finally:
            left = self._end_all()
            app.close()
        self._report.seconds = round(monotonic() - begun, 1)
        self._judge(feed, codes, left)
        return self._report

    # -- the storm

    def _rage(self, feed: Feed, until: float) -> None:
        weather = self._weather
        while self._kills < weather.kills and monotonic() < until:
            share = max(self._kills / weather.kills, 1 - (until - monotonic()) / weather.seconds)
            feed.enqueue(int(weather.jobs * min(1.0, share + 0.05)) - len(feed.enqueued))
            feed.meddle()
            self._strike()
            self._tell("kills", self._kills, weather.kills)
            sleep(self._chance.random() * 0.03)
        for worker in self._workers:
            worker.thaw()

    def _strike(self) -> None:
        """One blow at a worker that is up."""
        self._replace_dead()
        up = [worker for worker in self._workers if not worker.frozen and self._is_up(worker)]
        if not up:
            return
        worker = self._chance.choice(up)
        templates, children = worker.family(marked(self._mark))
        if not children:
            return
        kinds = _STOPS if self._chance.random() < self._weather.stops else _KILLS
        if kinds is _STOPS and len(up) == 1:
            return  # somebody must be awake to take over from those who are stopped
        (kind,) = self._chance.choices(list(kinds), list(kinds.values()))
        seconds = application.LEASE * self._chance.uniform(1.2, 2.5)
        child = self._chance.choice(children)
        match kind:
            case "child":
                self._kills += send(child, signal.SIGKILL)
            case "template":
                self._kills += send(templates[0], signal.SIGKILL)
            case "supervisor":
                worker.kill()
                worker.thaw()
                self._workers.remove(worker)
                self._kills += 1
                self._start_worker()
            case "stop a child":
                worker.freeze([child], seconds)
            case "stop a supervisor":
                worker.freeze([worker.pid], seconds)
            case _:
                worker.freeze([worker.pid, *templates, *children], seconds)
        self._report.strikes[kind] += 1

    def _replace_dead(self) -> None:
        """A worker that ended without having been struck is a fault, and must not end the storm."""
        for worker in [one for one in self._workers if one.process.poll() is not None]:
            self._died += 1
            self._workers.remove(worker)
            self._start_worker()

    def _is_up(self, worker: Worker) -> bool:
        return bool(worker.family(marked(self._mark))[1])

    def _start_worker(self) -> None:
        arguments = [
            "holdfast.cli.storms.application:app", "--url", f"sqlite:///{self._database}",
            "--processes", str(self._weather.processes), "--stop-seconds", str(STOP_SECONDS),
        ]  # fmt: skip
        self._workers.append(Worker(arguments, self._environment(), self._folder / "errors.txt"))

    def _environment(self) -> Mapping[str, str]:
        return os.environ | {MARK: self._mark, application.LOG: str(self._log)}

    # -- the calm

    def _calm(self) -> None:
        """Wait until every job has ended; the judge counts those that have not."""
        total = self._weather.jobs
        connection = apsw.Connection(str(self._database))
        connection.set_busy_timeout(10_000)
        text = judge.query("unsettled")
        give_up = monotonic() + CALM_SECONDS
        try:
            while (left := _number(connection, text)) and monotonic() < give_up:
                self._tell("jobs", total - left, total)
                self._replace_dead()
                sleep(0.1)
        finally:
            connection.close()
        self._tell("jobs", total - left, total)
        while not all(self._is_up(worker) for worker in self._workers) and monotonic() < give_up:
            sleep(0.1)  # one that still starts up could not be asked to stop well

    def _end_all(self) -> list[int]:
        """Leave nothing running; answers what should have ended by itself and had not."""
        for worker in self._workers:
            worker.thaw()
            if worker.process.poll() is None:
                worker.kill()
        left = left_after(self._mark, 3.0)
        for pid in left:
            send(pid, signal.SIGKILL)
        return left

    def _judge(self, feed: Feed, codes: list[int | None], left: list[int]) -> None:
        self._tell("verdict", 0, 1)
        seen = judge.gather(self._database, self._log)
        self._report.happened = {"kills": self._kills, **judge.counted(seen)}
        self._report.wrong = judge.wrong(seen, feed) | {
            "processes left behind": len(left),
            "workers that died by themselves": self._died,
            "workers that did not stop well": sum(code != 0 for code in codes),
        }
        self._tell("verdict", 1, 1)

    def _install_witness(self) -> None:
        connection = apsw.Connection(str(self._database))
        try:
            connection.execute(judge.query("witness"))
        finally:
            connection.close()


def _number(connection: apsw.Connection, text: str) -> int:
    ((count,),) = connection.execute(text).fetchall()
    assert isinstance(count, int)
    return count
