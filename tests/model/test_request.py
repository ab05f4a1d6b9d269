from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model import stamp
from holdfast.model.errors import BadInput
from holdfast.model.request import Alike, NewJob, check_name, check_options, check_scheduled_at

HUGE = 10**5000
LONGEST = stamp.LAST / 1000


def kind_of(value):
    """A name for a case; a huge number has no text."""
    return "huge" if isinstance(value, int) and value >= 10**400 else repr(value)


def code_of(**options):
    with pytest.raises(BadInput) as caught:
        NewJob(options.pop("type", "mail"), "{}", **options)
    str(caught.value).encode()
    return caught.value.code


@pytest.mark.parametrize("field", ["type", "queue", "key", "group", "tenant"])
@pytest.mark.parametrize("name", ["x" * 256, "a\nb", "a\0", "\x7f", "\u200b", "\ud800", 5, b"x", ["x"]])
def test_a_name_that_cannot_be_is_refused(field, name):
    assert code_of(**{field: name}) == "BAD_NAME"


@pytest.mark.parametrize("field", ["type", "queue", "key", "group"])
def test_an_empty_name_is_refused(field):
    assert code_of(**{field: ""}) == "BAD_NAME"


@pytest.mark.parametrize("field", ["type", "queue", "tenant"])
def test_a_name_that_must_be_there_cannot_be_none(field):
    assert code_of(**{field: None}) == "BAD_NAME"


@pytest.mark.parametrize("name", ["x", "x" * 255, "a b", "Größe/1:2@3", "名前", "😀"])
def test_a_name_that_can_be_is_taken_as_it_is(name):
    job = NewJob(name, "{}", queue=name, key=name, group=name, tenant=name)
    assert {job.type, job.queue, job.key, job.group, job.tenant} == {name}


@given(st.text(max_size=300))
def test_a_name_is_taken_or_refused_and_nothing_else(name):
    if 0 < len(name) <= 255 and name.isprintable():
        assert check_name("queue", name) == name
    else:
        assert code_of(queue=name) == "BAD_NAME"


@pytest.mark.parametrize("priority", [0, 11, -1, 5.0, True, "5", None, HUGE], ids=kind_of)
def test_a_priority_out_of_range_is_refused(priority):
    assert code_of(priority=priority) == "PRIORITY_OUT_OF_RANGE"


@pytest.mark.parametrize("priority", [1, 10])
def test_a_priority_in_range_is_taken(priority):
    assert NewJob("mail", "{}", priority=priority).priority == priority


@pytest.mark.parametrize("count", [0, -1, 10_001, 1.0, True, "3", None, HUGE], ids=kind_of)
def test_a_number_of_attempts_that_cannot_be_is_refused(count):
    assert code_of(max_attempts=count) == "BAD_OPTION"


def test_the_most_attempts_and_versions_are_taken():
    job = NewJob("mail", "{}", max_attempts=10_000, payload_version=1_000_000)
    assert (job.max_attempts, job.payload_version) == (10_000, 1_000_000)
    assert code_of(payload_version=1_000_001) == "BAD_OPTION"


@pytest.mark.parametrize(
    "delay",
    [-1, -0.001, float("nan"), float("inf"), "5", True, Decimal(1), LONGEST + 1, 10**400, HUGE, timedelta(seconds=-1)],
    ids=kind_of,
)
def test_a_delay_that_cannot_be_is_refused(delay):
    assert code_of(delay=delay) == "BAD_DATE"


@pytest.mark.parametrize(("delay", "ms"), [(0, 0), (1.5, 1500), (timedelta(minutes=1), 60_000), (LONGEST, stamp.LAST)])
def test_a_delay_is_seconds_or_a_timedelta(delay, ms):
    assert NewJob("mail", "{}", delay=delay).delay == ms


@pytest.mark.parametrize(
    "moment",
    [
        "tomorrow", "", "2025-01-16", "2025-01-16T12:00:00", 5, None.__class__, datetime(2025, 1, 16),  # noqa: DTZ001
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), "x" * 10_000,
    ],
)  # fmt: skip
def test_a_date_that_cannot_be_is_refused(moment):
    assert code_of(scheduled_at=moment) == "BAD_DATE"


@pytest.mark.parametrize(
    "moment",
    [
        "2025-01-16T12:00:00Z", "2025-01-16T14:00:00+02:00", datetime(2025, 1, 16, 12, tzinfo=UTC),
        datetime(2025, 1, 16, 4, tzinfo=timezone(timedelta(hours=-8))),
    ],
)  # fmt: skip
def test_a_date_with_a_time_zone_is_taken_as_an_instant(moment):
    assert NewJob("mail", "{}", scheduled_at=moment).scheduled_at == 1_737_028_800_000


def test_the_first_and_the_last_instant_are_taken():
    assert check_scheduled_at("1970-01-01T00:00:00Z") == 0
    assert check_scheduled_at("9999-12-31T23:59:59.999Z") == stamp.LAST


def test_a_delay_and_a_date_exclude_each_other():
    assert code_of(delay=1, scheduled_at="2025-01-16T12:00:00Z") == "BAD_DATE"
    assert code_of(delay=0, scheduled_at="2025-01-16T12:00:00Z") == "BAD_DATE"


@pytest.mark.parametrize(
    "timeout", [0, -1, 0.0001, 31 * 86_400 + 1, "5", True, float("nan"), float("inf"), HUGE], ids=kind_of
)
def test_a_timeout_that_cannot_be_is_refused(timeout):
    assert code_of(timeout=timeout) == "BAD_OPTION"


@pytest.mark.parametrize(("timeout", "ms"), [(0.001, 1), (31 * 86_400, 31 * 86_400_000), (timedelta(seconds=2), 2_000)])
def test_a_timeout_is_seconds_or_a_timedelta(timeout, ms):
    assert NewJob("mail", "{}", timeout=timeout).timeout_ms == ms


@pytest.mark.parametrize("window", [0, -1, "for ever", True, float("inf"), LONGEST + 1, HUGE], ids=kind_of)
def test_a_window_that_cannot_be_is_refused(window):
    assert code_of(key="k", key_window=window) == "BAD_OPTION"


@pytest.mark.parametrize(("window", "kept"), [("active", "active"), (60, 60_000), (timedelta(days=1), 86_400_000)])
def test_a_window_is_active_or_a_time(window, kept):
    assert NewJob("mail", "{}", key="k", key_window=window).key_window == kept


def test_a_window_without_a_key_is_refused():
    assert code_of(key_window="active") == "BAD_OPTION"


def test_an_option_nobody_knows_is_refused_with_those_there_are():
    with pytest.raises(BadInput, match=r"unknown option colour, size; a job takes: delay, queue") as caught:
        check_options({"size": 1, "colour": 2, "queue": "x"}, frozenset({"queue", "delay"}))
    assert caught.value.code == "BAD_OPTION"
    check_options({"queue": "x"}, frozenset({"queue"}))


def test_an_option_that_is_misspelt_is_told_with_the_one_that_was_meant():
    with pytest.raises(BadInput, match=r"unknown option colour, dealy: did you mean delay\? a job takes: delay, queue"):
        check_options({"colour": 1, "dealy": 2}, frozenset({"queue", "delay"}))


def test_what_is_no_option_of_a_type_by_its_name_is_led_into_the_payload():
    with pytest.raises(BadInput) as caught:
        check_options({"a": 1, "dealy": 2}, frozenset({"queue", "delay"}), of="add")
    assert str(caught.value) == (
        "unknown option a, dealy: did you mean delay? what the handler takes goes into the payload, a dict: "
        'app.enqueue("add", {"a": ...}); a job takes: delay, queue'
    )
    with pytest.raises(BadInput, match=r"unknown option dealy: did you mean delay\? a job takes: "):
        check_options({"dealy": 2}, frozenset({"queue", "delay"}), of="add")


@pytest.mark.parametrize("given", [{"force": True}, {"coalesce_key": "a", "force": True}, {"coalesce_key": "a", "sequence": 1, "force": 1}])  # fmt: skip
def test_force_is_for_a_number_that_is_known(given):
    assert code_of(**given) == "BAD_OPTION"


def test_requests_that_are_alike_are_a_sequence_of_requests():
    pattern = NewJob("mail", "", queue="q", priority=2)
    many = Alike(pattern, ["[0]", "[1]", "[2]"])
    assert [job.payload for job in many] == ["[0]", "[1]", "[2]"]
    assert (len(many), many[1].payload, many[-1].payload) == (3, "[1]", "[2]")
    assert [(job.type, job.queue, job.priority, job.alike) for job in many[1:]] == [("mail", "q", 2, pattern)] * 2
    assert [job.payload for job in reversed(many[1:])] == ["[2]", "[1]"]
    with pytest.raises(IndexError):
        many[3]


def test_a_forced_request_stays_one_with_another_payload():
    forced = NewJob("mail", "{}", coalesce_key="a", sequence=1, force=True)
    assert (forced.force, forced.with_payload("[]").force, NewJob("mail", "{}").force) == (True, True, False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depends_on": ["a"], "on_parent": "wait"}, "on_parent is cancel or run"),
        ({"on_parent": "run"}, "give depends_on, too"),
        ({"depends_on": ["a"], "coalesce_key": "c"}, "the newest request waits for no other"),
        ({"depends_on": [str(number) for number in range(1_001)]}, "at most 1000"),
        ({"limits": ["a", "b", "c", "d", "e"]}, "at most 4"),
    ],
)
def test_ties_that_cannot_be_are_refused(options, words):
    with pytest.raises(BadInput, match=words) as caught:
        NewJob("mail", "{}", **options)
    assert caught.value.code == "BAD_OPTION"


@pytest.mark.parametrize(
    ("given", "meant"), [("max_retries", "max_attempts"), ("countdown", "delay"), ("eta", "scheduled_at")]
)
def test_an_option_as_other_queues_call_it_is_known(given, meant):
    with pytest.raises(BadInput, match=f"unknown option {given}: did you mean {meant}\\?"):
        check_options({given: 3}, frozenset({"max_attempts", "max_crashes", "delay", "scheduled_at"}))
