"""The jobs of the storm. Each writes down outside the store when it begins and when it returns, with its token.

Lines of the log, each appended by one write: `began id token`, `returned id token`.
"""

from __future__ import annotations

import asyncio
import os
from time import sleep
from typing import Any

import holdfast

LEASE = 0.6  # seconds
LOG = "HOLDFAST_STORM_LOG"
DOOMED = {"fragile": 3}  # type -> max_attempts; jobs of every other type must complete

_SOON = holdfast.Backoff(base_ms=5, cap_ms=100, jitter_ms=20)
_STEADY: dict[str, Any] = {
    "max_attempts": 10_000,
    "max_crashes": 1_000,
    "lease": LEASE,
    "timeout": 60,
    "backoff": _SOON,
}

app = holdfast.App()


@app.job(**_STEADY)
async def brief(job: holdfast.JobContext) -> dict[str, int]:
    """Does nothing."""
    return _ending(_begin(job))


@app.job(**_STEADY)
async def waiting(seconds: float, job: holdfast.JobContext) -> dict[str, int]:
    """Waits, as for a network; sometimes for longer than its lease."""
    begun = _begin(job)
    await asyncio.sleep(seconds)
    return _ending(begun)


@app.job(**_STEADY)
def blocking(seconds: float, job: holdfast.JobContext) -> dict[str, int]:
    """The same in a thread."""
    begun = _begin(job)
    sleep(seconds)
    return _ending(begun)


@app.job(isolation="process", **_STEADY)
def alone(seconds: float, job: holdfast.JobContext) -> dict[str, int]:
    """The same in a process of its own."""
    begun = _begin(job)
    sleep(seconds)
    return _ending(begun)


@app.job(**_STEADY)
async def reluctant(failures: int, job: holdfast.JobContext) -> dict[str, int]:
    """Fails some times, then succeeds."""
    begun = _begin(job)
    if job._claim.failed < failures:  # noqa: SLF001  # what a handler need not know, a witness must
        raise ConnectionError("not this time")
    return _ending(begun)


@app.job(**_STEADY)
async def walking(steps: int, job: holdfast.JobContext) -> dict[str, int]:
    """Shows how far it is."""
    begun = _begin(job)
    for step in range(steps):
        job.progress(step + 1, steps)
        await asyncio.sleep(0.01)
    return _ending(begun)


@app.job(**_STEADY | {"max_attempts": DOOMED["fragile"], "max_crashes": 2})
async def fragile(job: holdfast.JobContext) -> dict[str, int]:
    """Few attempts and fewer crashes: some of these end in the dead letters, and none runs too often."""
    begun = _begin(job)
    await asyncio.sleep(0.02)
    return _ending(begun)


@app.job(**_STEADY)
async def hopeless(job: holdfast.JobContext) -> None:
    """Ends failed."""
    _begin(job)
    raise holdfast.Permanent("there is no such thing")


def _begin(job: holdfast.JobContext) -> tuple[str, int]:
    run = job.id, job._claim.token  # noqa: SLF001
    _note("began", run)
    return run


def _ending(run: tuple[str, int]) -> dict[str, int]:
    """A result carries the token under which it was made."""
    _note("returned", run)
    return {"token": run[1]}


def _note(word: str, run: tuple[str, int]) -> None:
    log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(log, f"{word} {run[0]} {run[1]}\n".encode())
    finally:
        os.close(log)
