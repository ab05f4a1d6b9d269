"""A worker that has run a great many jobs is no larger than one that has run a few.

Full size: HOLDFAST_MEMORY_JOBS=200000 pytest -s tests/worker/test_memory.py
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from holdfast.cli.storms.processes import marked
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow

BATCH = 1_000


def megabytes(pids: list[int]) -> float:
    """Private memory: what is shared with the template counts once, there."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(("Private_Clean", "Private_Dirty")):
                total += int(line.split()[1])
    return total / 1024


def test_memory_stays_flat_over_many_jobs(workshop: Workshop):
    workshop.start("--processes", 2)
    jobs = size("HOLDFAST_MEMORY_JOBS", 12_000)
    seen: list[tuple[int, float]] = []
    begun = time.monotonic()
    for done in range(BATCH, jobs + 1, BATCH):
        with workshop.app.transaction():
            for _ in range(BATCH):
                workshop.enqueue("empty")
        workshop.settled(seconds=120)
        seen.append((done, megabytes(list(marked(workshop.mark)))))
    rate = jobs / (time.monotonic() - begun)
    first, last = seen[len(seen) // 4], seen[-1]
    slope = (last[1] - first[1]) / (last[0] - first[0]) * 100_000
    tell("memory", {"at": first, "then": last, "MB per 100,000 jobs": round(slope, 2), "jobs a second": round(rate)})
    assert last[1] - first[1] < 15
