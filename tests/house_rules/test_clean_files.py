"""The project carries nothing of the machine it was written on, and nothing unfinished."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.house_rules.tree import ROOT, place, project_files

# A letter in brackets keeps each pattern from finding itself.
MACHINE = re.compile(
    r"/ro[o]t/|/ho[m]e/[a-z]|/Us[e]rs/|/wo[r]k/(?:main|shared)|/o[p]t/(?:pypi|wheels)"
    r"|pyp[i]\.org|python[h]osted\.org|devp[i]|artif[a]ctory"
    r"|--(?:extra-)?index-u[r]l[ =]|--find-lin[k]s"
)
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b")
BINARY = {".png", ".ico", ".woff2", ".gz", ".db"}


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        place(path, number)
        for path in paths
        if path.suffix not in BINARY
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_file_names_a_machine_path_or_a_registry():
    assert lines_with(MACHINE, project_files()) == []


def test_no_file_names_the_folder_of_this_checkout():
    if len(ROOT.parts) < 3:
        pytest.skip("the checkout lies at the top of the file system")
    assert lines_with(re.compile(re.escape(str(ROOT)) + r"\b"), project_files()) == []


def test_no_file_carries_an_unfinished_note():
    assert lines_with(UNFINISHED, project_files()) == []


def locked(name: str) -> dict[str, set[str]]:
    """Each package of a lock file as it is asked for, with its hashes."""
    lock = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE | re.IGNORECASE)[1:]
    return {e.splitlines()[0].rstrip(" \\"): set(re.findall(r"--hash=(sha256:\w+)", e)) for e in entries}


@pytest.mark.parametrize("name", ["lock.txt", "run.txt"])
def test_every_locked_package_has_an_exact_version_and_a_hash(name):
    entries = locked(name)
    assert entries
    wrong = [asked for asked, hashes in entries.items() if not re.match(r"\S+==\S+", asked) or not hashes]
    assert wrong == []


def test_what_the_demo_needs_is_part_of_what_the_tests_need():
    """So that `make test` after `make run` adds packages, and changes none."""
    name_and_version = re.compile(r"\S+")
    every = {name_and_version.match(asked)[0]: hashes for asked, hashes in locked("lock.txt").items()}
    few = {name_and_version.match(asked)[0]: hashes for asked, hashes in locked("run.txt").items()}
    assert few.items() <= every.items()
    assert len(few) < len(every) / 2


def test_every_direct_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in asked} - {project["name"]}
    assert names - {entry.partition("==")[0] for entry in locked("lock.txt")} == set()


@pytest.mark.parametrize(
    "line",
    ["see /ro" + "ot/x", "/ho" + "me/someone", "https://pyp" + "i.org/simple", "--index-u" + "rl https://x"],
)
def test_the_rule_sees_a_trace_of_a_machine(tmp_path, line):
    sample = tmp_path / "sample.md"
    sample.write_text(f"first\n{line}\n")
    assert lines_with(MACHINE, [sample]) == ["sample.md:2"]


def test_the_rule_sees_an_unfinished_note(tmp_path):
    sample = tmp_path / "sample.py"
    sample.write_text("# TO" + "DO: later\n")
    assert lines_with(UNFINISHED, [sample]) == ["sample.py:1"]
