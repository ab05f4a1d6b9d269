"""Every error code is explained, and every code that is used exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from holdfast.model import errors
from tests.house_rules.tree import DOCS, SRC, place, python_files, syntax

RAISED = {
    name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, errors.HoldfastError)
}


def unknown_codes(paths: list[Path]) -> list[str]:
    """Errors made with a literal code that CODES does not explain."""
    return [
        f"{place(path, node.lineno)} {node.args[0].value}"
        for path in paths
        for node in syntax(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name | ast.Attribute)
        and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) in RAISED
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value not in errors.CODES
    ]


def test_every_code_has_an_explanation_of_one_line():
    assert errors.CODES
    assert [code for code, text in errors.CODES.items() if not text.strip() or "\n" in text] == []


def test_codes_are_written_in_capitals():
    assert [code for code in errors.CODES if not re.fullmatch(r"[A-Z][A-Z_]+", code)] == []


def test_every_code_stands_on_the_reference_page():
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert [code for code in errors.CODES if f"| `{code}` |" not in page] == []


def test_every_code_in_use_is_explained():
    assert unknown_codes(python_files(SRC)) == []


def test_the_rule_sees_a_code_without_an_explanation(tmp_path):
    sample = tmp_path / "sample.py"
    sample.write_text("raise BadInput('NO_SUCH_CODE', 'text')\nraise errors.NotFound('JOB_NOT_FOUND', 'text')\n")
    assert unknown_codes([sample]) == ["sample.py:1 NO_SUCH_CODE"]
