"""Schedules on every store: what the code says, what a person changes, and ticks that make each job once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.engine import jobs, schedules
from holdfast.engine.desk import Desk
from holdfast.engine.explain import explain
from holdfast.model import stamp
from holdfast.model.errors import BadInput, Conflict, NotFound
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.schedule import key_of, plan_of
from tests.engine.given import DONE, claim, finish
from tests.store.given import BACK_ENDS, HOUR, MINUTE, NOON, Clock

REPORT = Lane("default", "report")


@pytest.fixture(params=BACK_ENDS)
def desk(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Desk]:
    opened = Desk(BACK_ENDS[request.param](tmp_path, clock))
    yield opened
    opened.close()


def plan(cron: str | None = "0 * * * *", **more):
    options = {name: more.pop(name) for name in ("queue", "tenant") if name in more}
    return plan_of(NewJob("report", more.pop("payload", "{}"), **options), cron=cron, **more)


def declare(desk, name="hourly", **more):
    return desk.write(schedules.declare, {name: plan(**more)})


def add(desk, name="hourly", **more):
    return desk.write(schedules.add, name, plan(**more), by="ann")


def tick(desk, name="hourly"):
    return desk.write(schedules.tick, name)


def row(desk, name="hourly"):
    return desk.read(schedules.get, name)


def made(desk):
    """The ticks that have a job, oldest first."""
    found, _ = desk.read(jobs.list_jobs, limit=1000)
    return sorted(stamp.from_datetime(job.scheduled_at) - NOON for job in found)


def end_all(desk):
    for run in claim(desk, REPORT, limit=100):
        assert finish(desk, run, DONE)


def act(desk, verb, name="hourly"):
    return desk.write(verb, name, by="ann")


def test_a_tick_makes_one_job_and_moves_on(desk, clock):
    declare(desk, queue="slow", tenant="acme")
    assert tick(desk) == {}
    clock.forward(HOUR)
    assert tick(desk) == {"fired": 1, "skipped": 0, "missed": 0}
    assert tick(desk) == {}
    (job,), _ = desk.read(jobs.list_jobs)
    assert (job.type, job.queue, job.tenant, job.idempotency_key) == (
        "report", "slow", "acme", key_of("hourly", NOON + HOUR),
    )  # fmt: skip
    now = row(desk)
    assert (now.last_tick, now.next_tick, now.last_job, now.fired) == (NOON + HOUR, NOON + 2 * HOUR, job.id, 1)


def test_every_schedule_is_ticked_and_the_next_look_is_told(desk, clock):
    declare(desk)
    declare(desk, "minutes", cron=None, every=60)
    assert schedules.tick_all(desk) == ({}, 30.0)
    clock.forward(59 * MINUTE + 50_000)
    assert schedules.tick_all(desk) == ({"fired": 1, "skipped": 0, "missed": 58}, 10.0)
    clock.forward(10_000)
    end_all(desk)
    assert schedules.tick_all(desk) == ({"fired": 2, "skipped": 0, "missed": 0}, 30.0)
    assert schedules.tick_all(desk) == ({}, 30.0)


@pytest.mark.parametrize(
    ("catch_up", "ticks", "missed"),
    [("last", [5 * HOUR], 4), ("none", [], 5), ("all", [HOUR * number for number in range(1, 6)], 0)],
)
def test_after_an_outage_the_policy_decides(desk, clock, catch_up, ticks, missed):
    declare(desk, catch_up=catch_up)
    clock.forward(5 * HOUR + 10 * MINUTE)
    tick(desk)
    assert made(desk) == ticks
    now = row(desk)
    assert (now.missed, now.fired, now.last_tick - NOON) == (missed, len(ticks), 5 * HOUR)
    assert now.note == ("" if not missed else f"missed {missed} up to 2025-01-16T17:00:00.000Z: nobody was there")
    assert tick(desk) == {}


def test_a_tick_is_skipped_while_the_job_before_has_not_ended(desk, clock):
    declare(desk)
    clock.forward(HOUR)
    tick(desk)
    clock.forward(HOUR)
    assert tick(desk) == {"fired": 0, "skipped": 1, "missed": 0}
    now = row(desk)
    assert (now.skipped, now.last_tick) == (1, NOON + 2 * HOUR)
    assert now.note == f"skipped 2025-01-16T14:00:00.000Z: job {now.last_job} had not ended"
    end_all(desk)
    clock.forward(HOUR)
    assert tick(desk)["fired"] == 1
    assert made(desk) == [HOUR, 3 * HOUR]


def test_overlap_is_allowed_where_it_is_asked_for(desk, clock):
    declare(desk, overlap="allow")
    for _ in range(3):
        clock.forward(HOUR)
        assert tick(desk)["fired"] == 1
    assert made(desk) == [HOUR, 2 * HOUR, 3 * HOUR]


def test_a_job_that_is_gone_is_no_reason_to_skip(desk, clock):
    declare(desk)
    clock.forward(HOUR)
    tick(desk)
    end_all(desk)
    desk.write(jobs.purge, row(desk).last_job)
    clock.forward(HOUR)
    assert tick(desk)["fired"] == 1


def test_a_clock_that_was_set_back_makes_no_job_twice_and_loses_none(desk, clock):
    declare(desk, overlap="allow")
    for _ in range(3):
        clock.forward(HOUR)
        tick(desk)
    clock.forward(-2 * HOUR - MINUTE)  # 13:59 - 2 h = 12:59: it shows 13:00, 14:00 and 15:00 once more
    assert tick(desk) == {"set_back": 1}
    assert row(desk).next_tick == NOON + HOUR
    for _ in range(4):
        clock.forward(HOUR)
        tick(desk)
    assert made(desk) == [HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR]


def test_a_clock_that_leapt_far_ahead_and_back_does_not_silence_a_schedule(desk, clock):
    declare(desk, overlap="allow")
    clock.forward(10_000 * HOUR)
    tick(desk)
    clock.forward(-10_000 * HOUR)
    schedules.tick_all(desk)
    clock.forward(HOUR)
    schedules.tick_all(desk)
    assert made(desk) == [HOUR, 10_000 * HOUR]


def test_a_key_that_somebody_took_is_no_reason_to_stop(desk, clock):
    declare(desk)
    desk.write(jobs.enqueue, [NewJob("mine", '{"other":1}', key=key_of("hourly", NOON + HOUR))])
    clock.forward(HOUR)
    assert tick(desk) == {"fired": 0, "skipped": 0, "missed": 0}
    clock.forward(HOUR)
    assert tick(desk)["fired"] == 1


def test_what_the_code_says_again_changes_nothing(desk, clock):
    assert declare(desk) == 1
    clock.forward(30 * MINUTE)
    assert declare(desk) == 0
    assert row(desk).version == 1


def test_new_code_changes_its_schedule_and_keeps_a_tick_that_has_come(desk, clock):
    declare(desk)
    clock.forward(HOUR + MINUTE)
    assert declare(desk, payload='{"new":1}') == 1
    assert tick(desk)["fired"] == 1  # the tick of 13:00, which came before the new code did
    assert declare(desk, cron="30 * * * *") == 1
    now = row(desk)
    assert (now.next_tick, now.source, now.code) == (NOON + HOUR + 30 * MINUTE, "code", now.plan)


def test_a_schedule_may_begin_before_it_is_stored(desk, clock):
    clock.forward(2 * HOUR)
    desk.write(schedules.declare, {"hourly": plan()}, {"hourly": NOON})
    assert row(desk).next_tick == NOON + HOUR


def test_what_a_person_changed_beats_the_code_until_reset(desk):
    declare(desk)
    add(desk, cron="15 * * * *")
    assert declare(desk, cron="45 * * * *") == 0
    now = row(desk)
    assert (now.plan.cron, now.source, now.code.cron, now.updated_by) == ("15 * * * *", "runtime", "45 * * * *", "ann")
    after = act(desk, schedules.reset)
    assert (after.plan.cron, after.source, after.next_tick) == ("45 * * * *", "code", NOON + 45 * MINUTE)
    assert row(desk) == after


def test_a_removed_schedule_stays_away_although_the_code_has_it(desk, clock):
    declare(desk)
    assert act(desk, schedules.remove).removed
    declare(desk)
    clock.forward(HOUR)
    assert tick(desk) == {}
    for verb in (schedules.pause, schedules.resume, schedules.remove):
        with pytest.raises(NotFound, match="was removed"):
            act(desk, verb)
    assert not act(desk, schedules.reset).removed
    clock.forward(HOUR)
    assert tick(desk)["fired"] == 1


def test_a_removed_schedule_can_be_made_anew(desk):
    declare(desk)
    act(desk, schedules.remove)
    schedule, created = add(desk, cron="15 * * * *")
    assert (created, schedule.removed, schedule.next_tick) == (True, False, NOON + 15 * MINUTE)


def test_one_that_was_made_at_run_time_is_gone_when_it_is_removed(desk):
    assert add(desk)[1]
    assert not add(desk)[1]
    act(desk, schedules.remove)
    assert desk.read(schedules.schedules) == []
    with pytest.raises(NotFound):
        act(desk, schedules.remove)


def test_what_the_code_never_had_cannot_be_reset(desk):
    add(desk)
    with pytest.raises(Conflict) as caught:
        act(desk, schedules.reset)
    assert caught.value.code == "NOT_IN_CODE"


def test_one_that_was_made_at_run_time_beats_code_that_comes_later(desk):
    add(desk, cron="15 * * * *")
    declare(desk)
    assert row(desk).plan.cron == "15 * * * *"
    assert act(desk, schedules.reset).plan.cron == "0 * * * *"


def test_a_paused_schedule_makes_no_jobs_and_catches_up_none(desk, clock):
    declare(desk, catch_up="all")
    schedule, changed = act(desk, schedules.pause)
    assert (schedule.paused_by, changed) == ("ann", True)
    assert act(desk, schedules.pause)[1] is False
    clock.forward(5 * HOUR)
    assert tick(desk) == {}
    assert schedules.tick_all(desk) == ({}, 30.0)
    assert act(desk, schedules.resume)[1] is True
    assert act(desk, schedules.resume)[1] is False
    assert schedules.tick_all(desk) == ({}, 30.0)
    clock.forward(HOUR)
    tick(desk)
    assert made(desk) == [6 * HOUR]


def test_a_reset_lifts_a_pause(desk):
    declare(desk)
    act(desk, schedules.pause)
    assert not act(desk, schedules.reset).idle


def test_a_job_can_be_triggered_beside_the_ticks(desk, clock):
    declare(desk)
    act(desk, schedules.pause)
    first, second = desk.write(schedules.trigger, "hourly"), desk.write(schedules.trigger, "hourly")
    assert first != second
    assert row(desk).last_job == first  # it has not ended: it is the one that a tick would run into
    assert row(desk).next_tick == NOON + HOUR
    act(desk, schedules.resume)
    clock.forward(HOUR)
    assert tick(desk)["skipped"] == 1


def test_explain_names_the_schedule(desk, clock):
    declare(desk)
    clock.forward(HOUR)
    tick(desk)
    by_tick, by_hand = row(desk).last_job, desk.write(schedules.trigger, "hourly")
    for job_id, text in (
        (by_tick, "made by schedule 'hourly', for its tick of 2025-01-16T13:00:00.000Z"),
        (by_hand, "made by schedule 'hourly', by hand"),
    ):
        assert desk.read(explain, job_id)["reasons"][-1] == {"code": "SCHEDULED", "text": text}


def test_a_schedule_that_cannot_be_ticked_does_not_keep_others_from_it(desk, clock, caplog):
    declare(desk)
    declare(desk, "broken")
    broken = row(desk, "broken")
    wrong = replace(broken.plan, tz="Mars/Olympus")  # a zone that this machine no longer knows
    assert desk.write(lambda tx: tx.change_schedule(replace(broken, plan=wrong)))
    clock.forward(HOUR)
    assert schedules.tick_all(desk) == ({"failed": 1, "fired": 1, "skipped": 0, "missed": 0}, 30.0)
    assert "schedule broken was not ticked" in caplog.text
    assert made(desk) == [HOUR]


def test_a_schedule_nobody_knows_is_not_found(desk):
    assert tick(desk, "nobody") == {}
    with pytest.raises(NotFound) as caught:
        row(desk, "nobody")
    assert caught.value.code == "SCHEDULE_NOT_FOUND"
    for name in ("", "a\nb", None, "x" * 300):
        with pytest.raises(BadInput):
            row(desk, name)


def test_two_that_make_the_same_schedule_at_once_make_one(desk):
    """The first look saw none; by the time it is stored, another process has made it."""

    def late(tx):
        hold, tx_hold = [None], tx.hold_schedule
        assert schedules.add(tx, "hourly", plan(), by="bob")[1]

        class Late:
            def __getattr__(self, name):
                return getattr(tx, name)

            def hold_schedule(self, name):
                return hold.pop() if hold else tx_hold(name)

        return schedules.add(Late(), "hourly", plan(cron="15 * * * *"), by="ann")

    schedule, created = desk.write(late)
    assert (created, schedule.plan.cron, schedule.updated_by) == (False, "15 * * * *", "ann")
