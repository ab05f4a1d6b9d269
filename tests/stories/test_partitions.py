"""Hosts with wrong clocks share one PostgreSQL and are cut off from it in turn, for longer than a lease.

Nothing is lost, no late finish is accepted, every job completes once, and nobody who can reach the server loses a lease.

Full size: HOLDFAST_PARTITIONS=500 pytest -s tests/stories/test_partitions.py; HOLDFAST_WIRES=proxies cuts without
network namespaces, as for a user who may have none.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import psycopg
import pytest

from holdfast import App
from holdfast.cli.storms.processes import MARK, left_after, send
from tests.servers.postgres import FAST, OwnServer
from tests.stories import errands
from tests.stories.crew import ROOT, SOURCE, size, tell
from tests.stories.partition_judge import WITNESS, Cut, Line, judge, read_log
from tests.stories.preloaded import compiled
from tests.stories.wires import Wire, namespaces_allowed

LEASE = 4.0
CUT_FOR = 5.5
DEADLINE = 1  # with its grace less than a lease: a host that was cut off renews in time when it is back
SKEWS = {"ahead": 600, "behind": -600, "right": 0}  # seconds
WAITING = 4  # jobs at any time; there are places for many more, so a run that was lost begins again at once
BACK_AFTER = 30.0  # seconds; on a busy machine the others may take every job for a while

pytestmark = pytest.mark.slow


class Host:
    """A worker with a wire, a clock and a meeting place of its own."""

    def __init__(self, name: str, wire: Wire, folder: Path) -> None:
        self.name = name
        self.wire = wire
        self.folder = folder / name
        self.folder.mkdir(0o700)
        self.process: subprocess.Popen[bytes]

    def start(self, database: str, environment: dict[str, str]) -> None:
        host, port = self.wire.address
        url = f"postgresql://postgres@{host}:{port}/{database}?deadline={DEADLINE}"
        options = ["--url", url, "--coroutines", "40", "--prefetch", "0", "--stop-seconds", "5"]
        own = {"XDG_RUNTIME_DIR": str(self.folder), errands.HOST: self.name, "HOLDFAST_SKEW": str(SKEWS[self.name])}
        with (self.folder / "errors.txt").open("w") as errors:
            self.process = subprocess.Popen(
                [*self.wire.prefix, sys.executable, "-m", "holdfast.cli", "worker", "tests.stories.errands:app", *options],
                cwd=self.folder, env=environment | own, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                start_new_session=True,
            )  # fmt: skip

    def errors(self) -> str:
        return f"{self.name}: {(self.folder / 'errors.txt').read_text()[-1500:]}"


class Story:
    """One server, its hosts, and a caller who never runs out of errands."""

    def __init__(self, folder: Path, *, namespaces: bool, source: Path = SOURCE) -> None:
        self.server = OwnServer((*FAST, "autovacuum=on"))
        self.url = self.server.migrated()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(WITNESS)
        self.log = folder / "log.txt"
        socket = self.server.folder / ".s.PGSQL.5432"
        self.hosts = [
            Host(name, Wire(number, socket, namespace=namespaces), folder) for number, name in enumerate(SKEWS)
        ]
        self.stored: list[str] = []
        self.cuts: list[Cut] = []
        self._app = App(self.url)
        self._over = threading.Event()
        self._feeding = threading.Thread(target=self._feed)
        self._mark = secrets.token_hex(8)
        self._open = ExitStack()
        self._environment = os.environ | {
            "PYTHONPATH": f"{source}{os.pathsep}{ROOT}",
            "LD_PRELOAD": str(compiled("skew.c", folder)),
            MARK: self._mark,
            errands.LOG: str(self.log),
            errands.LEASE: str(LEASE),
        }

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            opening.callback(self.server.remove, os.getpid())
            for host in self.hosts:
                opening.enter_context(host.wire)
            opening.callback(self._end_all)
            for host in self.hosts:
                host.start(urlsplit(self.url).path.lstrip("/"), self._environment)
            self._feeding.start()
            self._open = opening.pop_all()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            tell("what the hosts said", {host.name: host.errors() for host in self.hosts})
        self._open.close()

    def cut(self, host: Host, kind: str) -> None:
        """Cut a host off while it runs something, for longer than a lease; returns when it works again."""
        self.wait(lambda: len(self.open_runs(host)) > 1, f"{host.name} to be at work")
        at = time.monotonic()
        host.wire.cut(kind)
        time.sleep(CUT_FOR)
        host.wire.heal(kind)
        healed = time.monotonic()
        back = self.wait(
            lambda: [one.at for one in self.lines("began") if one.host == host.name and one.at > healed],
            f"{host.name} to work again after: {kind}",
            seconds=BACK_AFTER,
        )
        self.cuts.append(Cut(host.name, kind, at, healed, back[0]))

    def settle(self) -> None:
        """No more errands; all that there are come to their end."""
        self._over.set()
        self._feeding.join()
        unsettled = "select count(*) from job_queue where status in ('queued', 'in_progress')"
        with psycopg.connect(self.url, autocommit=True) as connection:
            self.wait(lambda: connection.execute(unsettled).fetchone() == (0,), "the end of all jobs", seconds=60)

    def open_runs(self, host: Host) -> frozenset[tuple[str, int]]:
        lines = [line for line in self.lines() if line.host == host.name]
        over = {(line.id, line.token) for line in lines if line.word != "began"}
        return frozenset((line.id, line.token) for line in lines if line.word == "began") - over

    def lines(self, *words: str) -> list[Line]:
        return [line for line in read_log(self.log) if not words or line.word in words]

    def wait(self, fact: Callable[[], Any], what: str, *, seconds: float = 30) -> Any:
        give_up = time.monotonic() + seconds
        while not (answer := fact()):
            dead = [host.name for host in self.hosts if host.process.poll() is not None]
            assert not dead, f"{dead} ended while waiting for {what}"
            assert time.monotonic() < give_up, f"not within {seconds} s: {what}"
            time.sleep(0.05)
        return answer

    def _feed(self) -> None:
        chance = random.Random(7)
        while not self._over.wait(0.1):
            waiting = self._app.statistics()["lines"]
            wanted = WAITING - sum(line["waiting"] for line in waiting)
            # Some take longer than a lease: their hosts have to renew.
            times = [chance.choice((0.1, 0.3, 0.5, LEASE * 1.5)) for _ in range(max(0, wanted))]
            made = self._app.enqueue_many([errands.errand.call(seconds=one) for one in times])
            self.stored += [handle.id for handle in made]

    def _end_all(self) -> None:
        self._over.set()
        if self._feeding.is_alive():
            self._feeding.join()
        for host in self.hosts:
            if (process := getattr(host, "process", None)) is not None and process.poll() is None:
                process.kill()
                process.wait()
        left = left_after(self._mark, 5)
        for pid in left:
            send(pid, signal.SIGKILL)
        self._app.close()
        assert left == [], "processes were left behind"


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    """With networks of their own for the hosts, where this user may have them."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # the caller is a host of its own, too
    namespaces = os.environ.get("HOLDFAST_WIRES") != "proxies" and namespaces_allowed()
    with Story(tmp_path, namespaces=namespaces) as made:
        yield made


def test_hosts_with_wrong_clocks_that_are_cut_off_lose_nothing_and_double_nothing(story: Story) -> None:
    story.wait(lambda: {line.host for line in story.lines("returned")} == set(SKEWS), "all hosts to work", seconds=60)
    for number in range(size("HOLDFAST_PARTITIONS", 4)):
        host = story.hosts[number % len(story.hosts)]
        story.cut(host, host.wire.kinds[number % len(host.wire.kinds)])
    story.settle()

    happened, wrong = judge(story.url, story.lines(), story.cuts, stored=story.stored, lease=LEASE)
    tell("partitions", happened | {"wrong": wrong})
    assert {name: count for name, count in wrong.items() if count} == {}
    assert clocks(story.lines()) == SKEWS
    assert happened["leases that ran out"] > 0
    assert happened["late endings"] > 0


def clocks(lines: list[Line]) -> dict[str, int]:
    """How wrong each host's clock was, as its runs saw it, to the minute."""
    true = time.time() - time.monotonic()
    return {line.host: round((line.wall - line.at - true) / 60) * 60 for line in lines}
