"""The handlers a process knows."""

from __future__ import annotations

import pytest

from holdfast.engine.registry import Definition, Registry
from holdfast.model.errors import BadInput
from holdfast.model.lease import Lane
from holdfast.model.policy import Policy
from holdfast.worker.context import JobContext


def thumbnail(path: str): ...


def poster(path: str): ...


def define(kind="image", function=thumbnail, **more):
    return Definition(type=kind, function=function, context_type=JobContext, **more)


@pytest.fixture
def registry():
    return Registry()


def test_a_type_that_was_added_is_known(registry):
    one = define()
    registry.add(one, "the door")
    assert registry.get("image") is one
    assert registry.door("image") == "the door"
    assert list(registry) == [one]


def test_a_type_that_was_not_added_is_unknown(registry):
    assert registry.get("image") is None
    assert registry.door("image") is None


def test_one_type_has_one_handler(registry):
    registry.add(define())
    with pytest.raises(BadInput, match=r"'image' has a handler already \(thumbnail\): give another type=") as caught:
        registry.add(define(function=poster))
    assert caught.value.code == "BAD_OPTION"
    assert registry.get("image").function is thumbnail


def test_the_same_handler_may_be_added_again_with_other_settings(registry):
    registry.add(define())
    registry.add(define(queue="gpu"))
    assert registry.get("image").queue == "gpu"


def test_a_worker_draws_from_every_version_of_the_payload_it_can_read(registry):
    registry.add(define(version=3, queue="gpu"))
    assert registry.lanes() == (Lane("gpu", "image", 1), Lane("gpu", "image", 2), Lane("gpu", "image", 3))


def test_each_type_is_drawn_from_its_own_queue(registry):
    registry.add(define(queue="gpu"))
    registry.add(define("poster", poster))
    assert set(registry.lanes()) == {Lane("gpu", "image"), Lane("default", "poster")}


def test_a_worker_of_named_queues_draws_every_type_from_each(registry):
    registry.add(define())
    registry.add(define("poster", poster))
    assert set(registry.lanes(["a", "b"])) == {Lane(q, t) for q in "ab" for t in ("image", "poster")}


def test_the_rules_are_found_by_type(registry):
    registry.add(define(policy=Policy(max_crashes=7)))
    assert {kind: rules.max_crashes for kind, rules in registry.policies().items()} == {"image": 7}


def test_a_signature_is_read_when_it_is_first_needed(registry):
    def handler(value: "Later"):  # noqa: F821, UP037
        ...

    one = define(function=handler)
    registry.add(one)
    handler.__globals__["Later"] = int
    try:
        assert one.signature.dump((), {"value": 1}) == '{"value":1}'
    finally:
        del handler.__globals__["Later"]
