"""Make the pictures of the documentation, from a made-up house that looks like a busy one.

python tools/screenshots.py            write docs/images/overview.png and top.svg
python tools/screenshots.py FOLDER     write all views (light, dark, narrow, a job, an empty house) into a folder

Needs the packages of the extras http and dev, and a Chromium (tools/ensure_browser.sh).
"""

from __future__ import annotations

import asyncio
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from holdfast import App
from holdfast.engine import leases
from holdfast.http import server_for
from holdfast.model.failure import Failure
from holdfast.model.lease import Claim, Lane
from holdfast.model.outcome import Outcome, Parked, Raised, Returned
from holdfast.store.port import Order, Transaction

HERE = Path(__file__).resolve().parent
IMAGES = HERE.parent / "docs" / "images"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
MINUTES = 55
LIVE_SECONDS = 40

# queue, type, enqueued a minute, share that fails, seconds a run takes, message while it runs
KINDS = (
    ("images", "thumbnail", 9.0, 0.01, 1.2, "resizing to 200 px"),
    ("images", "crop", 2.5, 0.0, 2.4, "finding the faces"),
    ("mail", "welcome_mail", 2.0, 0.04, 0.4, "connecting"),
    ("mail", "weekly_digest", 0.6, 0.0, 6.0, "chapter 3 of 7"),
    ("reports", "monthly_report", 0.5, 0.02, 14.0, "summing up the invoices"),
    ("default", "import_feed", 3.0, 0.08, 3.2, "reading entries"),
    ("default", "sync_contacts", 1.6, 0.01, 0.9, "page 4"),
)
ERRORS = (
    ("TimeoutError", "the mail server did not answer within 10 s"),
    ("ConnectionError", "feeds.example.com closed the connection"),
    ("ValueError", "entry 37 has no date"),
)


class Scene:
    """A house whose past is made in fast motion; its present goes on in real time."""

    def __init__(self, folder: Path) -> None:
        self.at: int | None = int(time.time() * 1000) - MINUTES * 60_000
        self.app = App(f"sqlite:///{folder / 'jobs.db'}?synchronous=normal", clock=self.clock)
        self.chance = random.Random(7)
        self.running: list[tuple[int, Claim, float, tuple[Any, ...]]] = []
        self.number = 0

    def clock(self) -> int:
        return int(time.time() * 1000) if self.at is None else self.at

    def make_past(self) -> None:
        """Nearly an hour of work, then what a person finds when opening the page."""
        assert self.at is not None
        while self.at < int(time.time() * 1000) - 3_000:
            self.step(3.0)
            self.at += 3_000
        self.at = None
        self.make_present()

    def step(self, seconds: float, *, most: int = 6) -> None:
        """Some jobs come, some runs end, free places are filled."""
        for kind in KINDS:
            if self.chance.random() < kind[2] * seconds / 60:
                self.enqueue(kind)
        for run in [run for run in self.running if run[0] <= self.clock()]:
            self.running.remove(run)
            self.end(run[1], run[3])
        for run in self.running:
            self.show_progress(run)
        for kind in KINDS:
            if len(self.running) < most:
                self.claim(kind)

    def enqueue(self, kind: tuple[Any, ...], **options: Any) -> None:
        self.number += 1
        self.app.enqueue(kind[1], {"path": f"uploads/{self.number:05d}.jpg", "width": 200}, queue=kind[0], **options)

    def claim(self, kind: tuple[Any, ...], takes: float | None = None) -> None:
        worker = "quarry:4711/1" if kind[0] == "images" else "harbour:982/1"
        order = Order(worker, [Lane(kind[0], kind[1], 1)], 1, 60_000)
        for claim in self.app.desk.write(leases.claim, order):
            seconds = takes or kind[4] * self.chance.uniform(0.4, 1.8)
            self.running.append((self.clock() + int(seconds * 1000), claim, seconds, kind))

    def end(self, claim: Claim, kind: tuple[Any, ...]) -> None:
        outcome: Outcome = Returned(json.dumps({"written": f"thumbs/{claim.id[-6:].lower()}.webp", "bytes": 18_204}))
        if self.chance.random() < kind[3]:
            name, message = self.chance.choice(ERRORS)
            permanent = name == "ValueError"
            outcome = Raised(Failure(name, message), permanent=permanent, after_ms=None)
        self.app.desk.write(leases.finish, [(claim, outcome)])

    def show_progress(self, run: tuple[int, Claim, float, tuple[Any, ...]]) -> None:
        ends, claim, seconds, kind = run
        total = max(4, int(seconds * 3))
        done = max(0, min(total, int(total * (1 - (ends - self.clock()) / 1000 / seconds))))
        text = json.dumps({"done": done, "total": total, "message": kind[5]})
        self.app.desk.write(lambda tx: tx.progress(claim.id, claim.token, text))

    def make_present(self) -> None:
        """A backlog, two workers, a paused queue, dead letters, and runs that take long enough to be seen."""
        for kind, count in zip(KINDS, (34, 9, 21, 4, 3, 12, 2), strict=True):
            for _ in range(count):
                self.enqueue(kind)
        for kind in KINDS[:3]:
            self.die(kind)
        for kind in KINDS[4], KINDS[5], KINDS[0]:
            self.claim(kind, takes=self.chance.uniform(45, 90))
        self.ask("approve_refund", "may order 1047 be refunded?")
        self.app.enqueue("monthly_report", {"month": "2025-01"}, queue="reports", delay=5400)
        self.app.desk.write(lambda tx: tx.pause("mail", "operator"))

    def ask(self, kind: str, question: str) -> None:
        self.app.enqueue(kind, {"order": 1047}, priority=1)
        (claim,) = self.app.desk.write(leases.claim, Order("harbour:982/1", [Lane("default", kind, 1)], 1, 60_000))
        parked = Parked(question, "https://shop.example/refunds/1047", None, 10_800_000)
        self.app.desk.write(leases.finish, [(claim, parked)])

    def die(self, kind: tuple[Any, ...]) -> None:
        self.app.enqueue(kind[1], {"path": "uploads/broken.jpg"}, queue=kind[0], max_attempts=1, priority=1)
        order = Order("quarry:4711/2", [Lane(kind[0], kind[1], 1)], 1, 60_000)
        for claim in self.app.desk.write(leases.claim, order):
            failure = Failure(*self.chance.choice(ERRORS[:2]))
            self.app.desk.write(leases.finish, [(claim, Raised(failure, permanent=False, after_ms=None))])

    def live(self, ended: threading.Event) -> None:
        """Go on until told to end: arrivals in waves, so that the little curves have something to show."""
        while not ended.wait(0.4):
            self.beat()
            if self.chance.random() < 0.55 + 0.4 * math.sin(time.monotonic() / 4):
                kind = self.chance.choice((KINDS[0], KINDS[1], KINDS[5], KINDS[6], KINDS[6]))
                self.enqueue(kind, priority=self.chance.choice((1, 1, 1, 5)))
            if self.chance.random() < 0.06:  # noqa: PLR2004
                self.app.cancel(self.app.enqueue("sync_contacts", {"user": 17}, delay=60).id)
            self.step(0.4, most=6)

    def beat(self) -> None:
        for name, pid, places in (("quarry", 4711, 16), ("harbour", 982, 8)):
            lanes = [[kind[0], kind[1], 1] for kind in KINDS if name == "quarry" or kind[0] != "images"]
            told = {"id": f"{name}:{pid}", "host": name, "pid": pid, "places": places, "running": 0}
            self.app.desk.write(_beat, told | {"lanes": json.dumps(lanes)})
        self.app.desk.write(leases.renew, [(run[1].id, run[1].token) for run in self.running], 60_000)


def _beat(tx: Transaction, worker: dict[str, Any]) -> None:
    tx.beat(worker)


@contextmanager
def served(scene: Scene) -> Iterator[str]:
    """The address of the house's page."""
    server = server_for(scene.app, port=0)
    ended = threading.Event()
    threads = [threading.Thread(target=lambda: asyncio.run(server.serve()))]
    if scene.number:
        threads.append(threading.Thread(target=scene.live, args=(ended,)))
    for thread in threads:
        thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield server.address
    finally:
        ended.set()
        server.should_exit = True
        for thread in threads:
            thread.join()
        scene.app.close()


@contextmanager
def browser() -> Iterator[Any]:
    """The machine's own Chromium."""
    found = subprocess.run([str(HERE / "ensure_browser.sh")], capture_output=True, text=True, check=True)  # noqa: S603
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found.stdout.strip(), args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


def console(message: Any) -> None:
    print(f"the page says: {message.text}", file=sys.stderr)


def shoot(page: Any, path: Path) -> None:
    page.screenshot(path=str(path))
    print(f"wrote {path}")


def draw_top(url: str, path: Path) -> None:
    """One frame of `holdfast top`, as a drawing of a terminal."""
    size = {"COLUMNS": "104", "LINES": "30", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "holdfast.cli", "top", "--once", "--url", url]
    frame = subprocess.run(command, env=os.environ | size, check=True, capture_output=True, text=True).stdout  # noqa: S603
    terminal = Console(record=True, width=104, file=io.StringIO(), force_terminal=True)
    file = url.partition("?")[0]
    terminal.print(Text.from_ansi(frame.replace(file, "sqlite:///jobs.db".center(len(file)))))
    drawing = terminal.export_svg(title="holdfast top")
    path.write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL))  # nothing is fetched to look at it


def main(arguments: list[str]) -> int:
    if len(arguments) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]) if arguments else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, browser() as chromium:
        scene = Scene(Path(place))
        scene.make_past()
        with served(scene) as address:
            page = _open(chromium, address, "light", 1280, 800)
            time.sleep(LIVE_SECONDS)
            shoot(page, folder / "overview.png")
            draw_top(scene.app.url, folder / "top.svg")
            if arguments:
                _all_views(chromium, address, page, folder)
            for context in chromium.contexts:
                context.close()  # before the server: a page that lost it would complain
    if arguments:
        _empty_house(folder)
    return 0


def _open(chromium: Any, address: str, scheme: str, width: int, height: int) -> Any:
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.on("console", console)
    page.on("pageerror", lambda error: print(f"the page failed: {error}", file=sys.stderr))
    page.goto(address)
    page.wait_for_selector("[data-state=live]")
    return page


def _all_views(chromium: Any, address: str, page: Any, folder: Path) -> None:
    page.click("#filter [data-status=dead_letter]")
    page.click("#jobs tr:first-child button")
    page.wait_for_selector("#drawer pre")
    shoot(page, folder / "job.png")
    views: list[tuple[str, str, int, int, Callable[[Any], None]]] = [
        ("dark", "dark", 1280, 800, lambda _: None),
        ("narrow", "light", 390, 844, lambda _: None),
        ("running", "dark", 1280, 800, lambda one: one.click("#running button")),
    ]
    for name, scheme, width, height, act in views:
        other = _open(chromium, address, scheme, width, height)
        act(other)
        time.sleep(3)
        shoot(other, folder / f"{name}.png")


def _empty_house(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place, browser() as chromium, served(Scene(Path(place))) as address:
        page = _open(chromium, address, "light", 1280, 800)
        page.wait_for_selector("#empty:not([hidden])")
        shoot(page, folder / "empty.png")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
