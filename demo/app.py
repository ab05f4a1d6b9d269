"""Honest jobs of every kind: they compute, read files, wait, fail, get stuck and even kill their process."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections import Counter
from pathlib import Path

import holdfast
from demo import session
from holdfast_pipelines.capture.jobs import register

app = holdfast.App(imports=["demo.flow"])
if app.url.startswith("sqlite:"):  # sessions are captured into a file
    register(app, session.places(app.url))

ROOT = Path(__file__).resolve().parent.parent


@app.job(queue="documents")
def fingerprint(path: str) -> dict[str, str | int]:
    """Reads a file and hashes it: plain input and output, in a thread."""
    data = (ROOT / path).read_bytes()
    return {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@app.job(queue="documents", isolation="process")
def common_words(path: str, most: int = 5) -> dict[str, int]:
    """Computes, in a process of its own: other jobs do not wait for it."""
    words = re.findall(r"[a-z]{4,}", (ROOT / path).read_text(errors="replace").lower())
    return dict(Counter(words).most_common(most))


@app.job
async def walk(steps: int, job: holdfast.JobContext, pause: float = 0.15) -> str:
    """Takes its time, and shows how far it is."""
    for step in range(1, steps + 1):
        await asyncio.sleep(pause)
        job.progress(step, steps, f"step {step}")
    return f"walked {steps} steps"


@app.job(max_attempts=4, backoff=holdfast.Backoff(base_ms=200, cap_ms=2_000, jitter_ms=100))
async def unreliable(succeed_at: int, job: holdfast.JobContext) -> str:
    """Fails until its n-th attempt: retries with back-off bring it home."""
    if job.attempt < succeed_at:
        raise ConnectionError(f"attempt {job.attempt} found nobody at home")
    return f"succeeded at attempt {job.attempt}"


@app.job
async def impossible() -> None:
    """Knows that retrying cannot help: it ends failed at once."""
    raise holdfast.Permanent("there is no such thing")


@app.job(timeout=1, max_attempts=2, backoff=holdfast.Backoff(base_ms=100, cap_ms=500, jitter_ms=100))
async def endless() -> None:
    """Overruns its time-out, twice: it ends in the dead letters."""
    await asyncio.sleep(3600)


@app.job(backoff=holdfast.Backoff(base_ms=100, cap_ms=500, jitter_ms=100))
def poison() -> None:
    """Kills its process. Others are not harmed, and after three crashes it is put aside."""
    os.abort()


@app.job
async def needless(hours: float) -> None:
    """Waits for hours; the demo cancels it."""
    await asyncio.sleep(hours * 3600)


@app.job(priority=8)
async def tick(number: int) -> int:
    """Does next to nothing, very often."""
    return number
