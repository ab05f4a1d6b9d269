"""Waiting in tests: for a fact, with more patience than the busiest machine needs.

A wait that ends well costs nothing, however long it may be. A wait that runs out tells of a fault, so it must not tell
of a machine with other work. Where a test is about speed, its limit is the stated one on a quiet machine
(`HOLDFAST_STRICT=1`) and ten times as long otherwise.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 120.0
STRICT = "HOLDFAST_STRICT" in os.environ


def within(limit: float) -> float:
    """A stated limit, in whatever unit."""
    return limit if STRICT else 10 * limit


def wait_for(
    fact: Callable[[], Any], what: str | Callable[[], object] = "it", *, seconds: float = PATIENCE, every: float = 0.01
) -> Any:
    """Wait until a fact is true; answers it. `what` is shown if it never comes, and may be asked for only then."""
    give_up = time.monotonic() + seconds
    while not (answer := fact()):
        assert time.monotonic() < give_up, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(every)
    return answer


async def wait_for_async(fact: Callable[[], Any], *, seconds: float = PATIENCE) -> None:
    """The same for a test in a loop, which must go on turning."""
    async with asyncio.timeout(seconds):
        while not fact():  # noqa: ASYNC110  # a fact in shared memory has no event
            await asyncio.sleep(0.01)
