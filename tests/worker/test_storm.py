"""`holdfast chaos`: kill -9 and SIGSTOP among real workers; nothing is lost, nothing late is accepted.

Full size: HOLDFAST_CHAOS_KILLS=2000 HOLDFAST_CHAOS_JOBS=20000 pytest -s tests/worker/test_storm.py, or
`holdfast chaos --kills 2000 --jobs 20000`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.worker.workshop import size, tell

SOURCE = Path(holdfast.__file__).resolve().parents[1]
FENCE = "lease_token = :token and "


def chaos(folder: Path, *options: object, source: Path = SOURCE) -> tuple[int, dict[str, Any], str]:
    report = folder / "report.json"
    program = [sys.executable, "-m", "holdfast.cli", "chaos", "--json", str(report), *map(str, options)]
    environment = os.environ | {"PYTHONPATH": str(source), "TMPDIR": str(folder)}
    answer = subprocess.run(
        program, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=3_600
    )
    assert report.exists(), answer.stderr
    return answer.returncode, json.loads(report.read_text()), answer.stdout


@pytest.mark.slow
def test_a_storm_of_kills_loses_nothing_and_accepts_nothing_late(tmp_path: Path):
    kills, jobs = size("HOLDFAST_CHAOS_KILLS", 60), size("HOLDFAST_CHAOS_JOBS", 1_200)
    code, report, text = chaos(tmp_path, "--kills", kills, "--jobs", jobs, "--seconds", max(20, kills / 2))
    tell("chaos", {key: report[key] for key in ("seconds", "strikes", "happened", "wrong")})
    assert {what: count for what, count in report["wrong"].items() if count} == {}
    assert (code, report["passed"]) == (0, True)
    assert report["happened"]["jobs"] == jobs
    assert report["happened"]["kills"] > kills // 4
    assert "Nothing was lost" in text
    assert list(tmp_path.glob("holdfast-chaos-*")) == []


@pytest.mark.slow
def test_a_worker_without_the_fence_is_seen_to_fail(tmp_path: Path):
    """A storm that cannot see a fault proves nothing."""
    source = shutil.copytree(SOURCE, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    query = source / "holdfast" / "store" / "sqlite" / "sql" / "finish.sql"
    text = query.read_text()
    assert text.count(FENCE) == 1, "finish.sql has changed: say anew how its fence is removed"
    query.write_text(text.replace(FENCE, ""))
    for seed in range(5):  # chance may spare one storm
        folder = tmp_path / str(seed)
        folder.mkdir()
        weather = ("--kills", 60, "--jobs", 800, "--seconds", 15, "--stops", 0.8, "--slow", 0.3, "--workers", 3)
        code, report, _ = chaos(folder, *weather, "--seed", seed, source=source)
        if code:
            tell("chaos without a fence", report["wrong"])
            assert report["passed"] is False
            assert report["wrong"]["stale finishes accepted"] or report["wrong"]["illegal moves"]
            assert list(folder.glob("holdfast-chaos-*/jobs.db"))  # the evidence is kept
            return
    pytest.fail("the fence is gone, and no storm sees it")


def test_a_storm_asks_for_sensible_numbers():
    program = [sys.executable, "-m", "holdfast.cli", "chaos", "--kills", "0"]
    answer = subprocess.run(program, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "--kills" in answer.stderr
