"""Sixteen processes on one file: no caller ever meets a lock, none waits long, none starves, nothing is lost.

Full size: HOLDFAST_STORM_SECONDS=60 pytest -s tests/stories/test_lock_storm.py
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.stories.crew import Crew, size, tell

PROCESSES = 16
SECONDS_TO_START = 6

WORKER = "tests.stories.lock_worker"

pytestmark = pytest.mark.slow


def test_sixteen_processes_share_one_file_without_an_error_or_a_long_wait(tmp_path):
    seconds = size("HOLDFAST_STORM_SECONDS", 10)
    path = tmp_path / "jobs.db"
    with Crew(tmp_path) as crew:
        start = time.time() + SECONDS_TO_START
        for seed in range(PROCESSES):
            crew.start(WORKER, f"sqlite:///{path}", start, seconds, seed)
        reports = crew.reports(seconds=seconds + 120)
    found = figures(reports, seconds)
    tell("lock storm", found)

    assert [error for report in reports for error in report["errors"]] == []
    assert broken_promises(reports, path) == []
    assert found["longest ms"] < 1_000
    assert found["slowest to mean"] >= 0.25


def figures(reports: list[dict[str, Any]], seconds: int) -> dict[str, Any]:
    """Calls per second, waits by verb (how many, half, 99 of 100 below, longest) and how even the shares are."""
    by_verb: dict[str, list[float]] = defaultdict(list)
    for report in reports:
        for verb, waits in report["milliseconds"].items():
            by_verb[verb] += waits
    shares = [sum(map(len, report["milliseconds"].values())) for report in reports]
    return {
        "calls per second": round(sum(shares) / seconds),
        "slowest to mean": round(min(shares) * len(shares) / sum(shares), 2),
        "longest ms": max(max(waits) for verb, waits in by_verb.items() if verb != "open"),
        "by verb": {verb: spread(sorted(waits)) for verb, waits in by_verb.items()},
    }


def spread(waits: list[float]) -> list[float]:
    return [len(waits), waits[len(waits) // 2], waits[len(waits) * 99 // 100], waits[-1]]


def broken_promises(reports: list[dict[str, Any]], path: Path) -> list[str]:
    """What the file does not hold though a caller was told so, or was told twice."""
    connection = apsw.Connection(str(path))
    try:
        broken = [text for (text,) in connection.execute("pragma integrity_check").fetchall() if text != "ok"]
        rows = connection.execute("select id, status, result from job_queue").fetchall()
    finally:
        connection.close()
    found = {job_id: (status, result) for job_id, status, result in rows}
    enqueued = [job_id for report in reports for job_id in report["enqueued"]]
    cancelled = {job_id for report in reports for job_id in report["cancelled"]}
    finished = [pair for report in reports for pair in report["finished"].items()]
    endings = Counter([*cancelled, *(job_id for job_id, _ in finished)])
    broken += [f"{job_id} is lost" for job_id in enqueued if job_id not in found and job_id not in cancelled]
    broken += [f"{job_id} ended {times} times" for job_id, times in endings.items() if times > 1]
    broken += [f"{job_id} lost its result" for job_id, text in finished if found.get(job_id) != ("completed", text)]
    broken += [f"{job_id} was given twice" for job_id, times in Counter(enqueued).items() if times > 1]
    ended = {job_id for job_id, (status, _) in found.items() if status == "completed"}
    return broken + [f"{job_id} was completed by nobody" for job_id in ended - set(dict(finished))]
