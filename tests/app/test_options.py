"""The options of one call: each of them, right and wrong, the same for every way to enqueue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

import holdfast

NOON = datetime(2025, 1, 16, 12, tzinfo=UTC)
NAN, INF = float("nan"), float("inf")


@pytest.fixture
def ways(app, thumbnail):
    """Every way to enqueue."""
    return {
        "handler": lambda **options: thumbnail.using(**options).enqueue(path="a"),
        "known type by name": lambda **options: app.enqueue("thumbnail", {"path": "a"}, **options),
        "unknown type by name": lambda **options: app.enqueue("elsewhere", {"path": "a"}, **options),
        "many": lambda **options: app.enqueue_many([thumbnail.using(**options).call(path="a")])[0],
    }


@pytest.fixture(params=["handler", "unknown type by name"])
def enqueue(request, ways):
    """The two paths that check options: one with a handler's own settings, one without."""
    return ways[request.param]


def test_every_way_to_enqueue_takes_the_same_options(app, ways):
    for enqueue in ways.values():
        job = app.get(enqueue(priority=2, group="g", tenant="t", delay=60).id)
        assert (job.priority, job.group, job.tenant) == (2, "g", "t")
        with pytest.raises(holdfast.BadInput) as caught:
            enqueue(priority=11)
        assert caught.value.code == "PRIORITY_OUT_OF_RANGE"


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, {"priority": 5, "queue": "default", "tenant": "", "group": None, "max_attempts": 3, "scheduled_at": NOON}),
        ({"priority": 1}, {"priority": 1}),
        ({"priority": 10}, {"priority": 10}),
        ({"delay": 60}, {"scheduled_at": NOON + timedelta(minutes=1)}),
        ({"delay": 0}, {"scheduled_at": NOON}),
        ({"delay": 0.25}, {"scheduled_at": NOON + timedelta(milliseconds=250)}),
        ({"delay": timedelta(days=1)}, {"scheduled_at": NOON + timedelta(days=1)}),
        ({"delay": None}, {"scheduled_at": NOON}),
        ({"scheduled_at": NOON + timedelta(hours=1)}, {"scheduled_at": NOON + timedelta(hours=1)}),
        ({"scheduled_at": NOON - timedelta(days=1)}, {"scheduled_at": NOON - timedelta(days=1)}),
        ({"scheduled_at": "2025-01-17T12:00:00Z"}, {"scheduled_at": NOON + timedelta(days=1)}),
        ({"scheduled_at": "2025-01-16T14:00:00+02:00"}, {"scheduled_at": NOON}),
        ({"scheduled_at": NOON.astimezone(timezone(timedelta(hours=-5)))}, {"scheduled_at": NOON}),
        ({"scheduled_at": "9999-12-31T23:59:59Z"}, {"scheduled_at": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)}),
        ({"key": "k"}, {"idempotency_key": "k"}),
        ({"key": "k" * 255}, {"idempotency_key": "k" * 255}),
        ({"key": "Schl\u00fcssel \U0001f511"}, {"idempotency_key": "Schl\u00fcssel \U0001f511"}),
        ({"group": "g"}, {"group": "g"}),
        ({"group": None}, {"group": None}),
        ({"tenant": "acme"}, {"tenant": "acme"}),
        ({"tenant": ""}, {"tenant": ""}),
        ({"queue": "images"}, {"queue": "images"}),
        ({"max_attempts": 1}, {"max_attempts": 1}),
        ({"max_attempts": 10_000}, {"max_attempts": 10_000}),
        ({"timeout": 2.5}, {"timeout_ms": 2_500}),
        ({"timeout": timedelta(minutes=1)}, {"timeout_ms": 60_000}),
        ({"timeout": None}, {"timeout_ms": None}),
        ({"context": {"user_id": "u", "trace_id": None}}, {"context": {"user_id": "u", "trace_id": None}}),
        ({"context": None}, {"context": {}}),
    ],
    ids=repr,
)  # fmt: skip
def test_an_option_is_seen_on_the_job(app, enqueue, options, seen):
    job = app.get(enqueue(**options).id)
    assert {name: getattr(job, name) for name in seen} == seen


WRONG = [
    ("PRIORITY_OUT_OF_RANGE", "priority", [0, 11, -1, True, "5", 5.0, None]),
    ("BAD_DATE", "delay", [-1, -0.001, INF, -INF, NAN, "60", True, timedelta(seconds=-1), 1e12, Decimal(1)]),
    ("BAD_DATE", "scheduled_at", [
        datetime(2025, 1, 16), datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC),  # noqa: DTZ001
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))), "tomorrow", "", "2025-01-16", "2025-01-16T12:00:00",
        "2025-13-01T00:00:00Z", 1_737_028_800, NOON.date(), True,
    ]),
    ("BAD_NAME", "key", ["", "k" * 256, "a\nb", "a\x00b", "\ud800", 7, b"k"]),
    ("BAD_NAME", "group", ["", "g" * 256, "a\tb", 7]),
    ("BAD_NAME", "tenant", ["t" * 256, "a\nb", 7, None, 0, False]),
    ("BAD_NAME", "queue", ["", "q" * 256, "a\x7fb", None, 7]),
    ("BAD_OPTION", "max_attempts", [0, -1, 10_001, True, 3.0, "3", None]),
    ("BAD_OPTION", "timeout", [0, -1, INF, NAN, "30", True, 32 * 86_400, 0.0001]),
    ("BAD_OPTION", "context", [{"user": "u"}, "text", 7, ["user_id"], {1: 2}, {"user_id": {"deep": 1}}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [(option, value, code) for code, option, values in WRONG for value in values],
    ids=[f"{option}={value!a:.40}" for _, option, values in WRONG for value in values],
)
def test_a_wrong_option_is_refused_and_nothing_is_stored(app, enqueue, option, value, code):
    with pytest.raises(holdfast.BadInput) as caught:
        enqueue(**{option: value})
    assert caught.value.code == code
    assert app.jobs() == []


def test_delay_and_scheduled_at_exclude_each_other(enqueue):
    with pytest.raises(holdfast.BadInput, match="not both") as caught:
        enqueue(delay=5, scheduled_at=NOON)
    assert caught.value.code == "BAD_DATE"


@pytest.mark.parametrize("name", ["priorty", "eta", "countdown", "retries"])
def test_an_unknown_option_is_refused_with_those_there_are(app, enqueue, name):
    with pytest.raises(holdfast.BadInput, match=f"unknown option {name}[:;].* a job takes: .*priority") as caught:
        enqueue(**{name: 1})
    assert caught.value.code == "BAD_OPTION"
    assert app.jobs() == []


@pytest.mark.parametrize("slip", ["prio", "priorty", "Priority"])
def test_an_option_that_is_misspelt_is_told_with_the_one_that_was_meant(enqueue, slip):
    with pytest.raises(holdfast.BadInput, match=f"unknown option {slip}: did you mean priority"):
        enqueue(**{slip: 1})


def test_a_setting_that_is_misspelt_is_told_with_the_one_that_was_meant(app):
    with pytest.raises(holdfast.BadInput, match="unknown option max_attemps: did you mean max_attempts"):
        app.job(max_attemps=3)(print)


def test_arguments_given_as_options_by_name_are_led_into_the_payload(app, thumbnail):
    for kind in ("add", "thumbnail"):
        with pytest.raises(holdfast.BadInput) as caught:
            app.enqueue(kind, path="secret", width=2)
        assert f'a dict: app.enqueue("{kind}", {{"path": ..., "width": ...}}); a job takes: ' in str(caught.value)
        assert "secret" not in str(caught.value)


async def test_arguments_given_as_options_are_led_into_the_payload_in_coroutines_too(app):
    with pytest.raises(holdfast.BadInput, match=r'a dict: app.enqueue\("add", \{"a": ...\}\)'):
        await app.aenqueue("add", a=1)


@pytest.mark.parametrize("window", [0, -5, INF, NAN, "for ever", True, "60"])
def test_a_wrong_key_window_is_refused(app, enqueue, window):
    with pytest.raises(holdfast.BadInput) as caught:
        enqueue(key="k", key_window=window)
    assert caught.value.code == "BAD_OPTION"
    assert app.jobs() == []


def test_an_unknown_field_of_the_context_is_named_with_those_there_are(enqueue):
    with pytest.raises(holdfast.BadInput, match="unknown context user; context takes: user_id, user_role"):
        enqueue(context={"user": "u"})


def test_a_message_never_grows_with_the_value(enqueue):
    with pytest.raises(holdfast.BadInput) as caught:
        enqueue(priority="x" * 100_000)
    assert len(str(caught.value)) < 200


async def test_coroutines_take_the_same_options(app, thumbnail):
    handle = await thumbnail.using(priority=2, group="g").aenqueue(path="a")
    assert (app.get(handle.id).priority, app.get(handle.id).group) == (2, "g")
    with pytest.raises(holdfast.BadInput):
        await app.aenqueue("elsewhere", {}, priority=11)


def test_a_handler_given_for_its_name_is_told_how_it_is_enqueued(app, thumbnail):
    for options in ({}, {"path": "a"}):
        with pytest.raises(holdfast.BadInput, match=r"type must be text, not Handler: write handler\.enqueue"):
            app.enqueue(thumbnail, **options)
