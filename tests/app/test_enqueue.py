"""Enqueue through the public API: by handler, by name, one and many."""

# A lambda here stands for a verb or handler and takes what it is given.
# ruff: noqa: ARG005

from __future__ import annotations

import threading
from types import MappingProxyType

import pytest

import holdfast


def test_a_job_may_be_enqueued_by_name_without_its_handler(app):
    handle = app.enqueue("elsewhere", {"path": "a.png"}, priority=2)
    job = app.get(handle.id)
    assert (handle.created, job.type, job.payload, job.priority) == (True, "elsewhere", {"path": "a.png"}, 2)


def test_a_job_by_name_may_have_no_payload(app):
    assert app.get(app.enqueue("elsewhere").id).payload == {}


async def test_coroutines_enqueue_by_name(app):
    handle = await app.aenqueue("elsewhere", {"a": 1}, queue="q")
    assert app.get(handle.id).queue == "q"


def test_by_name_the_handler_s_own_settings_apply(app):
    app.job(type="known", queue="images", max_attempts=9)(lambda path: None)
    job = app.get(app.enqueue("known", {"path": "a"}).id)
    assert (job.queue, job.max_attempts) == ("images", 9)
    assert app.get(app.enqueue("known", {"path": "a"}, queue="other").id).queue == "other"


@pytest.mark.parametrize("payload", [[], "text", 7, [("a", 1)]])
def test_a_payload_that_is_no_object_is_refused(app, payload):
    with pytest.raises(holdfast.BadInput) as caught:
        app.enqueue("elsewhere", payload)
    assert caught.value.code == "PAYLOAD_INVALID"


def test_any_mapping_is_an_object(app):
    assert app.get(app.enqueue("elsewhere", MappingProxyType({"a": 1})).id).payload == {"a": 1}


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"a": float("nan")}, "PAYLOAD_NOT_JSON"),
        ({"a": object()}, "PAYLOAD_NOT_JSON"),
        ({1: "a"}, "PAYLOAD_NOT_JSON"),
        ({"a": "\ud800"}, "PAYLOAD_NOT_JSON"),
        ({"a": 10**5_000}, "PAYLOAD_NOT_JSON"),
        ({"a": "x" * 300_000}, "PAYLOAD_TOO_LARGE"),
    ],
    ids=["nan", "object", "key", "surrogate", "huge", "large"],
)
def test_a_payload_for_an_unknown_type_is_strict_json(app, payload, code):
    with pytest.raises(holdfast.PayloadError) as caught:
        app.enqueue("elsewhere", payload)
    assert caught.value.code == code
    assert app.jobs() == []


def test_the_payload_limit_can_be_set(make_app):
    app = make_app(payload_limit=20)
    known = app.job(lambda text: None)
    app.enqueue("elsewhere", {"text": "x" * 5})
    for call in (lambda: app.enqueue("elsewhere", {"text": "x" * 20}), lambda: known.enqueue(text="x" * 20)):
        with pytest.raises(holdfast.PayloadError) as caught:
            call()
        assert caught.value.code == "PAYLOAD_TOO_LARGE"


def test_the_payload_limit_holds_for_plain_arguments_too(make_app):
    app = make_app(payload_limit=20)

    @app.job
    def known(text: str) -> None: ...

    known.enqueue(text="x" * 5)
    calls = [known.call(text="x" * 5), known.call(text="é" * 4)]
    for call in (lambda: known.enqueue(text="x" * 20), lambda: app.enqueue_many([*calls, known.call(text="é" * 5)])):
        with pytest.raises(holdfast.PayloadError) as caught:
            call()
        assert caught.value.code == "PAYLOAD_TOO_LARGE"
    assert len(app.enqueue_many(calls)) == 2


def test_many_are_enqueued_at_once_in_order(app, thumbnail):
    handles = app.enqueue_many([thumbnail.call(path=f"{n}.png") for n in range(120)])
    assert [app.get(handle.id).payload["path"] for handle in handles] == [f"{n}.png" for n in range(120)]
    assert all(handle.created for handle in handles)


async def test_coroutines_enqueue_many_at_once(app, thumbnail):
    handles = await app.aenqueue_many(thumbnail.call(path=f"{n}.png") for n in range(5))
    assert [app.get(handle.id).payload["path"] for handle in handles] == [f"{n}.png" for n in range(5)]


async def test_many_may_be_none(app):
    assert app.enqueue_many([]) == []
    assert await app.aenqueue_many([]) == []


def test_many_may_be_of_several_handlers_with_options_of_their_own(app, thumbnail):
    other = app.job(type="other", queue="q")(lambda: None)
    handles = app.enqueue_many(
        [thumbnail.using(priority=1).call("a"), other.call(), thumbnail.using(delay=60).call("b")]
    )
    found = [app.get(handle.id) for handle in handles]
    assert [(job.type, job.queue, job.priority) for job in found] == [
        ("thumbnail", "default", 1), ("other", "q", 5), ("thumbnail", "default", 5),
    ]  # fmt: skip


def test_many_are_stored_all_or_none(app, thumbnail):
    thumbnail.using(key="k").enqueue(path="a")
    for bad in (thumbnail.call(path=1), thumbnail.using(priority=99).call("b"), thumbnail.using(key="k").call("other")):
        with pytest.raises(holdfast.HoldfastError):
            app.enqueue_many([thumbnail.call("x"), bad, thumbnail.call("y")])
    assert len(app.jobs()) == 1


def test_a_full_queue_refuses_with_its_own_error(make_app):
    app = make_app(max_depth={"default": 2})
    app.enqueue("a")
    app.enqueue("a")
    with pytest.raises(holdfast.QueueFull):
        app.enqueue("a")
    assert app.enqueue("a", priority=1).created


async def test_a_full_queue_refuses_coroutines_too(make_app):
    app = make_app(max_depth={"default": 1})
    await app.aenqueue("a")
    with pytest.raises(holdfast.QueueFull):
        await app.aenqueue("a")


def test_threads_enqueue_at_the_same_time(app, thumbnail, in_thread):
    start = threading.Barrier(10)
    ids: list[str] = []

    def work():
        start.wait(30)
        ids.extend(thumbnail.enqueue(path="a").id for _ in range(10))

    for thread in [in_thread(work) for _ in range(10)]:
        thread.join(30)
    assert len(set(ids)) == 100 == len(app.jobs(limit=1_000))


def test_a_repeated_key_answers_the_job_that_is_there(app, thumbnail):
    first = thumbnail.using(key="k").enqueue(path="a")
    again = thumbnail.using(key="k").enqueue(path="a")
    assert (first.created, again.created, again.id) == (True, False, first.id)


async def test_a_repeated_key_answers_coroutines_too(app, thumbnail):
    first = await thumbnail.using(key="k").aenqueue(path="a")
    again = await thumbnail.using(key="k").aenqueue(path="a")
    assert (first.created, again.created, again.id) == (True, False, first.id)


@pytest.mark.parametrize(
    "call", [lambda t: t.enqueue(path="b"), lambda t: t.app.enqueue("other", {"path": "a"}, key="k")]
)
def test_a_key_taken_by_another_request_is_a_conflict(app, thumbnail, call):
    keyed = thumbnail.using(key="k")
    keyed.enqueue(path="a")
    with pytest.raises(holdfast.KeyConflict) as caught:
        call(keyed)
    assert caught.value.code == "KEY_CONFLICT"


def test_tenants_do_not_share_keys(app, thumbnail):
    hers = thumbnail.using(key="k", tenant="her").enqueue(path="a")
    his = thumbnail.using(key="k", tenant="him").enqueue(path="b")
    assert hers.created
    assert his.created


def test_a_key_of_an_active_job_is_free_once_the_job_has_ended(app, thumbnail):
    keyed = thumbnail.using(key="k", key_window="active")
    first = keyed.enqueue(path="a")
    assert keyed.enqueue(path="a").id == first.id
    app.cancel(first.id)
    assert keyed.enqueue(path="a").created


def test_a_key_with_a_period_is_free_after_it_once_the_job_has_ended(app, thumbnail, clock):
    keyed = thumbnail.using(key="k", key_window=60)
    first = keyed.enqueue(path="a")
    app.cancel(first.id)
    clock.advance(59)
    assert not keyed.enqueue(path="a").created
    clock.advance(1)
    assert keyed.enqueue(path="a").created


def test_the_handler_may_set_the_window_for_all_its_keys(app):
    once = app.job(type="once", key_window="active")(lambda: None)
    assert once.enqueue().created  # without a key it means nothing
    first = once.using(key="k").enqueue()
    app.cancel(first.id)
    assert once.using(key="k").enqueue().created


def test_keys_from_content_do_not_depend_on_the_order_of_fields():
    assert holdfast.content_key("mail", {"a": 1, "b": [2]}) == holdfast.content_key("mail", {"b": [2], "a": 1})
    assert holdfast.content_key("a") != holdfast.content_key("a", nonce="secret")
    assert len(holdfast.content_key("x" * 100_000)) == 64
