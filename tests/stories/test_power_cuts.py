"""Power cuts: what a caller was promised is on the disk, and the file is whole, wherever the cut falls.

Full size: HOLDFAST_POWER_CUTS=20000 pytest -s tests/stories/test_power_cuts.py
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import apsw
import pytest

from tests.stories.crew import Crew, size, tell
from tests.stories.disk import Disk, write_image
from tests.stories.recording import Kind, Step, build_recorder, read_steps, recorded_environment

CUTS_PER_RECORDING = 2_000
COUNTED = ("cuts", "promises", "checkpointed pages", "corrupt", "cuts that lost a promise", "worst")

WORKER = "tests.stories.power_worker"

pytestmark = pytest.mark.slow


def test_no_power_cut_loses_a_promise_or_harms_the_file(tmp_path):
    cuts = size("HOLDFAST_POWER_CUTS", 2_000)
    found = cut_many_times(tmp_path, cuts, settings="", seed=1)
    tell("power cuts, synchronous=full", found)
    assert found["promises"] > 500
    assert found["checkpointed pages"] > 100
    assert (found["corrupt"], found["cuts that lost a promise"]) == (0, 0)


def test_the_same_cuts_do_lose_promises_when_commits_are_not_synced(tmp_path):
    cuts = size("HOLDFAST_POWER_CUTS", 2_000) // 4
    found = cut_many_times(tmp_path, cuts, settings="?synchronous=normal", seed=2)
    tell("power cuts, synchronous=normal", found)
    assert found["corrupt"] == 0
    assert found["cuts that lost a promise"] > cuts // 10


def test_a_disk_that_ignores_syncs_is_seen_to_harm_the_file(tmp_path):
    steps = record(tmp_path / "recording", build_recorder(tmp_path), "", seed=3)
    believed = [step for step in steps if step.kind is not Kind.SYNC_ENDS or not step.name]
    total = dict.fromkeys(COUNTED, 0)
    judge_cuts(believed, 200, random.Random(3), tmp_path / "image", total)
    tell("power cuts, syncs ignored", total)
    assert total["corrupt"] > 20


def cut_many_times(folder: Path, cuts: int, *, settings: str, seed: int) -> dict[str, float]:
    library = build_recorder(folder)
    total = dict.fromkeys(COUNTED, 0)
    begun = time.monotonic()
    for number in range(0, cuts, CUTS_PER_RECORDING):
        steps = record(folder / f"recording-{number}", library, settings, seed=seed + number)
        total["promises"] += sum(step.kind is Kind.PROMISE for step in steps)
        total["checkpointed pages"] += sum(step.kind is Kind.WRITE and step.name == "jobs.db" for step in steps)
        chance = random.Random(f"{seed} {number}")
        judge_cuts(steps, min(CUTS_PER_RECORDING, cuts - number), chance, folder / f"image-{number}", total)
    return total | {"seconds": round(time.monotonic() - begun, 1)}


def record(folder: Path, library: Path, settings: str, *, seed: int) -> list[Step]:
    """Two crews of three processes, one after the other, so that the log is also deleted and made anew."""
    disk, log = folder / "disk", folder / "log"
    disk.mkdir(parents=True)
    log.touch()
    environment = recorded_environment(library, disk.resolve(), log)
    for shift in range(2):
        with Crew(folder) as crew:
            for number in range(3):
                url = f"sqlite:///{disk.resolve()}/jobs.db{settings}"
                crew.start(WORKER, url, log, 60, seed * 10 + shift * 3 + number + 1, environment=environment)
            crew.reports(seconds=120)
    return read_steps(log)


def judge_cuts(steps: list[Step], cuts: int, chance: random.Random, folder: Path, total: dict[str, int]) -> None:
    folder.mkdir()
    disk, promised, at = Disk(), {}, 0
    for point in sorted(chance.choices(range(len(steps) + 1), k=cuts)):
        for step in steps[at:point]:
            disk.follow(step)
            if step.kind is Kind.PROMISE:
                job_id, _, result = step.data.decode().partition(" ")
                promised[job_id] = result or promised.get(job_id, "")  # one may finish it before another has its answer
        at = point
        write_image(disk.cut(chance), folder)
        whole, lost = judge(folder / "jobs.db", promised)
        total["cuts"] += 1
        total["corrupt"] += not whole
        total["cuts that lost a promise"] += lost > 0
        total["worst"] = max(total["worst"], lost)


def judge(path: Path, promised: dict[str, str]) -> tuple[bool, int]:
    """Whether the file is whole, and how many promises it does not keep."""
    if not path.exists():
        return True, len(promised)
    connection = apsw.Connection(str(path))
    try:
        connection.execute("pragma synchronous=off")  # an image needs no disk
        whole = connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        there = connection.execute("select 1 from sqlite_master where name = 'job_queue'").fetchone()
        rows = connection.execute("select id, status, result from job_queue").fetchall() if there else []
    except apsw.Error:
        return False, len(promised)
    finally:
        connection.close()
    found = {job_id: (status, result) for job_id, status, result in rows}
    return whole, sum(not kept(found.get(job_id), result) for job_id, result in promised.items())


def kept(row: tuple[str, str] | None, result: str) -> bool:
    """A promised job is there; a promised result is there, and the job is completed."""
    return row is not None and (not result or row == ("completed", result))
