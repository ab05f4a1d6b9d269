"""Handlers that ask for more to be done, or end their runs themselves; the first attempt may die on its way out."""

from __future__ import annotations

import os
import random
import signal
import threading
import time

import holdfast
from tests.worker.application import USUAL, app, note

SPEC = "tests.worker.followers:app"
__all__ = ["app"]


@app.job(**USUAL)
async def following(of: str) -> str:
    return of


@app.job(**USUAL)
async def ask_loop(job: holdfast.JobContext, doom: float | None = None) -> str:
    return _ask(job, doom)


@app.job(**USUAL)
def ask_thread(job: holdfast.JobContext, doom: float | None = None) -> str:
    return _ask(job, doom)


@app.job(isolation="process", **USUAL)
def ask_alone(job: holdfast.JobContext, doom: float | None = None) -> str:
    return _ask(job, doom)


@app.job(isolation="process", **USUAL)
async def ask_alone_loop(job: holdfast.JobContext, doom: float | None = None) -> str:
    return _ask(job, doom)


@app.job(**USUAL)
async def write_loop(job: holdfast.JobContext, doom: float | None = None, rest: float = 0) -> str:
    return _write(job, doom, rest)


@app.job(**USUAL)
def write_thread(job: holdfast.JobContext, doom: float | None = None, rest: float = 0) -> str:
    return _write(job, doom, rest)


@app.job(isolation="process", **USUAL)
def write_alone(job: holdfast.JobContext, doom: float | None = None, rest: float = 0) -> str:
    return _write(job, doom, rest)


@app.job(**USUAL)
async def write_awaited(job: holdfast.JobContext, doom: float | None = None) -> str:
    note(job, "began")
    job.follow_up(following.call(of=job.id))
    async with job.transaction() as tx:
        await tx.execute(f"insert into ledger values ('{job.id}')")
        tx.result = "written"
        _die_within(job, doom)
    return "ignored"


@app.job(**USUAL)
def write_late(job: holdfast.JobContext) -> None:
    """Comes to its transaction only after it was told to stop."""
    note(job, "began")
    while not job.cancelled:
        time.sleep(0.01)
    try:
        with job.transaction() as tx:
            tx.execute(f"insert into ledger values ('{job.id}')")
    except holdfast.HoldfastError as error:
        note(job, error.code)
        raise


def _ask(job: holdfast.JobContext, doom: float | None) -> str:
    note(job, "began")
    job.follow_up(following.call(of=job.id))
    _die_within(job, doom)
    return "asked"


def _write(job: holdfast.JobContext, doom: float | None, rest: float) -> str:
    note(job, "began")
    job.follow_up(following.call(of=job.id))
    with job.transaction() as tx:
        tx.execute(f"insert into ledger values ('{job.id}')")
        tx.result = "written"
        _die_within(job, doom)
    time.sleep(rest)
    note(job, "returned")
    return "ignored"


def _die_within(job: holdfast.JobContext, doom: float | None) -> None:
    """In the first attempt the process is killed at some moment in the next so many seconds."""
    if doom is not None and job.attempt == 1:
        threading.Timer(random.uniform(0, doom), os.kill, (os.getpid(), signal.SIGKILL)).start()
