"""What holds a waiting job back, in a few words."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest

from holdfast.model.held import ALONE, BEHIND, BLOCKED, GROUP_PAUSED, LIMITED, TENANT_PAUSED
from holdfast.model.job import Job
from holdfast.model.limit import ASIDE
from holdfast.model.status import Status
from holdfast.model.waiting import held_back

NOON = datetime(2025, 1, 16, 12, tzinfo=UTC)
NOTHING = dict.fromkeys((field.name for field in fields(Job)), None)
JOB = Job(**NOTHING | {"id": "a", "type": "t", "status": Status.QUEUED, "held": 0, "blocked": 0, "scheduled_at": NOON})


@pytest.mark.parametrize(
    ("held", "facts", "told"),
    [
        (0, {}, None),
        (BLOCKED, {"blocked": 1}, "waits for another job"),
        (BLOCKED | LIMITED, {"blocked": 3}, "waits for 3 other jobs"),
        (GROUP_PAUSED, {}, "its group is paused"),
        (TENANT_PAUSED | ALONE, {}, "its tenant is paused"),
        (BEHIND, {}, "waits until the run before it has ended"),
        (ALONE, {}, "runs next in a process of its own"),
        (LIMITED, {"lane": "site:alpha.example"}, "waits for limit site:alpha.example"),
        (LIMITED, {"lane": f"{ASIDE}site:alpha.example"}, "waits for limit site:alpha.example"),
        (LIMITED, {"lane": "fair:mail\x1facme"}, "waits for its turn"),
        (LIMITED, {"lane": None}, "waits for its turn"),
        (1 << 20, {}, None),  # a bit of a newer version
    ],
)
def test_a_queued_job_tells_what_holds_it_back(held, facts, told):
    assert held_back(replace(JOB, held=held, **facts)) == told


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.QUEUED])
def test_a_job_that_is_not_queued_is_not_held_back(status):
    assert held_back(replace(JOB, status=status, held=LIMITED)) is None
