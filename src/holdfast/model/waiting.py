"""What holds a waiting job back, in a few words, from its row alone: for lists, where `explain` costs too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model.held import ALONE, BEHIND, BLOCKED, GROUP_PAUSED, LIMITED, TENANT_PAUSED
from holdfast.model.limit import ASIDE, FAIR, readable
from holdfast.model.status import Status

if TYPE_CHECKING:
    from holdfast.model.job import Job


def held_back(job: Job) -> str | None:
    """The most decisive of all that holds a queued job back; None if nothing does."""
    if job.status is not Status.QUEUED or not job.held:
        return None
    words = {
        BLOCKED: "waits for another job" if job.blocked == 1 else f"waits for {job.blocked} other jobs",
        GROUP_PAUSED: "its group is paused",
        TENANT_PAUSED: "its tenant is paused",
        BEHIND: "waits until the run before it has ended",
        LIMITED: _in_line(job.lane),
        ALONE: "runs next in a process of its own",
    }
    return next((text for bit, text in words.items() if job.held & bit), None)


def _in_line(lane: str | None) -> str:
    key = (lane or "").rpartition(ASIDE)[2]
    if not key or key.startswith(FAIR):
        return "waits for its turn"
    return f"waits for limit {readable(key)}"
