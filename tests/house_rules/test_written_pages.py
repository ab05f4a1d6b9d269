"""What is promised in prose is checked like code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.house_rules.tree import DOCS, ROOT, place, project_files

GENERATOR = ROOT / "tools" / "generate_docs.py"
DECISIONS = DOCS / "decisions"
PROMISED = {"run", "demo", "test", "check", "bench", "chaos", "docs", "lock", "help"}
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def decision_pages() -> list[str]:
    return sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))


def broken_links(pages) -> list[str]:
    return [
        f"{place(page)} -> {target}"
        for page in pages
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]


def test_the_makefile_has_every_promised_target():
    assert make_targets() >= PROMISED


def test_every_make_target_is_explained():
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    assert [target for target in sorted(make_targets()) if f"`make {target}`" not in text] == []


def test_make_help_lists_every_target():
    answer = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, check=True, text=True)
    assert set(re.findall(r"make ([a-z]+)", answer.stdout)) >= make_targets()


def test_contributing_is_shorter_than_150_lines():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) < 150


def test_the_changelog_has_an_unreleased_section():
    assert re.search(r"^## \[Unreleased\]$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_decision_pages_are_numbered_without_gaps():
    numbers = [int(name.split("-")[0]) for name in decision_pages()]
    assert numbers
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_decision_page_is_linked_from_the_list_of_decisions():
    listing = (DECISIONS / "README.md").read_text(encoding="utf-8")
    assert [name for name in decision_pages() if f"]({name})" not in listing] == []


@pytest.mark.parametrize("part", ["## Context", "## Decision", "## Consequences", "## Alternatives"])
def test_every_decision_page_has_its_four_parts(part):
    missing = [name for name in decision_pages() if part not in (DECISIONS / name).read_text(encoding="utf-8")]
    assert missing == []


def test_a_decision_fits_on_one_page():
    long = [name for name in decision_pages() if len((DECISIONS / name).read_text().splitlines()) > 60]
    assert long == []


def test_links_between_pages_lead_somewhere():
    assert broken_links([path for path in project_files() if path.suffix == ".md"]) == []


def test_the_rule_sees_a_broken_link(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[gone](gone.md) [here](page.md#part) [out](https://example.org/x)")
    assert broken_links([page]) == ["page.md -> gone.md"]


def test_the_generated_pages_are_current():
    answer = subprocess.run(
        [sys.executable, str(GENERATOR), "--check"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    assert answer.returncode == 0, answer.stderr


def test_the_generator_sees_a_stale_page_and_mends_it(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    shutil.copy(GENERATOR, tools)
    program = [sys.executable, str(tools / GENERATOR.name)]

    stale = subprocess.run([*program, "--check"], capture_output=True, check=False, text=True)
    written = subprocess.run(program, capture_output=True, check=False, text=True)
    current = subprocess.run([*program, "--check"], capture_output=True, check=False, text=True)

    assert (stale.returncode, written.returncode, current.returncode) == (1, 0, 0)
    assert "docs/lifecycle.md is stale" in stale.stderr
    assert "stateDiagram-v2" in (tmp_path / "docs" / "lifecycle.md").read_text(encoding="utf-8")


def test_the_generator_refuses_an_unknown_option():
    answer = subprocess.run([sys.executable, str(GENERATOR), "--chek"], capture_output=True, check=False)
    assert answer.returncode == 2
