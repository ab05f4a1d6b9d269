"""A file is one idea and a function does one thing: both have a wall."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house_rules.tree import SRC, TESTS, place, python_files, syntax

FILE_WALL = 400
FUNCTION_WALL = 50


def long_files(paths: list[Path]) -> list[str]:
    return [place(path) for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > FILE_WALL]


def long_functions(paths: list[Path]) -> list[str]:
    return [
        f"{place(path, node.lineno)} {node.name}"
        for path in paths
        for node in syntax(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION_WALL
    ]


def test_there_is_code_to_look_at():
    assert python_files(SRC)


def test_no_python_file_is_longer_than_400_lines():
    assert long_files(python_files(SRC, TESTS)) == []


def test_no_function_is_longer_than_50_lines():
    assert long_functions(python_files(SRC)) == []


@pytest.mark.parametrize(("lines", "found"), [(400, []), (401, ["sample.py"])])
def test_the_wall_for_files_stands_at_400_lines(tmp_path, lines, found):
    sample = tmp_path / "sample.py"
    sample.write_text("x = 1\n" * lines)
    assert long_files([sample]) == found


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(("lines", "found"), [(50, []), (51, ["sample.py:1 wide"])])
def test_the_wall_for_functions_stands_at_50_lines(tmp_path, kind, lines, found):
    sample = tmp_path / "sample.py"
    sample.write_text(f"{kind} wide():\n" + "    x = 1\n" * (lines - 1))
    assert long_functions([sample]) == found
