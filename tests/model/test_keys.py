from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import PayloadError
from holdfast.model.keys import content_key
from holdfast.model.request import check_name

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
)


@given(VALUES)
def test_the_same_content_has_the_same_key_in_any_order_of_its_fields(value):
    def turned(part):
        if isinstance(part, dict):
            return {name: turned(part[name]) for name in reversed(part)}
        return [turned(item) for item in part] if isinstance(part, list) else part

    key = content_key(value)
    assert re.fullmatch(r"[0-9a-f]{64}", key)
    assert check_name("key", key) == key
    assert content_key(turned(value)) == key


@given(VALUES, VALUES)
def test_other_content_has_another_key(one, other):
    assert (content_key(one) == content_key(other)) == (repr_of(one) == repr_of(other))


def repr_of(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{name!r}:{repr_of(value[name])}" for name in sorted(value)) + "}"
    return repr(value) if not isinstance(value, list) else "[" + ",".join(map(repr_of, value)) + "]"


def test_the_parts_of_a_key_are_kept_apart():
    assert content_key("a", "b") != content_key("ab")
    assert content_key("a", "b") != content_key("b", "a")
    assert content_key((1, 2)) == content_key([1, 2])


def test_a_key_with_a_nonce_cannot_be_guessed_without_it():
    keys = {content_key("a"), content_key("a", nonce="x"), content_key("a", nonce="y")}
    assert len(keys) == 3
    assert content_key("a", nonce=b"x") == content_key("a", nonce="x")


def test_content_that_is_no_json_has_no_key():
    with pytest.raises(PayloadError, match="content of a key"):
        content_key({"a": {1}})
