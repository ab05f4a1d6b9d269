"""Every Python block of the README and the guides is run: a page's blocks in order, in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import holdfast
from tests.servers.postgres import server

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATABASE = "DATABASE_URL"  # a page that reads it is given a database of PostgreSQL
OURS = {"demo", "dev"}  # extras for those who work on Holdfast
PLUGIN = (
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
)


def program_of(page: Path) -> str:
    """The page's blocks as one program, each at the line where it stands, so that an error names the page's line."""
    text = page.read_text(encoding="utf-8")
    program = ""
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        program += "\n" * (line - program.count("\n")) + block[1]
    return program


def run_page(page: Path, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the page's program; where it holds tests, run those."""
    program = program_of(page)
    script = folder / f"test_{page.stem.replace('-', '_')}.py"
    script.write_text(program, encoding="utf-8")
    tests = ["-m", "pytest", "-q", *PLUGIN] if re.search(r"^(async )?def test_", program, re.MULTILINE) else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST", "PYTEST"))}
    return subprocess.run(
        [sys.executable, "-W", "error", *tests, script.name],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(Path(holdfast.__file__).parents[1])} | settings,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page, tmp_path):
    if DATABASE not in program_of(page):
        run = run_page(page, tmp_path)
    else:
        url = server().migrated()
        run = run_page(page, tmp_path, **{DATABASE: url})
        server().drop(url)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_examples(page):
    assert program_of(page).strip()


def test_a_broken_example_is_seen_at_its_own_line(tmp_path):
    page = tmp_path / "broken.md"
    page.write_text("# Broken\n\n```python\nx = 1\n```\n\nAnd then:\n\n```python\nassert x == 2\n```\n")
    run = run_page(page, tmp_path)
    assert run.returncode != 0
    assert "line 10" in run.stderr


def test_a_broken_test_of_a_page_is_seen(tmp_path):
    page = tmp_path / "broken.md"
    page.write_text("```python\ndef test_it(holdfast_app):\n    assert holdfast_app.jobs() == [1]\n```\n")
    assert run_page(page, tmp_path).returncode == 1


def test_the_readme_enqueues_by_name_into_the_queue_of_its_handler():
    """In a process that has not imported the handler, as the page says."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = re.search(r"@app\.job\((queue=.*?, max_attempts=\d+)", text)
    by_name = re.search(r'`app\.enqueue\("thumbnail", \{.*?\}(?:, )?(.*?)\)`', text)
    assert settings
    assert by_name
    assert by_name[1] == settings[1]


def test_every_extra_for_users_stands_in_the_table():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table = (
        (ROOT / "docs" / "guides" / "getting-started.md").read_text(encoding="utf-8").partition("| extra | for |")[2]
    )
    rows = table.partition("\n\n")[0].splitlines()[2:]
    named = {name for row in rows for name in re.findall(r"`([a-z]+)`", row.split("|")[1])}
    assert named == set(project["project"]["optional-dependencies"]) - OURS
