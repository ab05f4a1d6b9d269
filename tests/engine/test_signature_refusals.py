"""What does not fit is refused when it is enqueued; the error names the field and never shows the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest
from pydantic import BaseModel, Field

from holdfast.engine.signature import Signature
from holdfast.model.errors import BadInput, PayloadError
from holdfast.worker.context import JobContext

SECRET = "hunter2"  # noqa: S105  # a sample value


class Measure(BaseModel):
    value: float


@dataclass
class Point:
    x: float


def thumbnail(path: str, width: int = 200, ratio: float = 1.0, extra: Any = None): ...


def refusal(function, *args, **kwargs):
    known = Signature(function, JobContext)
    with pytest.raises(PayloadError) as caught:
        known.dump(args, kwargs)
    with pytest.raises(PayloadError) as among_others:
        known.dump_all([(args, kwargs)])
    assert (among_others.value.code, str(among_others.value)) == (caught.value.code, str(caught.value))
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize(
    ("payload", "field", "reason"),
    [
        ({}, "path", "Field required"),
        ({"path": "a", "wdith": SECRET}, "wdith", "no such parameter; did you mean width?"),
        ({"path": "a", "colour": SECRET}, "colour", "no such parameter; it takes extra, path, ratio, width"),
        ({"path": "a", "priority": SECRET}, "priority", "it is an option: thumbnail.using(priority=...).enqueue(...)"),
        ({"path": "a", "width": SECRET}, "width", "valid integer"),
        ({"path": 7}, "path", "valid string"),
        ({"path": None}, "path", "valid string"),
        ({"path": "a", "width": 1.5}, "width", "fractional part"),
        ({"path": "a", "ratio": SECRET}, "ratio", "valid number"),
    ],
)
def test_a_wrong_field_is_named(payload, field, reason):
    code, message = refusal(thumbnail, **payload)
    assert code == "PAYLOAD_INVALID"
    assert f"payload does not fit thumbnail: {field}: " in message
    assert reason in message


@pytest.mark.parametrize(
    "payload",
    [
        {"path": "a", "width": SECRET},
        {"path": "a", "ratio": SECRET},
        {"path": [SECRET]},
        {"path": "a", SECRET[:3]: SECRET},
        {"path": SECRET, "extra": object()},
        {"path": SECRET + "\ud800"},
    ],
)
def test_the_value_itself_is_never_shown(payload):
    _, message = refusal(thumbnail, **payload)
    assert SECRET not in message


def test_a_field_deep_inside_is_named_by_its_path():
    def handler(measures: list[Measure]): ...

    _, message = refusal(handler, measures=[{"value": 1}, {"value": "much"}])
    assert "measures.1.value: " in message


def test_at_most_five_faults_are_told():
    def handler(a: int, b: int, c: int, d: int, e: int, f: int, g: int): ...  # noqa: PLR0917  # the sample needs them

    _, message = refusal(handler)
    assert message.count("Field required") == 5
    assert message.endswith("; and 2 more")


def nested(depth):
    return reduce(lambda value, _: [value], range(depth), 1)


def circular():
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (math.nan, "PAYLOAD_NOT_JSON"),
        ([math.inf], "PAYLOAD_NOT_JSON"),
        ({"a": {"b": -math.inf}}, "PAYLOAD_NOT_JSON"),
        (object(), "PAYLOAD_NOT_JSON"),
        (lambda: None, "PAYLOAD_NOT_JSON"),
        (b"\xff", "PAYLOAD_NOT_JSON"),
        ("\ud800", "PAYLOAD_NOT_JSON"),
        ({"\udfff": 1}, "PAYLOAD_NOT_JSON"),
        (10**5_000, "PAYLOAD_NOT_JSON"),
        ({1: "a", "1": "b"}, "PAYLOAD_NOT_JSON"),
        (circular(), "PAYLOAD_NOT_JSON"),
        (nested(65), "PAYLOAD_TOO_DEEP"),
        ("x" * 300_000, "PAYLOAD_TOO_LARGE"),
    ],
    ids=[
        "nan", "inf in a list", "inf in a dict", "object", "function", "bytes", "surrogate", "surrogate key",
        "integer of 5,000 digits", "two keys that become one", "circular", "deep", "large",
    ],
)  # fmt: skip
def test_a_value_that_has_no_strict_json_form_is_refused(value, code):
    assert refusal(thumbnail, path="a", extra=value)[0] == code


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "where", ["plain", "list", "model", "dataclass", "optional", "union", "tuple", "set", "subclass"]
)
def test_a_number_json_does_not_have_is_refused_wherever_it_stands(number, where):
    def plain(x: float): ...
    def in_list(x: list[float]): ...
    def in_model(x: Measure): ...
    def in_dataclass(x: Point): ...
    def optional(x: float | None): ...
    def union(x: float | str): ...
    def anything(x: Any): ...

    class Metres(float): ...

    handler, value = {
        "plain": (plain, number),
        "list": (in_list, [1.0, number]),
        "model": (in_model, Measure(value=number)),
        "dataclass": (in_dataclass, Point(number)),
        "optional": (optional, number),
        "union": (union, number),
        "tuple": (anything, (1, {"a": (number,)})),
        "set": (anything, {number}),
        "subclass": (anything, Metres(number)),
    }[where]
    code, _ = refusal(handler, x=value)
    assert code in {"PAYLOAD_NOT_JSON", "PAYLOAD_INVALID"}


def test_a_stored_payload_is_checked_again_before_the_run():
    known = Signature(thumbnail, JobContext)
    for text in ('{"path":7}', "{}", "[]", "null", "{", '{"path":"a","old":1}'):
        with pytest.raises(PayloadError) as caught:
            known.load(text)
        assert caught.value.code == ("PAYLOAD_NOT_JSON" if text == "{" else "PAYLOAD_INVALID")


def test_too_many_positional_arguments_are_refused_with_the_names_there_are():
    assert refusal(thumbnail, "a", 1, 1.0, None, "more") == (
        "PAYLOAD_INVALID",
        "thumbnail takes path, width, ratio, extra",
    )


def test_an_argument_given_twice_is_refused():
    assert refusal(thumbnail, "a", path="b")[0] == "PAYLOAD_INVALID"


def test_positional_arguments_do_not_fill_further_keywords():
    def handler(path: str, **more): ...

    assert refusal(handler, "a", "b")[0] == "PAYLOAD_INVALID"


def test_positional_arguments_do_not_fill_keyword_only_parameters():
    def handler(path: str, *, force: bool = False): ...

    assert refusal(handler, "a", True)[0] == "PAYLOAD_INVALID"


def test_further_keywords_are_checked_against_their_annotation():
    def handler(**more: int): ...

    assert refusal(handler, a="no number")[0] == "PAYLOAD_INVALID"


def positional_only(path, /): ...


def any_number(*paths): ...


@pytest.mark.parametrize("handler", [positional_only, any_number])
def test_a_parameter_that_a_payload_cannot_name_is_refused(handler):
    with pytest.raises(BadInput, match=f"{handler.__name__}: a payload has names") as caught:
        Signature(handler, JobContext)
    assert caught.value.code == "BAD_OPTION"


class Opaque:
    """No schema library knows it."""


def takes_opaque(value: Opaque): ...


def takes_nowhere(value: "Nowhere"):  # noqa: F821, UP037
    ...


@pytest.mark.parametrize("handler", [takes_opaque, takes_nowhere])
def test_an_annotation_that_cannot_be_checked_is_told_in_our_words(handler):
    with pytest.raises(BadInput, match=handler.__name__) as caught:
        Signature(handler, JobContext)
    assert caught.value.code == "BAD_OPTION"


class Bounded(BaseModel):
    width: int = Field(ge=1)


def test_constraints_of_a_field_are_checked():
    def handler(size: Bounded): ...

    assert "size.width: " in refusal(handler, size={"width": 0})[1]


def test_where_a_handler_was_defined_is_not_told():
    def webhook(endpoint: str) -> None: ...

    with pytest.raises(PayloadError, match="payload does not fit webhook: endpoint: "):
        Signature(webhook, JobContext).dump((), {})
