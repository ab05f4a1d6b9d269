"""`@app.job`: a function becomes a handler and stays the function it was."""

from __future__ import annotations

import asyncio
import functools
import inspect
from datetime import timedelta

import pytest

import holdfast


def test_a_bare_decorator_takes_the_function_s_name_for_the_type(app):
    @app.job
    def resize(path: str) -> str:
        """Make it smaller."""
        return path.upper()

    assert resize("a") == "A"
    assert (resize.__name__, resize.__doc__) == ("resize", "Make it smaller.")
    assert app.get(resize.enqueue(path="a").id).type == "resize"


def test_a_decorated_coroutine_function_is_still_awaited(app):
    @app.job(queue="images")
    async def resize(path: str) -> str:
        return path.upper()

    assert asyncio.run(resize("a")) == "A"


def test_the_signature_is_still_to_be_seen(app, thumbnail):
    assert list(inspect.signature(thumbnail).parameters) == ["path", "width"]


def test_settings_of_the_decorator_reach_the_job(app):
    @app.job(type="image.resize", queue="images", priority=2, max_attempts=7, timeout=30, version=3)
    def resize(path: str): ...

    job = app.get(resize.enqueue(path="a").id)
    assert (job.type, job.queue, job.priority, job.max_attempts) == ("image.resize", "images", 2, 7)
    assert job.payload_version == 3
    assert resize.definition.policy.timeout_ms == 30_000


def test_empty_brackets_are_a_bare_decorator(app):
    @app.job()
    def resize(path: str): ...

    assert app.get(resize.enqueue(path="a").id).queue == "default"


def test_defaults_are_those_of_the_documentation(app, thumbnail):
    policy = thumbnail.definition.policy
    assert (policy.timeout_ms, policy.lease_ms, policy.max_crashes) == (900_000, 60_000, 3)
    job = app.get(thumbnail.enqueue(path="a").id)
    assert (job.queue, job.priority, job.max_attempts, job.payload_version) == ("default", 5, 3, 1)


def test_times_may_be_timedeltas_and_a_time_out_may_be_none(app):
    def one(): ...
    def two(): ...

    assert app.job(timeout=timedelta(minutes=2), lease=timedelta(seconds=5))(one).definition.policy.lease_ms == 5_000
    assert app.job(timeout=None)(two).definition.policy.timeout_ms is None


def nothing(): ...


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"colour": "red"}, "BAD_OPTION"),
        ({"delay": 5}, "BAD_OPTION"),
        ({"type": "a\nb"}, "BAD_NAME"),
        ({"type": "x" * 256}, "BAD_NAME"),
        ({"queue": ""}, "BAD_NAME"),
        ({"queue": None}, "BAD_NAME"),
        ({"priority": 0}, "PRIORITY_OUT_OF_RANGE"),
        ({"priority": True}, "PRIORITY_OUT_OF_RANGE"),
        ({"max_attempts": 0}, "BAD_OPTION"),
        ({"max_attempts": 2.0}, "BAD_OPTION"),
        ({"timeout": 0}, "BAD_OPTION"),
        ({"timeout": "30"}, "BAD_OPTION"),
        ({"timeout": float("nan")}, "BAD_OPTION"),
        ({"lease": 0.05}, "BAD_OPTION"),
        ({"lease": None}, "BAD_OPTION"),
        ({"max_crashes": 0}, "BAD_OPTION"),
        ({"version": 0}, "BAD_OPTION"),
        ({"isolation": "thread"}, "BAD_OPTION"),
        ({"backoff": 30}, "BAD_OPTION"),
        ({"permanent": ValueError}, "BAD_OPTION"),
        ({"permanent": ("ValueError",)}, "BAD_OPTION"),
        ({"key_window": "for ever"}, "BAD_OPTION"),
    ],
    ids=repr,
)
def test_a_wrong_setting_is_refused_where_the_handler_is_registered(app, settings, code):
    with pytest.raises(holdfast.BadInput) as caught:
        app.job(**settings)(nothing)
    assert caught.value.code == code
    assert app.registry.get("nothing") is None


class Callable:
    def __call__(self, path: str): ...


@pytest.mark.parametrize(
    "thing",
    ["thumbnail", 7, dict, Callable, Callable(), functools.partial(nothing)],
    ids=["text", "number", "built-in class", "class", "callable object", "partial"],
)
def test_what_is_no_function_is_refused(app, thing):
    with pytest.raises(holdfast.BadInput) as caught:
        app.job(thing)
    assert caught.value.code == "BAD_OPTION"


def test_two_handlers_of_one_type_are_refused(app, thumbnail):
    with pytest.raises(holdfast.BadInput, match="has a handler already"):
        app.job(type="thumbnail")(nothing)


def test_a_bound_method_can_be_a_handler(app):
    class Mailer:
        def send(self, to: str): ...

    send = app.job(Mailer().send)
    assert app.get(send.enqueue(to="x").id).payload == {"to": "x"}


def test_positional_arguments_are_stored_by_name(app, thumbnail):
    assert app.get(thumbnail.enqueue("a.png", 5).id).payload == {"path": "a.png", "width": 5}


def test_delay_is_another_name_for_enqueue(app, thumbnail):
    assert app.get(thumbnail.delay(path="a").id).payload == {"path": "a"}


async def test_coroutines_enqueue_without_blocking(app, thumbnail):
    handle = await thumbnail.aenqueue(path="a")
    assert handle.created
    assert app.get(handle.id).payload == {"path": "a"}


def test_using_leaves_the_handler_as_it_was(app, thumbnail):
    urgent = thumbnail.using(priority=1)
    assert app.get(urgent.enqueue(path="a").id).priority == 1
    assert app.get(thumbnail.enqueue(path="a").id).priority == 5
    assert app.get(urgent.using(group="g").enqueue(path="a").id).priority == 1
    assert urgent("a.png") == {"path": "a.png", "width": 200}


def test_a_wrong_payload_stores_nothing(app, thumbnail):
    for call in (
        lambda: thumbnail.enqueue(path=1),
        lambda: thumbnail.enqueue(),  # noqa: PLW0108  # a lambda is a plain function; a method of a list is not
        lambda: thumbnail.enqueue(path="a", wdith=3),
        lambda: app.enqueue("thumbnail", {"path": 1}),
    ):
        with pytest.raises(holdfast.PayloadError) as caught:
            call()
        assert caught.value.code == "PAYLOAD_INVALID"
    assert app.jobs() == []


def test_a_handler_tells_its_type(thumbnail):
    assert repr(thumbnail) == "<Handler thumbnail>"


def test_a_parameter_may_have_any_name(app):
    @app.job
    def report(self: str, type: str, payload: int, args: int = 0, kwargs: int = 0, options: int = 0): ...  # noqa: PLR0917  # the sample needs them

    handle = report.enqueue(self="me", type="t", payload=1, args=2, kwargs=3, options=4)
    assert app.get(handle.id).payload == {"self": "me", "type": "t", "payload": 1, "args": 2, "kwargs": 3, "options": 4}
