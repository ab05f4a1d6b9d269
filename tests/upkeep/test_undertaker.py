"""The undertaker ends the runs of workers of this machine that died, at once."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.engine.desk import Desk
from holdfast.model.policy import Policy
from holdfast.model.status import Status
from holdfast.signals.presence import Presence
from holdfast.upkeep.watchdog import Undertaker
from tests.upkeep.given import job, running

POLICIES = {"work": Policy()}


def dead(folder: Path, owner: str) -> None:
    """As a killed process leaves it: the file is there, the lock is not."""
    os.close(Presence(str(folder), owner)._descriptor)


def test_the_runs_of_a_dead_worker_are_ended_before_their_lease(desk: Desk, tmp_path: Path):
    claims = running(desk, "host:1:aa/1-child", 2) + running(desk, "host:1:aa/12-solo")
    dead(tmp_path, "host:1:aa")
    assert Undertaker(desk, POLICIES, str(tmp_path)).run_once() == {"queued": 3}
    assert {job(desk, claim.id).status for claim in claims} == {Status.QUEUED}


def test_the_runs_of_the_living_and_of_other_machines_are_left_alone(desk: Desk, tmp_path: Path):
    running(desk, "host:2:bb/1-child")
    running(desk, "elsewhere:1:aa/1-child")
    presence = Presence(str(tmp_path), "host:2:bb")
    dead(tmp_path, "host:1:aa")
    assert Undertaker(desk, POLICIES, str(tmp_path)).run_once() == {}
    presence.end()


def test_each_of_the_dead_is_buried_once(desk: Desk, other: Desk, tmp_path: Path):
    running(desk, "host:1:aa/1-child")
    dead(tmp_path, "host:1:aa")
    first, second = Undertaker(desk, POLICIES, str(tmp_path)), Undertaker(other, POLICIES, str(tmp_path))
    assert [first.run_once(), second.run_once(), first.run_once()] == [{"queued": 1}, {}, {}]


def test_a_job_that_kills_its_workers_ends_in_the_dead_letters(desk: Desk, tmp_path: Path):
    (claim,) = running(desk, "host:1:aa/1-child")
    dead(tmp_path, "host:1:aa")
    assert Undertaker(desk, {"work": Policy(max_crashes=1)}, str(tmp_path)).run_once() == {"dead_letter": 1}
    assert (job(desk, claim.id).error or {})["code"] == "WORKER_DIED"
