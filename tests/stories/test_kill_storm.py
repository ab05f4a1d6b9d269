"""kill -9 at random, and workers that wake up after their lease: nothing is lost, no late finish is accepted.

Full size: HOLDFAST_KILLS=2000 pytest -s tests/stories/test_kill_storm.py
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.stories.crew import SOURCE, Crew, size, tell
from tests.stories.kill_worker import Weather

FENCE = "lease_token = :token and "
SEEN = ("results of another token", "accepted without a move", "stale finishes accepted")

STORM = "tests.stories.kill_storm"

pytestmark = pytest.mark.slow


def test_a_storm_of_kills_loses_nothing_and_accepts_no_late_finish(tmp_path):
    kills = size("HOLDFAST_KILLS", 300)
    found = storm(tmp_path, SOURCE, Weather(kills, stop_share=0.1, jobs_each=16, slow_share=0.005))
    tell("kill storm", found)
    assert {name: count for name, count in found["wrong"].items() if count} == {}
    assert found["happened"]["jobs"] >= kills * 2
    assert found["happened"]["recovered"] > kills // 10
    assert found["happened"]["late finishes refused"] > 0


def test_without_the_fence_the_same_storm_is_seen_to_fail(tmp_path):
    source = shutil.copytree(SOURCE, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    remove_fence(source / "holdfast" / "store" / "sqlite" / "sql" / "finish.sql")
    for round_ in range(6):  # chance may spare one round
        folder = tmp_path / str(round_)
        folder.mkdir()
        found = storm(folder, source, Weather(120, stop_share=0.6, jobs_each=6, slow_share=0.5))
        tell("kill storm without a fence", found)
        if all(found["wrong"][name] for name in SEEN):
            return
    pytest.fail("the fence is gone, and the storm does not see it")


def storm(folder: Path, source: Path, weather: Weather) -> dict[str, Any]:
    with Crew(folder, source=source) as crew:
        crew.start(STORM, folder, json.dumps(weather))
        (found,) = crew.reports(seconds=180 + weather.kills / 10)
    return found


def remove_fence(query: Path) -> None:
    text = query.read_text()
    assert text.count(FENCE) == 1, "finish.sql has changed: say anew how its fence is removed"
    query.write_text(text.replace(FENCE, ""))
