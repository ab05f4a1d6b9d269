"""A type checker sees the API as it is: right calls pass, wrong calls are errors at their own line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SAMPLE = HERE / "typing_api.py"
CONTEXT_IS_FILLED_IN = "send.enqueue(to="


def expected_errors() -> set[tuple[int, str]]:
    lines = enumerate(SAMPLE.read_text(encoding="utf-8").splitlines(), start=1)
    return {(number, match[1]) for number, line in lines if (match := re.search(r"# error: ([\w-]+)$", line))}


@pytest.fixture(scope="module")
def found_errors(tmp_path_factory) -> set[tuple[int, str]]:
    cache = tmp_path_factory.mktemp("mypy")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(cache), str(SAMPLE)],
        cwd=HERE.parents[1],
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = re.findall(rf"^.*{SAMPLE.name}:(\d+): error: .*\[([\w-]+)\]$", run.stdout, re.MULTILINE)
    return {(int(line), code) for line, code in found}


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SAMPLE.read_text().splitlines(), start=1) if text in line)


def test_wrong_calls_are_errors_and_right_calls_are_not(found_errors):
    context_line = line_of(CONTEXT_IS_FILLED_IN)
    assert {error for error in found_errors if error[0] != context_line} == expected_errors()


def test_a_handler_with_a_context_is_enqueued_without_it(found_errors):
    assert [error for error in found_errors if error[0] == line_of(CONTEXT_IS_FILLED_IN)] == []
