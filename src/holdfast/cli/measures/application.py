"""The job that is measured, as a user would write it: a coroutine with a typed payload and default settings."""

from __future__ import annotations

import asyncio

import holdfast
from holdfast.cli.measures import ruler

app = holdfast.App("sqlite:///holdfast.db", signal="store")  # never opened: a worker is told which store to use


@app.job(type="thumbnail")
async def job(t: int, user_id: int, action: str, tags: list[str], body: str) -> None:
    """Its arguments are checked at the enqueue, and again before the run."""
    del user_id, action, tags, body
    if ruler.note(t):
        await asyncio.sleep(3_600)
