"""Tasks whose work is one transaction share it."""

from __future__ import annotations

import time

import pytest

from holdfast.engine import jobs
from holdfast.engine.desk import Desk
from holdfast.engine.queues import workers
from holdfast.model import ids
from holdfast.model.alert import Thresholds
from holdfast.model.errors import StoreError
from holdfast.upkeep.alerts import Alerts
from holdfast.upkeep.loop import Upkeep
from holdfast.upkeep.retention import Heartbeat, Retention
from holdfast.upkeep.rounds import Rounds
from holdfast.upkeep.sweeper import Sweeper
from holdfast.upkeep.turn import Turn
from holdfast.upkeep.watchdog import Watchdog
from tests.upkeep.given import waiting

LINE = {"id": "host:1:aa", "host": "host", "pid": 1, "lanes": "[]", "places": 1, "running": 0}


class Told(Turn):
    """Counts its turns."""

    leader_only = False
    slack = 0.0

    def __init__(self, name="told", interval=0.0, *, slack=0.0, leader_only=False, raises=None):
        self.name, self.interval, self.slack, self.leader_only, self.raises = name, interval, slack, leader_only, raises
        self.turns = self.conclusions = 0

    def turn(self, tx):
        self.turns += 1
        if self.raises is not None:
            raise self.raises
        return tx.now

    def conclude(self, answer):
        assert answer > 0
        self.conclusions += 1
        return {"done": 1}


@pytest.fixture
def commits(desk, monkeypatch):
    """The transactions of the desk, each by its number of calls."""
    made = []
    original = desk.store.write

    def counting(calls, **how):
        made.append(len(calls))
        return original(calls, **how)

    monkeypatch.setattr(desk.store, "write", counting)
    return made


def house(desk: Desk) -> Upkeep:
    """What a worker carries, but for the lock files."""
    rounds = Rounds(desk, Watchdog(desk, {}, 60_000), Heartbeat(desk, lambda: LINE))
    return Upkeep(desk, "host:1:aa", [rounds, Retention(desk), Sweeper(desk, [])])


def test_the_whole_house_takes_one_transaction(desk, commits):
    upkeep = house(desk)
    assert upkeep.run_due() == {}
    assert len(commits) == 1
    assert [worker["id"] for worker in desk.read(workers)] == ["host:1:aa"]
    assert upkeep.leads()
    assert len(commits) == 1, "leading was part of it"


def test_what_is_not_due_waits(desk, commits):
    upkeep = house(desk)
    upkeep.run_due()
    upkeep.run_due()
    assert len(commits) == 1
    assert 29 < upkeep.next_at - time.monotonic() <= 30


def test_a_task_with_slack_waits_for_a_transaction_that_is_made_anyway(desk, commits):
    patient = Told("patient", 0.0, slack=3_600)
    prompt = Told("prompt", 3_600)
    upkeep = Upkeep(desk, "a", [patient, prompt])
    upkeep.run_due()  # the prompt one is due, and takes the patient one along
    assert (patient.turns, prompt.turns) == (1, 1)
    upkeep.run_due()
    assert (patient.turns, prompt.turns, len(commits)) == (1, 1, 1)
    assert upkeep.next_at > time.monotonic() + 1_000


def test_one_that_raises_takes_no_other_along(desk, caplog):
    broken, sound = Told("broken", raises=ValueError("out of order")), Told("sound")
    upkeep = Upkeep(desk, "a", [broken, sound])
    assert upkeep.run_due() == {"sound": {"done": 1}}
    assert "broken failed" in caplog.text
    assert sound.conclusions == 1


def test_an_error_of_the_store_is_left_to_the_caller(desk):
    with pytest.raises(StoreError):
        Upkeep(desk, "a", [Told(raises=StoreError("STORE_BUSY", "held by another"))]).run_due()


def test_the_leaders_turns_are_left_to_the_leader(desk, other):
    one, two = Told("t", leader_only=True), Told("t", leader_only=True)
    first, second = Upkeep(desk, "a", [one]), Upkeep(other, "b", [two])
    for upkeep in (first, second, first, second):
        upkeep.run_due()
    assert (one.turns, one.conclusions, two.turns, two.conclusions) == (2, 2, 0, 0)
    first.goodbye()
    second.run_due()
    assert two.turns == 1


def test_the_figures_are_read_apart_where_a_writer_keeps_all_others_out(desk, commits):
    alerts = Alerts(desk, Thresholds(), [])
    assert desk.store.writes_alone
    assert not alerts.shares
    Upkeep(desk, "a", [alerts]).run_due()
    assert len(commits) == 1, "only to lead"


def test_retention_looks_no_further_than_jobs_can_be_old(desk, clock, commits):
    ids._forget()  # another test's clock may have been ahead of this one's
    retention = Retention(desk, window=1)
    assert retention.run_once() == {"deleted": 0}, "the whole table, the first time"
    for job_id in waiting(desk, 3):
        desk.write(jobs.cancel, job_id)
    clock.advance(8 * 24 * 3600)
    for job_id in waiting(desk, 15):
        desk.write(jobs.cancel, job_id)
    commits.clear()
    assert retention.run_once() == {"deleted": 3}
    assert len(commits) == 4, "three that were old, and the first that is not"
    commits.clear()
    assert retention.run_once() == {"deleted": 0}
    assert len(commits) == 1
    retention._whole_at = 0.0  # a day has passed
    for _ in range(2):  # known at the end of a pass
        commits.clear()
        retention.run_once()
    assert len(commits) == 16


def test_sweeps_go_along_in_time(desk):
    sweeper = Sweeper(desk, [("sweep", "default", 600_000)])
    assert (sweeper.interval, sweeper.slack) == (300, 75)
    assert Upkeep(desk, "a", [sweeper]).run_due() == {"sweeper": {"enqueued": 1}}
