"""A handle on an enqueued job: its id, and what became of it."""

from __future__ import annotations

import sys
from time import monotonic

from holdfast.model.errors import BadInput, HoldfastError, JobCancelled, JobFailed, ResultTimeout
from holdfast.model.request import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.app import App
    from holdfast.model.job import Job
    from holdfast.model.status import Status

_LONGEST_WAIT = 3600.0


class Handle:
    """`outcome` says what the enqueue did: it `created` a job, or found a `duplicate` because the idempotency key was
    taken; with a coalesce key it may have `replaced` a job that waits, or be `discarded` because a newer one is known.
    """

    __slots__ = ("_app", "id", "outcome")

    def __init__(self, app: App, job_id: str, *, outcome: str) -> None:
        self._app = app
        self.id = job_id
        self.outcome = outcome

    @property
    def created(self) -> bool:
        """Whether a new job was stored."""
        return self.outcome == "created"

    def job(self) -> Job:
        """The job as it is now."""
        return self._app.get(self.id)

    def status(self) -> Status:
        """Where the job stands."""
        return self.job().status

    def result(self, timeout: float | None = None) -> Any:
        """Wait until the job has ended: its result, or JobFailed, JobCancelled, ResultTimeout."""
        if "asyncio" in sys.modules and sys.modules["asyncio"]._get_running_loop() is not None:  # noqa: SLF001
            raise HoldfastError(
                "USE_AWAIT", "result() would block the running event loop: use `await handle.aresult()`"
            )
        deadline = deadline_of(timeout)
        job = self.job()
        while not job.ended or _successor(job):  # an overtaken job's result is that of its successor
            left = deadline - monotonic()
            if left <= 0:
                raise _too_late(job, timeout)
            if not job.ended:
                self._app.watch.wait(job.id, job.version, min(left, _LONGEST_WAIT))
            job = self._app.get(_successor(job) or job.id)
        return _result(job)

    async def aresult(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109
        """Wait for the same in a coroutine."""
        from holdfast.engine import jobs  # noqa: PLC0415

        deadline = deadline_of(timeout)
        job = await self._app.desk.aread(jobs.get, self.id)
        while not job.ended or _successor(job):
            left = deadline - monotonic()
            if left <= 0:
                raise _too_late(job, timeout)
            if not job.ended:
                await self._app.watch.await_change(job.id, job.version, min(left, _LONGEST_WAIT))
            job = await self._app.desk.aread(jobs.get, _successor(job) or job.id)
        return _result(job)

    def cancel(self, *, mode: str = "immediate") -> dict[str, Any]:
        """Stop the job."""
        return self._app.cancel(self.id, mode=mode)

    def __repr__(self) -> str:
        return f"<Handle {self.id}>"


def deadline_of(timeout: object) -> float:
    """When a wait is over, by the monotonic clock."""
    if timeout is None:
        return float("inf")
    from math import isnan  # noqa: PLC0415  # a cold hook waits for nothing

    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or isnan(timeout):
        raise BadInput("BAD_OPTION", f"timeout is a number of seconds, or None to wait for ever, not {shown(timeout)}")
    return monotonic() + timeout


def _too_late(job: Job, timeout: float | None) -> ResultTimeout:
    last = "" if job.error is None else f"; its last error was {job.error['class']}: {job.error['message']}"
    return ResultTimeout(
        "RESULT_TIMEOUT",
        f"job {job.id} has not ended within {timeout} s: it is {job.status.value}{last}; "
        f"`holdfast job explain {job.id}` tells why, or app.explain(id)",
    )


def _successor(job: Job) -> str | None:
    return job.error.get("successor") if job.ended and job.error is not None else None


def _result(job: Job) -> Any:
    if job.status == "completed":
        return job.result
    from holdfast.model.job import raised_at, raised_from  # noqa: PLC0415  # whoever has a job has it loaded

    error = job.error or {"class": "", "message": "", "code": ""}
    where = f" ({lines[0]})" if (lines := raised_at(error)) else ""
    text = f"job {job.id} ended {job.status.value}: {error['class']}: {error['message']}{where}{raised_from(error)}"
    raise (JobCancelled("JOB_CANCELLED", text) if job.status == "cancelled" else JobFailed("JOB_FAILED", text))
