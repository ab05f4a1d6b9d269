"""Closing any handle on a database file drops the process's POSIX locks on it, even one opened only to look.

SQLite then lets a second writer in. So the store never opens a file by path. The one exception makes a new,
empty file with the right mode: O_EXCL proves that nobody can have had it open.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house_rules.tree import STORE, place, python_files, syntax

OPENERS = {"io", "os", "codecs", "builtins"}


def opened_by_path(paths: list[Path]) -> list[str]:
    return [
        place(path, node.lineno)
        for path in paths
        for node in syntax(path)
        if isinstance(node, ast.Call) and opens(node) and not makes_a_new_file(node, path)
    ]


def opens(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id=module), attr="open" | "fdopen"):
            return module in OPENERS
        case ast.Attribute(value=ast.Call(func=ast.Name(id="Path")), attr="open" | "touch"):
            return True
        case _:
            return False


def makes_a_new_file(call: ast.Call, path: Path) -> bool:
    text = ast.unparse(call)
    if path.name == "location.py":
        return text.startswith("os.open(mounts,")  # the kernel's list of mounts, no database
    return path.name == "connection.py" and text.startswith("os.open(") and "O_EXCL" in text


def test_the_store_opens_no_file_by_path():
    assert python_files(STORE), "there is no store to look at"
    assert opened_by_path(python_files(STORE)) == []


@pytest.mark.parametrize(
    "line",
    [
        "open('a.db')",
        "io.open('a.db')",
        "os.open('a.db', os.O_RDONLY)",
        "Path('a.db').open()",
        "Path('a').touch()",
    ],
)
def test_the_rule_sees_a_file_opened_by_path(tmp_path, line):
    sample = tmp_path / "connection.py"
    sample.write_text(line)
    assert opened_by_path([sample]) == ["connection.py:1"]


@pytest.mark.parametrize(("name", "found"), [("connection.py", []), ("store.py", ["store.py:1"])])
def test_only_the_connection_module_may_make_a_new_file(tmp_path, name, found):
    sample = tmp_path / name
    sample.write_text("os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)")
    assert opened_by_path([sample]) == found
