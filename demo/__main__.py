"""`python -m demo run` works until Ctrl-C; `python -m demo finish` does the same work, prints a summary and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from demo.app import (
    ROOT,
    app,
    common_words,
    endless,
    fingerprint,
    impossible,
    needless,
    poison,
    tick,
    unreliable,
    walk,
)  # fmt: skip
from demo.flow import SHOP, approve
from demo.flow import feed as feed_flow
from demo.session import QUESTION, Question, tell
from holdfast import Handle, HoldfastError
from holdfast.batches import Batch
from holdfast.cli.ending import tell as tell_error
from holdfast.http.address import HOST, listen
from holdfast.store.port import Transaction

PORT = os.environ.get("HOLDFAST_DEMO_PORT", "8321")
EXPECTED = {
    "fingerprint": "completed",
    "common_words": "completed",
    "walk": "completed",
    "unreliable": "completed",
    "impossible": "failed",
    "endless": "dead_letter",
    "poison": "dead_letter",
    "needless": "cancelled",
    "tick": "completed",
    "pay": "completed",
    "ship": "completed",
    "visit": "completed",
    "index": "completed",
    "publish": "completed",
    "sanitize_ai_validation": "completed",
}
PATIENCE = 120.0
ANSWER_PATIENCE = 15.0
STILL = 5.0

console = Console()


class Gone(Exception):
    """The worker has ended, and nobody asked it to."""


def main(mode: str) -> int:
    """Start the worker and the page, feed jobs, watch them."""
    port = checked_port(PORT)
    try:
        listen(HOST, port, chosen_by="HOLDFAST_DEMO_PORT").close()  # `up` takes it, and would name an option of its own
        app.desk.read(paused)
    except HoldfastError as error:  # before anything is started, so that it is told once
        tell_error(error.code, str(error))
        return 1
    for number in (signal.SIGINT, signal.SIGTERM):  # both mean: end in good order; a script's child ignores the first
        signal.signal(number, interrupt)
    command = [
        *(sys.executable, "-m", "holdfast.cli", "up", "demo.app:app"),
        *("--port", str(port), "--log-level", "ERROR"),
    ]
    # Not as an argument, which everyone on the machine can read: an address may hold a password.
    environment = os.environ | {"HOLDFAST_URL": app.url}
    # In a group of its own, so that one Ctrl-C reaches us alone and we stop it in good order.
    holdfast_up = subprocess.Popen(command, env=environment, process_group=0)  # noqa: S603  # our own interpreter and module
    question = Question(app.url)
    try:
        handles, batch = feed(holdfast_up)
        if "sanitize_ai_validation" in handles:
            question.start()
        done = watch(handles, batch, holdfast_up)
        learned = question.answer(ANSWER_PATIENCE)
        summary(handles, batch, learned)
        done = done and (bool(learned) or "sanitize_ai_validation" not in handles)
        if mode == "run":
            console.print("\nThe demo goes on: a few jobs every second. Ctrl-C ends it.")
            trickle(holdfast_up)
    except KeyboardInterrupt:
        done = True
    except (Gone, HoldfastError) as error:
        console.print(f"[red]{error}")
        done = False
    finally:
        question.drop()
        if holdfast_up.poll() is None:
            holdfast_up.send_signal(signal.SIGTERM)
        holdfast_up.wait(40)
    return 0 if done else 1


def interrupt(*_: object) -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def checked_port(text: str) -> int:
    """The number of a port, or an end that says what to write."""
    if text.isascii() and text.isdigit() and int(text) <= 65535:  # noqa: PLR2004
        return int(text)
    sys.exit(f"HOLDFAST_DEMO_PORT is a number from 0 to 65535, not {text[:50]!a}")


def check_alive(worker: subprocess.Popen[bytes]) -> None:
    """Nobody should wait for jobs that nobody runs."""
    code = worker.poll()
    if code is not None:
        raise Gone(f"the worker has ended with code {code}: the demo ends, too")


def feed(worker: subprocess.Popen[bytes]) -> tuple[dict[str, list[Handle]], Batch]:
    """Enqueue jobs of every kind; those that only wait to be cancelled are, whatever happens."""
    pages = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))[:24]
    handles = {
        "fingerprint": [fingerprint.enqueue(path=page) for page in pages],
        "common_words": [common_words.enqueue(path=page) for page in pages[:6]],
        "walk": [walk.enqueue(steps=steps) for steps in (10, 20, 30)],
        "unreliable": [unreliable.enqueue(succeed_at=attempt) for attempt in (1, 2, 3, 4)],
        "impossible": [impossible.enqueue()],
        "endless": [endless.enqueue()],
        "poison": [poison.enqueue()],
        "needless": [needless.enqueue(hours=2) for _ in range(3)],
        "tick": app.enqueue_many(tick.call(number=number) for number in range(2_000)),
    }
    together, batch = feed_flow()
    handles |= together
    if app.url.startswith("sqlite:"):
        handles["sanitize_ai_validation"] = tell(app)
    try:
        time.sleep(1)  # let one of them begin, so that both a waiting and a running job are cancelled
        check_alive(worker)
    finally:
        for job in app.jobs(type="needless", limit=1_000):
            if not job.ended:  # an earlier demo may have left some, which would take up its places for hours
                app.cancel(job.id)
    return handles, batch


def watch(handles: dict[str, list[Handle]], batch: Batch, worker: subprocess.Popen[bytes]) -> bool:
    """Show progress until all have ended; False when they do not in time."""
    columns = (TextColumn("{task.description:>22}"), BarColumn(40), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=console)
    bars = {kind: progress.add_task(kind, total=len(some)) for kind, some in handles.items()}
    items = progress.add_task("items of a batch", total=batch.progress()["total"])
    waiting = {kind: {handle.id for handle in some} for kind, some in handles.items()}
    give_up = time.monotonic() + PATIENCE
    left, since = -1, 0.0  # how much is left, and since when it has been so
    with Live(progress, console=console, refresh_per_second=8):
        while any(waiting.values()) and time.monotonic() < give_up:
            check_alive(worker)
            for kind, ids in waiting.items():
                found = app.desk.read(lambda tx, ids=ids: tx.versions(sorted(ids))) if ids else {}
                ids -= {job_id for job_id, (_, status) in found.items() if status == EXPECTED[kind]}
                progress.update(bars[kind], completed=len(handles[kind]) - len(ids))
            progress.update(items, completed=batch.progress()["done"])
            approve(handles["publish"])
            if left != (left := sum(map(len, waiting.values()))):
                since = time.monotonic()
            elif time.monotonic() - since > STILL:
                tell_pauses()
                since = give_up  # once is enough, until something moves
            time.sleep(0.1)
    return not any(waiting.values()) and batch.wait(PATIENCE)["failed"] == 0


def paused(tx: Transaction) -> list[str]:
    """The demo's queues that are paused."""
    ours = {lane.queue for lane in app.registry.lanes()}
    return [name for name, *_ in tx.overview(1)["paused"] if name in ours]


def tell_pauses() -> None:
    """A person paused them, and may have forgotten it."""
    for name in app.desk.read(paused):
        advice = f".venv/bin/holdfast queues resume {name}"
        console.print(f"nothing has ended for {STILL:g} s: queue {name} is paused; {advice}", soft_wrap=True)


def summary(handles: dict[str, list[Handle]], batch: Batch, learned: str) -> None:
    """What became of them."""
    table = Table(
        "TYPE", "JOBS", "ENDED", "MOST RUNS", "FAILED", "CRASHED", title="What became of them", title_justify="left"
    )
    for kind, some in handles.items():
        jobs = [handle.job() for handle in some[:50]]
        ended = Counter(job.status.value for job in jobs)
        table.add_row(
            kind,
            str(len(some)),
            ", ".join(sorted(ended)),
            str(max(job.attempts for job in jobs)),
            str(max(job.failed for job in jobs)),
            str(max(job.crashed for job in jobs)),
        )
    console.print()
    console.print(table)
    story = handles["poison"][0]
    orders, words = app.group(SHOP).progress(), batch.progress()
    newest = handles["index"][-1]
    console.print(f"\n[bold]holdfast group show {SHOP}[/bold]\n  {orders['done']} of {orders['total']} jobs done")
    console.print(f"\n[bold]holdfast batch show {batch.id}[/bold]\n  {words['done']} of {words['total']} items done")
    console.print(f"\n[bold]of five requests the newest was run[/bold]\n  {newest.result(timeout=5)}")
    console.print(f"\n[bold]a job that waited for a person[/bold]\n  {handles['publish'][0].result(timeout=5)}")
    if "sanitize_ai_validation" in handles:
        console.print(f"\n[bold]the next session asks over MCP: search_learnings {QUESTION!r}[/bold]")
        console.print(f"  {learned or 'nothing was found'}", markup=False)
    console.print(f"\n[bold]holdfast job explain {story.id}[/bold]\n  {app.explain(story.id)['reasons'][0]['text']}")


def trickle(worker: subprocess.Popen[bytes]) -> None:
    """A few jobs every second, for ever."""
    number = 0
    while True:
        number += 1
        check_alive(worker)
        try:
            tick.enqueue(number=number)
            unreliable.enqueue(succeed_at=1 + number % 3)
            if number % 5 == 0:
                walk.enqueue(steps=20)
        except HoldfastError as error:
            console.print(f"[red]{error}")
        time.sleep(0.5)


if __name__ == "__main__":
    if sys.argv[1:] not in (["run"], ["finish"]):
        sys.exit("usage: python -m demo run|finish")
    sys.exit(main(sys.argv[1]))
