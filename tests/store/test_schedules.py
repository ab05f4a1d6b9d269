from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from holdfast.model.schedule import Plan, Schedule, plan_of
from tests.store.given import HOUR, MINUTE, NOON, news_of, write

STAMP = stamp.to_text(NOON)


def plan(cron: str | None = "0 * * * *", **more: object) -> Plan:
    return plan_of(NewJob("report", '{"text":"ü \\u0000 \\"quoted\\""}', tenant="acme"), cron=cron, **more)


def schedule(name: str = "nightly", **more: object) -> Schedule:
    row = Schedule(
        name=name, plan=plan(), code=None, source="runtime", paused_at=None, paused_by=None, removed=False,
        last_tick=None, next_tick=NOON + HOUR, last_job=None, fired=0, skipped=0, missed=0, note="", updated_at=STAMP,
        updated_by="ann", version=1,
    )  # fmt: skip
    return replace(row, **more)


FULL = schedule(
    "full",
    plan=plan(None, every=90, catch_up="all", overlap="allow"),
    code=plan(tz="Europe/Vienna"),
    source="code",
    paused_at=STAMP,
    paused_by="bob",
    removed=True,
    last_tick=NOON - 1,
    next_tick=None,
    last_job="01JHQ8Y3M0G5V7T2K4N6P8R0SD",
    fired=3_000_000_000,
    skipped=2,
    missed=1,
    note="it is so",
)


def add(store, row):
    return write(store, lambda tx: tx.add_schedule(row))


def change(store, row):
    return write(store, lambda tx: tx.change_schedule(row))


def named(store, name=None):
    return store.read(lambda tx: tx.schedules(name))


def due(store):
    return store.read(lambda tx: tx.due_schedules())


@pytest.mark.parametrize("row", [schedule(), FULL], ids=["plain", "full"])
def test_a_schedule_is_read_as_it_was_stored(store, row):
    assert add(store, row)
    assert named(store, row.name) == [row]
    assert write(store, lambda tx: tx.hold_schedule(row.name)) == row


def test_a_schedule_is_stored_once(store, other):
    assert add(store, schedule())
    assert not add(other, schedule(note="another"))
    assert named(store) == [schedule()]


def test_schedules_are_listed_by_name(store):
    for name in ("b", "ü", "B", "a"):
        add(store, schedule(name))
    assert [row.name for row in named(store)] == ["B", "a", "b", "ü"]


def test_there_is_no_schedule_of_another_name(store):
    assert named(store, "nightly") == []
    assert write(store, lambda tx: tx.hold_schedule("nightly")) is None


def test_a_change_counts_its_version_and_tells_the_time(store, clock):
    add(store, schedule())
    clock.forward(MINUTE)
    assert change(store, replace(FULL, name="nightly"))
    assert named(store) == [replace(FULL, name="nightly", version=2, updated_at=stamp.to_text(NOON + MINUTE))]


def test_a_change_of_what_has_changed_since_is_refused(store, other):
    add(store, schedule())
    assert change(other, schedule(note="first"))
    assert not change(store, schedule(note="second"))
    assert named(store)[0].note == "first"


def test_a_dropped_schedule_is_gone(store):
    add(store, schedule())
    assert write(store, lambda tx: tx.drop_schedule("nightly"))
    assert not write(store, lambda tx: tx.drop_schedule("nightly"))
    assert named(store) == []


def test_a_schedule_is_due_when_its_tick_has_come(store, clock):
    add(store, schedule("late", next_tick=NOON + 2 * HOUR))
    add(store, schedule("soon"))
    assert due(store) == ([], NOON + HOUR)
    clock.forward(HOUR)
    assert due(store) == (["soon"], NOON + 2 * HOUR)
    clock.forward(HOUR)
    assert due(store) == (["soon", "late"], None)


@pytest.mark.parametrize("state", [{"paused_at": STAMP, "paused_by": "ann"}, {"removed": True}, {"next_tick": None}])
def test_one_that_makes_no_jobs_is_never_due(store, clock, state):
    add(store, schedule(**state))
    clock.forward(2 * HOUR)
    assert due(store) == ([], None)


def test_one_that_is_ahead_of_a_clock_that_was_set_back_is_looked_at(store):
    add(store, schedule(last_tick=NOON + 1, next_tick=NOON + HOUR))
    assert due(store) == (["nightly"], NOON + HOUR)


def test_a_change_makes_those_look_who_wait_for_a_tick(store):
    assert news_of(store, lambda tx: tx.add_schedule(schedule())).queues == {"*"}
    assert news_of(store, lambda tx: tx.change_schedule(schedule())).queues == {"*"}
    assert not news_of(store, lambda tx: tx.change_schedule(schedule(version=2), tell=False))


@pytest.mark.parametrize(
    "wrong", [{"source": "nobody"}, {"plan": replace(plan(), catch_up="some")}, {"plan": replace(plan(), overlap="x")},
              {"plan": replace(plan(), cron=None)}, {"plan": replace(plan(), every_ms=5_000)}, {"paused_by": "ann"}],
)  # fmt: skip
def test_the_table_itself_refuses_what_cannot_be(store, wrong):
    with pytest.raises(StoreError):
        add(store, schedule(**wrong))
    assert named(store) == []
