"""The public surface is small, sorted, real and written down."""

from __future__ import annotations

import re

import pytest

import holdfast
from tests.house_rules.tree import DOCS


def documented_names() -> set[str]:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def test_the_public_names_are_sorted_and_few():
    assert list(holdfast.__all__) == sorted(set(holdfast.__all__))
    assert 0 < len(holdfast.__all__) <= 25


def test_every_public_name_can_be_resolved():
    assert [name for name in holdfast.__all__ if not hasattr(holdfast, name)] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = holdfast.no_such_name


def test_dir_shows_every_public_name():
    assert set(holdfast.__all__) <= set(dir(holdfast))


def test_the_reference_page_lists_exactly_the_public_names():
    assert documented_names() == set(holdfast.__all__)


def test_no_public_function_bears_the_name_of_a_module():
    package = DOCS.parent / "src" / "holdfast"
    modules = {path.stem for path in package.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert modules & set(holdfast.__all__) == set()
