from __future__ import annotations

import json
import math
from collections import OrderedDict
from datetime import UTC, datetime
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import PayloadError
from holdfast.model.payload import DEPTH_LIMIT, SIZE_LIMIT, decode, encode

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))


def code_of(call):
    with pytest.raises(PayloadError) as caught:
        call()
    str(caught.value).encode()  # the message itself can be printed
    assert len(str(caught.value)) < 1_000
    return caught.value.code


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@given(VALUES)
def test_a_value_comes_back_identical(value):
    text = encode(value)
    back = decode(text)
    assert repr(back) == repr(value)
    assert decode(text.encode()) == back
    assert encode(back) == text


@given(VALUES)
def test_stored_text_is_strict_json_on_one_line(value):
    text = encode(value)
    assert "\n" not in text
    assert "\0" not in text
    assert json.loads(text, parse_constant=pytest.fail) == value


class Colour(IntEnum):
    RED = 1


class Name(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, "\ud800", "a\udfff", {"\ud800": 1}, {"a": ["\udc80"]}, (1, 2), {1, 2}, b"x", {1: 2},
        {None: 1}, {True: 1}, {b"x": 1}, {(1, 2): 3}, object(), datetime.now(UTC), Colour.RED, Name("x"), OrderedDict(),
        10**5000, -(10**4400), [math.nan], {"a": {"b": math.inf}}, bytearray(), 1j, range(3), ..., Exception("x"), {"a": (1,)},
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_value_without_a_strict_form_is_refused(value):
    assert code_of(lambda: encode(value)) == "PAYLOAD_NOT_JSON"


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        5e-324,
        1.7976931348623157e308,
        2**63,
        -(2**64),
        10**4000,
        "\x00",
        "\u2028",
        "\x7f",
        "\U0010ffff",
        "",
        [],
        {},
        {"": 0},
    ],
    ids=lambda value: type(value).__name__,
)
def test_odd_values_that_json_can_hold_come_back_identical(value):
    assert repr(decode(encode(value))) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "nul", "[1,]", "{'a':1}", "NaN", "[Infinity]", "-Infinity", '{"a":NaN}', '{"a":1,"a":1}', '[{"x":{"a":1,"a":2}}]',
        '"\\ud800"', '{"\\udfff":1}', "1e400", "-1e400", "[1] 2", "\ufeff1", "9" * 5000, '"a\nb"', "01", "+1", b"\xff\xfe", b'"\xed\xa0\x80"',
    ],
    ids=lambda text: repr(text)[:12],
)  # fmt: skip
def test_text_from_outside_that_is_not_strict_is_refused(text):
    assert code_of(lambda: decode(text)) == "PAYLOAD_NOT_JSON"


def test_depth_is_bounded_at_64():
    assert decode(encode(nested(DEPTH_LIMIT))) == nested(DEPTH_LIMIT)
    assert code_of(lambda: encode(nested(DEPTH_LIMIT + 1))) == "PAYLOAD_TOO_DEEP"
    assert code_of(lambda: decode("[" * 65 + "]" * 65)) == "PAYLOAD_TOO_DEEP"
    assert code_of(lambda: encode({"a": nested(DEPTH_LIMIT)})) == "PAYLOAD_TOO_DEEP"


@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_any_depth_is_refused_and_never_crashes(depth):
    assert code_of(lambda: encode(nested(depth))) == "PAYLOAD_TOO_DEEP"
    assert code_of(lambda: decode("[" * depth + "]" * depth)) == "PAYLOAD_TOO_DEEP"


def test_text_that_is_too_deep_to_be_read_is_told_in_our_words():
    with pytest.raises(PayloadError, match=r"^payload is nested deeper than 64 levels: flatten it$"):
        decode("[" * 100_000 + "]" * 100_000)


def test_a_value_that_holds_itself_is_refused():
    loop: list[object] = []
    loop.append(loop)
    assert code_of(lambda: encode(loop)) == "PAYLOAD_TOO_DEEP"


@pytest.mark.parametrize("letter", ["x", "é", "€", "\U0001f600"])
def test_the_size_limit_is_exact_and_counts_bytes(letter):
    width = len(letter.encode())
    fits = letter * ((SIZE_LIMIT - 2) // width)
    fits += "x" * (SIZE_LIMIT - 2 - len(fits.encode()))
    assert len(encode(fits).encode()) == SIZE_LIMIT
    assert code_of(lambda: encode(fits + "x")) == "PAYLOAD_TOO_LARGE"
    assert decode(f'"{fits}"'.encode()) == fits
    assert code_of(lambda: decode(f'"{fits}x"'.encode())) == "PAYLOAD_TOO_LARGE"


def test_the_size_of_text_from_outside_counts_bytes_too():
    assert code_of(lambda: decode(f'"{"é" * (SIZE_LIMIT - 100)}"')) == "PAYLOAD_TOO_LARGE"


def test_a_limit_can_be_chosen_and_the_message_names_it():
    assert encode("abc", limit=5) == '"abc"'
    with pytest.raises(PayloadError, match=r"result has 6 bytes, the limit is 5"):
        encode("abcd", what="result", limit=5)


def test_a_message_names_the_field():
    with pytest.raises(PayloadError, match=r"payload\.a\.b is a set"):
        encode({"a": {"b": {1}}})
    with pytest.raises(PayloadError, match=r"payload\.a: key 1 must be text"):
        encode({"a": {1: 2}})


def test_a_very_long_path_is_cut():
    value: object = {1}
    for _ in range(60):
        value = {"k" * 50: value}
    assert code_of(lambda: encode(value)) == "PAYLOAD_NOT_JSON"


def test_a_key_that_cannot_be_printed_is_refused_all_the_same():
    assert code_of(lambda: encode({10**5000: 1})) == "PAYLOAD_NOT_JSON"
