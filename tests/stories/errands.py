"""The application of the partition story: each run is written down outside the store when it begins and when it returns.

A line of the log, appended by one write: what happened, job, token, host, the machine's monotonic clock, the host's wall
clock. All hosts share the first clock, and none of them the second.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import holdfast

LOG, HOST, LEASE = "HOLDFAST_ERRANDS_LOG", "HOLDFAST_ERRANDS_HOST", "HOLDFAST_ERRANDS_LEASE"
_SOON = holdfast.Backoff(base_ms=10, cap_ms=50, jitter_ms=10)
_USUAL: dict[str, Any] = {"backoff": _SOON, "timeout": 60, "max_attempts": 1_000, "max_crashes": 1_000}

app = holdfast.App()


@app.job(lease=float(os.environ.get(LEASE, "2")), **_USUAL)
async def errand(seconds: float, job: holdfast.JobContext) -> str:
    """A result carries the token under which it was made."""
    token = job._claim.token
    _note("began", job.id, token)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        _note("stopped", job.id, token)
        raise
    _note("returned", job.id, token)
    return f"{job.id}/{token}"


def _note(word: str, job_id: str, token: int) -> None:
    line = f"{word} {job_id} {token} {os.environ[HOST]} {time.monotonic():.3f} {time.time():.3f}\n"
    log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(log, line.encode())
    finally:
        os.close(log)
