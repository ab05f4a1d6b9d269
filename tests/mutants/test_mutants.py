"""The tests are tested: each seeded bug, put into a copy of the source, must turn the suite red."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "holdfast"
AT_ONCE = 2
ON_SQLITE, ON_POSTGRES = "not sqlite3 and not postgres", "postgres"
SHARE = 1 if os.environ.get("HOLDFAST_MUTANTS") == "all" else 13  # one in so many; `make chaos` plants them all
PATIENCE = 300  # seconds; a suite that did not end has not shown anything
MEMORY = Path("/dev/shm")  # noqa: S108  # many small files, none of them to be kept

_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)

# Cheapest first: most bugs fall to the first part.
PARTS = [
    [
        "tests/store",
        "tests/model",
        "--ignore=tests/store/sqlite",
        "--ignore=tests/store/postgres",
        "--ignore=tests/store/test_generated.py",
    ],
    ["tests/store/sqlite/test_file.py", "tests/store/postgres"],
    ["tests/store/test_generated.py"],
]


@pytest.fixture
def quick_folder():
    memory = str(MEMORY) if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="holdfast-") as folder:
        yield Path(folder)


@pytest.mark.slow
def test_no_seeded_bug_survives(quick_folder, capsys):
    unchanged = copy_of_the_source(quick_folder / "unchanged")
    place = run_python(unchanged, "-c", "import holdfast.model as model; print(model.__file__)")
    assert place.startswith(str(unchanged)), f"the tests would run against {place}"
    planted = MUTANTS[::SHARE]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sources = (copy_of_the_source(quick_folder / str(number)) for number in range(len(planted)))
        reports = list(pool.map(lambda source, mutant: judge(source, mutant, unchanged), sources, planted))
    width = max(len(mutant.name) for mutant in planted)
    with capsys.disabled():
        print(f"\n{'seeded bug':{width}}  seconds  caught by")  # noqa: T201
        for mutant, (killer, seconds) in zip(planted, reports, strict=True):
            print(f"{mutant.name:{width}}  {seconds:7.1f}  {killer or 'SURVIVED'}")  # noqa: T201
    assert [mutant.name for mutant, (killer, _) in zip(planted, reports, strict=True) if not killer] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_seeded_bug_still_fits_the_source(mutant):
    assert (SOURCE / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new


def copy_of_the_source(folder: Path) -> Path:
    shutil.copytree(SOURCE, folder / "holdfast", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def judge(source: Path, mutant: Mutant, unchanged: Path) -> tuple[str | None, float]:
    """Which test notices the bug, and after how many seconds."""
    which = ON_POSTGRES if "store/postgres" in mutant.file else ON_SQLITE
    file = source / "holdfast" / mutant.file
    text = file.read_text(encoding="utf-8")
    assert mutant.old in text, f"{mutant.name}: {mutant.file} has changed"
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    started = monotonic()
    killers = (killer for part in PARTS for killer in failing(source, which, part, unchanged))
    return next(killers, None), monotonic() - started


def failing(source: Path, which: str, part: list[str], unchanged: Path) -> Iterator[str]:
    """Tests of a part that fail with the seeded bug, and pass without it: any other says nothing about it."""
    known: list[str] = []
    while found := _FAILED.search(run(source, "-k", which, "-x", *(f"--deselect={name}" for name in known), *part)):
        known.append(found[1])
        if " passed" in (said := run(unchanged, found[1])) and not _FAILED.search(said):
            yield found[1]


def run(source: Path, *options: str) -> str:
    settings = [
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-p",
        "no:xdist",
        f"--basetemp={source / secrets.token_hex(4)}",
    ]
    return run_python(source, "-m", "pytest", *settings, "-m", "not slow", *options)


def run_python(source: Path, *arguments: str) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOLDFAST_EXAMPLES": "150",
        "HOLDFAST_SEED": "1",
        "HOLDFAST_SHRINK": "0",
        "COLUMNS": "1000",
    }
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_", "COVERAGE_"))]:
        del environment[name]
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            return process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return f"no answer within {PATIENCE} seconds"
