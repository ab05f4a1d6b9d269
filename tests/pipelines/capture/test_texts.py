"""JSON without the package means what it means with it."""

from __future__ import annotations

import json
import math

import pytest

from holdfast_pipelines.capture.texts import dumps, loads

VALUES = [
    None, True, False, 0, -1, 10**30, 1.5, -0.0, 1e300, "", "a", "ü\u2028\U0001f600", "\ud83d", '"\\/\b\f\n\r\t\x00\x7f',
    [], {}, [1, [2, [None]]], {"a": {"b": ["c", {"d": 1.25}]}}, {"": ""}, [{"tool_name": "Bash", "status": "error"}],
]  # fmt: skip
BAD = [
    "", " ", "nul", "{", '{"a"', '{"a": 1,}', "[1,]", "[1] 2", '"\n"', '"\\x"', "'a'", "\ufeff{}", "{1: 2}", "01", "-",
    '{"a": 1} {"b": 2}', "[" * 50, "1" * 5_000, "tru e", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_written_and_read_as_elsewhere(value):
    text = json.dumps(value)
    assert dumps(value) == text
    for written in (text, json.dumps(value, ensure_ascii=False, indent=1), f" \t\r\n{text}\n"):
        assert loads(written) == json.loads(written) == value


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text[:12]))
def test_what_is_not_json_is_refused_as_elsewhere(text):
    for read in (json.loads, loads):
        with pytest.raises(ValueError, match=r"."):
            read(text)


def test_what_is_not_json_but_often_written_is_read_as_elsewhere():
    assert loads("[Infinity, -Infinity]") == [math.inf, -math.inf]
    assert math.isnan(loads("NaN"))
    assert loads('{"a": 1, "a": 2}') == {"a": 2}


def test_too_deep_a_text_and_a_value_without_a_form_are_refused():
    with pytest.raises(RecursionError):
        loads("[" * 100_000)
    with pytest.raises(TypeError, match="a set has no JSON form"):
        dumps({"a": {1}})
