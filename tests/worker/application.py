"""The jobs of these tests. Handlers append a line to a log outside the store: the job's id, its token, what happened."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
import time
from typing import Any, NotRequired

from typing_extensions import TypedDict

import holdfast
from tests.worker import poisons

LOG = "HOLDFAST_TEST_LOG"
LEASE = float(os.environ.get("HOLDFAST_TEST_LEASE", "1"))
SOON = holdfast.Backoff(base_ms=10, cap_ms=50, jitter_ms=10)
USUAL: dict[str, Any] = {"lease": LEASE, "backoff": SOON, "timeout": 60}

app = holdfast.App()


@app.job(**USUAL)
async def quick(job: holdfast.JobContext) -> int:
    note(job, "began")
    return job.attempt


@app.job(**USUAL)
async def empty() -> None:
    """Nothing at all, for counting."""


@app.job(**USUAL)
async def stamp() -> float:
    """When it ran."""
    return time.time()


@app.job(**USUAL)
async def nap(seconds: float, job: holdfast.JobContext) -> str:
    note(job, "began")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note(job, "stopped")
        raise
    note(job, "returned")
    return "rested"


@app.job(**USUAL)
def block(seconds: float, job: holdfast.JobContext) -> str:
    """A thread that heeds `cancelled`."""
    return _until_over(seconds, job)


@app.job(isolation="process", **USUAL)
def alone(seconds: float, job: holdfast.JobContext) -> str:
    return _until_over(seconds, job)


@app.job(isolation="process", **USUAL)
async def alone_nap(seconds: float, job: holdfast.JobContext) -> str:
    note(job, "began")
    await asyncio.sleep(seconds)
    note(job, "returned")
    return "rested"


@app.job(**USUAL)
async def polite(job: holdfast.JobContext) -> str:
    """Runs until it is asked to stop, and completes."""
    note(job, "began")
    while not job.cancelled:  # noqa: ASYNC110  # there is nothing to await for it
        await asyncio.sleep(0.02)
    note(job, "asked")
    return "as you wish"


@app.job(isolation="process", **USUAL)
def alone_polite(job: holdfast.JobContext) -> str:
    note(job, "began")
    while not job.cancelled:
        time.sleep(0.02)
    note(job, "asked")
    return "as you wish"


@app.job(**USUAL)
def hold_interpreter(seconds: float, job: holdfast.JobContext) -> str:
    """One call into C that keeps the interpreter to itself."""
    time.sleep(0.2)  # else the database thread may be stopped in mid-commit, and nobody could write at all
    note(job, "began")
    ctypes.PyDLL(None).usleep(ctypes.c_uint(int(seconds * 1_000_000)))
    note(job, "returned")
    return "held"


@app.job(**USUAL)
async def hold_loop(seconds: float, job: holdfast.JobContext) -> str:
    """The same inside a coroutine: its event loop stands still."""
    note(job, "began")
    ctypes.PyDLL(None).usleep(ctypes.c_uint(int(seconds * 1_000_000)))
    note(job, "returned")
    return "held"


@app.job(**USUAL)
async def closing(job: holdfast.JobContext) -> str:
    """A handler that believes the application to be its own."""
    note(job, "began")
    with app:
        return "closed"


@app.job(**USUAL)
def forking(job: holdfast.JobContext) -> str:
    """A thread that forks, and lets the copy return as well."""
    note(job, "began")
    copy = os.fork()
    note(job, "returned")
    return "original" if copy else "copy"


@app.job(**USUAL)
async def forking_loop(job: holdfast.JobContext) -> str:
    """The same inside a coroutine."""
    return forking(job)


@app.job(**USUAL | {"timeout": 1, "max_attempts": 1})
async def deaf(job: holdfast.JobContext) -> None:
    """A coroutine that does not let itself be cancelled."""
    note(job, "began")
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            note(job, "not heeded")


@app.job(**USUAL | {"timeout": 1, "max_attempts": 1})
def stuck(job: holdfast.JobContext) -> None:
    """A thread that never returns."""
    note(job, "began")
    while True:
        time.sleep(0.1)


@app.job(**USUAL | {"timeout": 1, "max_attempts": 1})
def seize(job: holdfast.JobContext) -> None:
    """Holds the interpreter while another thread of its process holds the write lock."""
    inside = threading.Event()

    def write() -> None:
        with app.transaction():
            inside.set()
            time.sleep(0.01)  # lets go of the interpreter, and does not get it back

    threading.Thread(target=write, daemon=True).start()
    inside.wait()
    note(job, "began")
    ctypes.PyDLL(None).sleep(3600)


@app.job(**USUAL | {"timeout": 1, "max_attempts": 1})
async def late(job: holdfast.JobContext) -> None:
    note(job, "began")
    await asyncio.sleep(3600)


@app.job(**USUAL | {"timeout": 1.5, "max_crashes": 3})
def poison(kind: str, job: holdfast.JobContext) -> None:
    note(job, "began")
    poisons.KINDS[kind]()


@app.job(**USUAL)
async def innocent(seconds: float) -> None:
    await asyncio.sleep(seconds)


@app.job(**USUAL)
def innocent_thread(seconds: float) -> None:
    time.sleep(seconds)


@app.job(**USUAL)
async def counted(number: int) -> int:
    return number


@app.job(version=2, **USUAL)
async def second_edition(text: str) -> str:
    return text


@app.job(**USUAL)
async def unstorable(kind: str) -> object:
    values: dict[str, Any] = {"set of objects": {object()}, "huge": "x" * 1_000_000, "surrogate": "\ud800", "self": []}
    values["self"].append(values["self"])
    return values[kind]


class Hostile(Exception):
    def __str__(self) -> str:
        raise SystemExit("even my text kills")

    __repr__ = __str__


@app.job(**USUAL | {"max_attempts": 1})
async def raising(kind: str) -> None:
    raise _error(kind)


@app.job(**USUAL | {"max_attempts": 1})
def raising_in_thread(kind: str) -> None:
    raise _error(kind)


@app.job(isolation="process", **USUAL | {"max_attempts": 1})
def raising_alone(kind: str) -> None:
    raise _error(kind)


def _error(kind: str) -> BaseException:
    return {
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "hostile": Hostile(),
        "cancelled": asyncio.CancelledError(),
        "stop": StopIteration(),
        "huge": ValueError("x" * 1_000_000),
    }[kind]


def _until_over(seconds: float, job: holdfast.JobContext) -> str:
    note(job, "began")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if job.cancelled:
            note(job, "asked")
            raise RuntimeError("asked to stop")
        time.sleep(0.02)
    note(job, "returned")
    return "rested"


@app.job(**USUAL)
async def asks(job: holdfast.JobContext, *, expires: float = 60) -> Any:
    """Waits for a person until one gave something."""
    note(job, "began")
    if job.auth is None:
        raise holdfast.AwaitAuth("log in", "https://example.org/login", "example.org", expires=expires)
    return job.auth


@app.job(isolation="process", **USUAL)
def asks_alone(job: holdfast.JobContext) -> Any:
    if job.auth is None:
        raise holdfast.AwaitAuth("log in", key="example.org")
    return job.auth


# -- batches


@app.job(**USUAL)
async def mapped(n: int, job: holdfast.JobContext, seconds: float = 0, fails: int = 0) -> int:
    note(job, f"item {n}")
    await asyncio.sleep(seconds)
    if job.attempt <= fails:
        raise ValueError("not yet")
    return n


@app.job(**USUAL)
def mapped_in_thread(n: int, job: holdfast.JobContext, seconds: float = 0, fails: int = 0) -> int:
    note(job, f"item {n}")
    time.sleep(seconds)
    if job.attempt <= fails:
        raise ValueError("not yet")
    return n


@app.job(**USUAL | {"max_crashes": 2})
async def mapped_poison(n: int, job: holdfast.JobContext, poison: bool = False) -> int:
    note(job, f"item {n}")
    if poison:
        os.kill(os.getpid(), 9)
    return n


@app.job(**USUAL | {"timeout": 0.5, "max_attempts": 2})
async def mapped_late(n: int, job: holdfast.JobContext, seconds: float = 0) -> int:
    note(job, f"item {n}")
    await asyncio.sleep(seconds)
    return n


@app.job(**USUAL | {"timeout": 0.5, "max_attempts": 2})
def mapped_late_in_thread(n: int, job: holdfast.JobContext, seconds: float = 0) -> int:
    """Heeds `cancelled`."""
    note(job, f"item {n}")
    _until_over(seconds, job)
    return n


@app.job(**USUAL)
async def called_back(batch: str, job: holdfast.JobContext) -> str:
    note(job, f"called {batch}")
    return batch


class Numbered(TypedDict):
    n: int
    seconds: NotRequired[float]


@app.job(**USUAL, batch=20, queue="many")
async def embedded(jobs: list[Numbered], contexts: list[holdfast.JobContext]) -> list[int | Exception]:
    for job in contexts:
        note(job, "began")
    note(contexts[0], f"call {len(jobs)}")
    await asyncio.sleep(max(one.get("seconds", 0) for one in jobs))
    return [one["n"] if one["n"] % 10 else holdfast.Permanent("a round number") for one in jobs]


@app.job(**USUAL, batch=20, queue="many")
def embedded_in_thread(jobs: list[Numbered], contexts: list[holdfast.JobContext]) -> list[int]:
    for job in contexts:
        note(job, "began")
    note(contexts[0], f"call {len(jobs)}")
    give_up = time.monotonic() + max(one.get("seconds", 0) for one in jobs)
    while time.monotonic() < give_up and not all(job.cancelled for job in contexts):
        time.sleep(0.01)
    return [one["n"] for one in jobs]


@app.job(**USUAL | {"timeout": 0.5, "max_attempts": 1}, batch=20, queue="many")
async def embedded_late(jobs: list[Numbered]) -> list[int]:
    await asyncio.sleep(60)
    return [one["n"] for one in jobs]


def note(job: holdfast.JobContext, event: str) -> None:
    log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(log, f"{job.id} {job._claim.token} {event} {time.time():.3f} {os.getpid()}\n".encode())
    finally:
        os.close(log)


if os.environ.get("HOLDFAST_TEST_BAD_IMPORT") == "raises":
    raise ValueError("cannot reach amqp://guest:secret@localhost")
if os.environ.get("HOLDFAST_TEST_BAD_IMPORT") == "dies":
    os._exit(7)

if os.environ.get("HOLDFAST_TEST_SLOW_IMPORT"):
    time.sleep(float(os.environ["HOLDFAST_TEST_SLOW_IMPORT"]))

sys.setrecursionlimit(1_000)
