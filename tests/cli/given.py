"""What the tests of the command line start from: a store with jobs in every state, and ways to call a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from holdfast import App
from holdfast.engine import leases
from holdfast.model.decide import Move
from holdfast.model.lease import Claim, Lane
from holdfast.model.status import Status
from holdfast.store.port import Ending, Order

OWNER = "host:1:test"
PROGRAM = [sys.executable, "-m", "holdfast.cli"]
EVIL = "\x1b[31mred\x1b]0;title\x07 [red]markup[/red] [/] \u009b31m \u202eover\r\nline :smile:"
RAW = ("\x1b[31mred", "\x1b]0;", "\x07", "\u009b", "\u202e")  # what must never reach a terminal

# The fields that contract.md promises of a job.
CONTRACT_FIELDS = {
    "id", "type", "status", "queue", "group", "tenant", "priority", "attempts", "max_attempts", "failed", "crashed",
    "interrupted", "scheduled_at", "created_at", "started_at", "completed_at", "payload", "result", "error", "progress",
    "payload_version", "version",
}  # fmt: skip


class Answer(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def process(*arguments: str, cwd: Path, stdin: str = "", **environment: str) -> Answer:
    """A command in a process of its own, with nothing of ours in its environment."""
    run = subprocess.run(
        [*PROGRAM, *arguments],
        cwd=cwd,
        env=clean_environment() | environment,
        input=stdin,
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
        timeout=60,
    )
    return Answer(run.returncode, run.stdout, run.stderr)


def clean_environment(*, measured: bool = True) -> dict[str, str]:
    """Ours without what steers Holdfast; `measured=False` keeps coverage out of the process, too."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST", "COLUMNS", "LINES"))}
    if not measured:
        kept = {name: value for name, value in kept.items() if not name.startswith("COVERAGE")}
    return kept | {"PYTHONWARNINGS": "error"}


def running(app: App, kind: str = "mail", *, owner: str = OWNER, lease_ms: int = 60_000, **options: Any) -> Claim:
    """A new job, under lease."""
    app.enqueue(kind, {"n": 1}, **options)
    (claim,) = app.desk.write(leases.claim, Order(owner, [Lane(options.get("queue", "default"), kind)], 1, lease_ms))
    return claim


def progress(app: App, claim: Claim, **shown: Any) -> None:
    assert app.desk.write(leases.progress, claim.id, claim.token, json.dumps(shown))


def ended(app: App, status: Status, kind: str = "mail", *, message: str = "it broke", **options: Any) -> str:
    """The id of a job that ended so."""
    claim = running(app, kind, **options)
    if status is Status.COMPLETED:
        move = Move(status, result='{"sent":true}')
    else:
        error = json.dumps({"class": "ValueError", "message": message, "code": "HANDLER_ERROR"})
        move = Move(status, error=error, failed=1, why="attempts exhausted")
    assert app.desk.write(lambda tx: tx.finish([Ending(claim, move)])) == [True]
    return claim.id


def dead(app: App, kind: str = "mail", **options: Any) -> str:
    return ended(app, Status.DEAD_LETTER, kind, **options)


def worker(app: App, name: str = OWNER, lanes: tuple[tuple[str, str, int], ...] = (("default", "mail", 1),)) -> None:
    """A worker that was heard of just now."""
    seen = {"id": name, "host": "host", "pid": 1, "lanes": json.dumps(lanes), "places": 10, "running": 2}
    app.desk.write(lambda tx: tx.beat(seen))
