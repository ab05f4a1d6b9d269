"""A worker for the stories of limits: its handlers write down when they begin and end, in one file for all."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time

from holdfast import App, JobContext, Retry

url, trail = sys.argv[1:3]
app = App(url)


def note(*words: object) -> None:
    """One line, whole, behind those of all others."""
    line = " ".join(map(str, words)) + "\n"
    out = os.open(trail, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(out, line.encode())
    os.close(out)


async def work(job: JobContext, keys: list[str], seconds: float, tries: int) -> None:
    """Hold the keys for a while; fail at first, if told to."""
    note("begin", os.getpid(), job.id, *keys)
    try:
        await asyncio.sleep(seconds)
    finally:
        note("end", os.getpid(), job.id, *keys)
    if job.attempt < tries:
        raise Retry("again", after=random.uniform(0, 0.1))


app.job(type="work", max_attempts=50, lease=1.0, max_crashes=50)(work)
app.job(type="elsewhere", queue="other", max_attempts=50, lease=1.0, max_crashes=50)(work)


async def start() -> None:
    """Write down that it began."""
    note("begin", os.getpid(), time.monotonic(), "start")


app.job(type="start", max_attempts=5, lease=5.0)(start)


async def call(times: int) -> None:
    """Call somebody who allows so many calls."""
    for _ in range(times):
        await app.limiter("calls").aacquire()
        note("begin", os.getpid(), time.monotonic(), "call")


app.job(type="call", max_attempts=5, lease=30.0)(call)


async def main() -> None:
    async with app.worker(coroutines=8, queues={"default": None, "other": None}):
        await asyncio.sleep(3600)


asyncio.run(main())
