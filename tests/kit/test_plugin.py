"""The kit as a pytest plugin, in a project of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import holdfast

PROJECT = """
import holdfast
from holdfast.testing import drain

seen = []

def thumbnail(path: str) -> str:
    return path.upper()

def test_one(holdfast_app):
    handle = holdfast_app.job(thumbnail).enqueue(path="a")
    drain(holdfast_app)
    assert handle.result(timeout=0) == "A"
    seen.append(holdfast_app.url)

def test_two(holdfast_app, holdfast_clock):
    assert holdfast_app.jobs() == []
    assert holdfast_app.url not in seen
    before = holdfast_clock.now
    handle = holdfast_app.job(thumbnail).using(delay=3600).enqueue(path="a")
    assert drain(holdfast_app).ran == []
    holdfast_clock.advance(3600)
    assert drain(holdfast_app).ran == [handle.id]
    assert (holdfast_clock.now - before).total_seconds() == 3600
"""


# The plugin is named by hand below, so its entry point, if there is one, stays out.
OPTIONS = (
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-p",
    "no:asyncio",
    "-p",
    "no:holdfast",
    "-p",
    "holdfast.testing",
    "-W",
    "error",
)


def run_pytest(folder, *arguments):
    (folder / "test_project.py").write_text(PROJECT)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *OPTIONS, *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        | {"PYTHONPATH": str(Path(holdfast.__file__).parents[1])},
        capture_output=True,
        check=False,
        text=True,
    )


def test_a_project_that_names_the_plugin_gets_its_fixtures(tmp_path):
    run = run_pytest(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_project.py"]


def test_the_fixtures_explain_themselves(tmp_path):
    run = run_pytest(tmp_path, "--fixtures")
    assert "A clock that stands still until you move it." in run.stdout
    assert "holdfast_app" in run.stdout
