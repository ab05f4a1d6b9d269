"""What the layer contract cannot say: pipelines are built on the public names alone."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from tests.house_rules.tree import ROOT, SRC, place, python_files, syntax

PIPELINES = SRC / "holdfast_pipelines"


def reaching_below(paths: list[Path]) -> list[str]:
    """Imports of a module inside holdfast."""
    return [
        place(path, node.lineno)
        for path in paths
        for node in syntax(path)
        if any(name.startswith("holdfast.") for name in imported(node))
    ]


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module or ""]
    return []


def test_pipelines_import_the_public_package_alone():
    assert reaching_below(python_files(PIPELINES)) == []


def test_the_layer_contract_names_every_module_and_ignores_nothing():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = [contract for contract in settings["contracts"] if contract["type"] == "layers"]
    assert layers["exhaustive"] is True
    assert not [key for contract in settings["contracts"] for key in contract if "ignore" in key]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import holdfast", []),
        ("from holdfast import App", []),
        ("import holdfast.engine.jobs", ["sample.py:1"]),
        ("from holdfast.store import port", ["sample.py:1"]),
    ],
)
def test_the_rule_sees_an_import_below_the_public_package(tmp_path, line, found):
    sample = tmp_path / "sample.py"
    sample.write_text(line)
    assert reaching_below([sample]) == found
