"""The tests are tested: each seeded bug, put into a copy of the source, must turn the suite red."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "holdfast"
SUITE = ["tests/store", "tests/model"]
BY_NAME = ["not slow and not sqlite3 and not plans and not claim_cost and not disk and not log and not schema and not location"]
AT_ONCE = 2


@pytest.mark.slow
def test_no_seeded_bug_survives(tmp_path, capsys):
    known = failing(copy_of_the_source(tmp_path / "unchanged"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        reports = list(pool.map(lambda numbered: judge(tmp_path / str(numbered[0]), numbered[1], known), enumerate(MUTANTS)))
    width = max(len(mutant.name) for mutant in MUTANTS)
    with capsys.disabled():
        print(f"\n{'seeded bug':{width}}  seconds  caught by")  # noqa: T201
        for mutant, (killer, seconds) in zip(MUTANTS, reports, strict=True):
            print(f"{mutant.name:{width}}  {seconds:7.1f}  {killer or 'SURVIVED'}")  # noqa: T201
    assert [mutant.name for mutant, (killer, _) in zip(MUTANTS, reports, strict=True) if not killer] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_seeded_bug_still_fits_the_source(mutant):
    assert (SOURCE / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new


def copy_of_the_source(folder: Path) -> Path:
    shutil.copytree(SOURCE, folder / "holdfast", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def judge(folder: Path, mutant: Mutant, known: list[str]) -> tuple[str | None, float]:
    """Which test notices the bug, and after how many seconds."""
    source = copy_of_the_source(folder)
    file = source / "holdfast" / mutant.file
    file.write_text(file.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
    started = monotonic()
    output = run(source, "-x", *(f"--deselect={name}" for name in known))
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", output, re.MULTILINE)
    return found and found[1], monotonic() - started


def failing(source: Path) -> list[str]:
    """Tests that fail without any seeded bug say nothing about one."""
    place = run_python(source, "-c", "import holdfast.model as model; print(model.__file__)")
    assert place.startswith(str(source)), f"the tests would run against {place}"
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", run(source), re.MULTILINE)


def run(source: Path, *options: str) -> str:
    settings = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-k", *BY_NAME]
    return run_python(source, "-m", "pytest", *settings, *options, *SUITE)


def run_python(source: Path, *arguments: str) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOLDFAST_EXAMPLES": "150",
        "HOLDFAST_SEED": "1",
        "COLUMNS": "1000",
    }
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_", "COVERAGE_"))]:
        del environment[name]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    return done.stdout + done.stderr
