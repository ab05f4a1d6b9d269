"""A handler's parameters as the schema of its payload: what fits comes back as it was."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from holdfast.engine.signature import Signature
from holdfast.worker.context import JobContext


class Size(BaseModel):
    width: int
    height: int = 100


class Order(BaseModel):
    sizes: list[Size]
    parent: Order | None = None


@dataclass
class Point:
    x: float
    label: str = "here"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def signature(function):
    return Signature(function, JobContext)


def there_and_back(function, *args, **kwargs):
    """The arguments a worker would call the handler with."""
    known = signature(function)
    return known.load(known.dump(args, kwargs))


def typed(hint):
    def handler(value): ...

    handler.__annotations__ = {"value": hint}
    return handler


NOON = datetime(2025, 1, 16, 12, 30, 15, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (str, "text"),
        (str, ""),
        (str, "a\x00b"),
        (str, 'tab\t, quote ", back\\slash, \N{PILE OF POO}, \N{LATIN SMALL LETTER U WITH DIAERESIS}'),
        (int, 7),
        (int, -(2**63) - 1),
        (int, 10**400),
        (float, 0.1),
        (float, 1e-300),
        (bool, False),
        (None, None),
        (bytes, b"text"),
        (datetime, NOON),
        (datetime, datetime(2025, 1, 16, 12)),  # noqa: DTZ001  # a local time stays one
        (date, date(2025, 1, 16)),
        (timedelta, timedelta(hours=1, microseconds=5)),
        (UUID, UUID("12345678-1234-5678-1234-567812345678")),
        (Decimal, Decimal("1.10")),
        (Colour, Colour.BLUE),
        (Literal["a", "b"], "b"),
        (int | None, None),
        (int | str, "7"),
        (list[int], [1, 2]),
        (tuple[int, str], (1, "a")),
        (set[int], {1, 2}),
        (dict[str, list[int]], {"a": [1]}),
        (Size, Size(width=1)),
        (Order, Order(sizes=[Size(width=1)], parent=Order(sizes=[]))),
        (Point, Point(1.5)),
        (list[Point], [Point(0.0), Point(2.0, "there")]),
        (Annotated[int, Field(ge=0)], 0),
        (Any, {"a": [1, 2.5, None, True, "x", {}]}),
    ],
    ids=repr,
)
def test_a_value_of_any_of_these_types_comes_back_as_it_was(hint, value):
    got = there_and_back(typed(hint), value=value)
    assert got == {"value": value}
    assert type(got["value"]) is type(value)


def test_a_parameter_without_annotation_takes_any_json_value():
    def handler(anything): ...

    assert there_and_back(handler, anything=[1, {"a": None}]) == {"anything": [1, {"a": None}]}


def test_a_default_is_not_stored_so_that_the_handler_s_own_applies_at_the_run():
    def handler(path: str, width: int = 200): ...

    assert signature(handler).dump((), {"path": "a"}) == '{"path":"a"}'
    assert there_and_back(handler, path="a") == {"path": "a"}


def test_text_that_is_a_number_is_taken_for_one_as_forms_and_command_lines_send_it():
    assert there_and_back(typed(int), value="200") == {"value": 200}


def test_a_model_may_be_given_as_a_plain_dict():
    assert there_and_back(typed(Size), value={"width": 3}) == {"value": Size(width=3)}


def test_positional_arguments_are_stored_by_name():
    def handler(path: str, width: int = 200): ...

    assert signature(handler).dump(("a", 5), {}) == '{"path":"a","width":5}'
    assert signature(handler).dump(("a",), {"width": 5}) == '{"path":"a","width":5}'


def plain(path: str, width: int = 3, sizes: list[float] | None = None): ...
def of_models(order: Size): ...
def of_anything(**more: int): ...


@pytest.mark.parametrize(
    ("handler", "calls"),
    [
        (
            plain,
            [((), {"path": "a"}), (("b", 4), {}), ((), {"path": "NaN", "sizes": [1.5]}), ((), {"path": "x" * 9_000})],
        ),
        (plain, [((), {"path": "é\u2028", "width": "7"})]),
        (of_models, [((), {"order": {"width": 1}}), ((Size(width=2),), {})]),
        (of_anything, [((), {"a": 1}), ((), {})]),
    ],
    ids=["plain", "as forms send it", "models", "further keywords"],
)
def test_many_calls_have_the_payloads_that_each_has_alone(handler, calls):
    taken = signature(handler)
    assert taken.dump_all(calls) == [taken.dump(args, kwargs) for args, kwargs in calls]
    assert taken.dump_all([]) == []


def test_further_keywords_are_taken_where_the_handler_takes_them():
    def handler(path: str, **more): ...

    assert there_and_back(handler, path="a", x=1, y=[2]) == {"path": "a", "x": 1, "y": [2]}


def test_annotations_may_be_text():
    def handler(value: "Size", other: "list[int] | None" = None): ...  # noqa: UP037

    assert there_and_back(handler, value={"width": 1}, other=["2"]) == {"value": Size(width=1), "other": [2]}


def before(context: JobContext, path: str, width: int = 1): ...


def between(path: str, context: JobContext, width: int = 1): ...


def after(path: str, width: int = 1, *, context: JobContext): ...


@pytest.mark.parametrize("handler", [before, between, after])
def test_the_context_may_stand_anywhere_and_is_no_part_of_the_payload(handler):
    known = signature(handler)
    assert known.context_name == "context"
    assert known.dump(("a", 5), {}) == '{"path":"a","width":5}'
    assert "context" not in known.json_schema()["properties"]


def test_the_context_may_be_optional_so_that_the_handler_can_be_called_by_hand():
    def handler(path: str, context: JobContext | None = None): ...

    known = signature(handler)
    assert known.context_name == "context"
    assert known.dump((), {"path": "a"}) == '{"path":"a"}'


def test_a_handler_without_context_has_none():
    assert signature(typed(int)).context_name is None


def test_a_handler_without_parameters_has_an_empty_payload():
    def handler(): ...

    assert there_and_back(handler) == {}


def test_a_bound_method_takes_what_it_takes_when_called():
    class Mailer:
        def send(self, to: str): ...

    assert there_and_back(Mailer().send, to="x") == {"to": "x"}


def test_a_lambda_can_be_read():
    assert there_and_back(lambda value: None, value=1) == {"value": 1}  # noqa: ARG005


def test_an_unknown_name_in_the_return_annotation_does_not_matter():
    def handler(path: str) -> "Nowhere":  # noqa: F821, UP037
        ...

    assert there_and_back(handler, path="a") == {"path": "a"}


def test_the_schema_is_json_schema():
    def handler(path: str, width: int = 200, size: Size | None = None): ...

    schema = signature(handler).json_schema()
    assert schema["required"] == ["path"]
    assert schema["properties"]["width"]["type"] == "integer"
    assert schema["additionalProperties"] is False
