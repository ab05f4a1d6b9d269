"""What a handler may know and do about its own run: take a parameter annotated `holdfast.JobContext`."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import jobs
from holdfast.engine.leases import progress
from holdfast.engine.sealing import unseal
from holdfast.model.errors import BadInput, PayloadError, StoreError
from holdfast.model.job import loads
from holdfast.model.payload import encode
from holdfast.worker.following import asked_for, inherit
from holdfast.worker.transaction import EndingBlock

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engine.desk import Desk
    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob

_SHOWN_EVERY = 0.25  # progress is written at most four times a second
_PROGRESS_LIMIT = 64 * 1024


class JobContext:
    """The run that a handler is in."""

    def __init__(self, claim: Claim, desk: Desk, enter: Callable[[int], None] | None = None) -> None:
        self._claim = claim
        self._desk = desk
        self._enter = enter
        self.follow_ups: list[NewJob] = []
        self.settled = False  # the run ended in the handler's own transaction
        self._stop = threading.Event()
        self._shown_at = 0.0
        self._progress: dict[str, Any] = {}
        self._text = ""
        self._unshown = False
        self._writing: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        """The job's id."""
        return self._claim.id

    @property
    def type(self) -> str:
        """The job's type."""
        return self._claim.type

    @property
    def attempt(self) -> int:
        """Which run this is, from 1."""
        return self._claim.attempts

    @property
    def tenant(self) -> str:
        """Whose job it is."""
        return self._claim.tenant

    @property
    def group(self) -> str | None:
        """The group it belongs to."""
        return self._claim.group

    @property
    def batch(self) -> str | None:
        """The batch it is part of."""
        return self._claim.batch

    @property
    def item(self) -> int | None:
        """Its number there, from 0."""
        return self._claim.item

    @property
    def context(self) -> dict[str, Any]:
        """Who asked for it: user_id, user_role, correlation_id, trace_id."""
        try:
            return loads(self._claim.context)  # type: ignore[no-any-return]
        except ValueError:
            raise PayloadError("PAYLOAD_NOT_JSON", f"context of job {self._claim.id} is not JSON") from None

    @property
    def auth(self) -> dict[str, Any] | None:
        """What a person gave when the job was resumed, `{}` if nothing; None if nobody was asked. Kept until the job
        ends, or asks again.
        """
        if self._claim.auth_data is None:
            return {} if self._claim.parks else None
        return unseal(self._claim.id, self._claim.auth_data)  # type: ignore[no-any-return]

    @property
    def cancelled(self) -> bool:
        """Whether the run should stop: a cancel was asked for, the lease is lost, or the worker stops."""
        return self._stop.is_set()

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Show how far the run is. Cheap to call often: at most four are written each second, and the last one."""
        self._progress |= {"done": done, "total": total, "message": message}
        self._show(final=total is not None and done >= total)

    def partial(self, value: Any) -> None:
        """Show a result so far; watchers see it while the job runs."""
        self._progress |= {"partial": value}
        self._show(final=True)

    def enqueue(self, call: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Store another job at once: `job.enqueue(thumbnail, path="a.png")`, or `job.enqueue(thumbnail.call("a.png"))`;
        answers a handle on it.

        It stays, however this run ends. It has the tenant, group and context of this job unless the call says
        otherwise, and the maximum depth of its queue does not bind it.
        """
        asked = asked_for(call, args, kwargs)
        ((job_id, outcome),) = self._desk.write(jobs.follow, [inherit(asked.new_job(), self._claim)], self._claim)
        return asked.handle(job_id, outcome)

    async def aenqueue(self, call: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Store another job at once, from a coroutine."""
        asked = asked_for(call, args, kwargs)
        asked_job = inherit(asked.new_job(), self._claim)
        ((job_id, outcome),) = await self._desk.awrite(jobs.follow, [asked_job], self._claim)
        return asked.handle(job_id, outcome)

    def follow_up(self, call: Any, /, *args: Any, **kwargs: Any) -> None:
        """Store another job together with this one's completion, in the same transaction.

        If this run ends in any other way, or is overtaken by a newer request, nothing is stored. It is checked here and
        now; it has the tenant, group and context of this job unless the call says otherwise.
        """
        if self.settled:
            raise BadInput("BAD_OPTION", "this run is over, its transaction has ended it: ask for it before the block")
        self.follow_ups.append(inherit(asked_for(call, args, kwargs).new_job(), self._claim))

    def transaction(self) -> EndingBlock:
        """`with job.transaction() as tx: tx.execute(...); tx.result = {...}`: the handler's own writes, its follow-ups
        and its completion are committed together. In a coroutine: `async with`, and `await tx.execute(...)`.

        If the lease is lost or the job was cancelled, all of it is rolled back and Conflict (LEASE_LOST) raised. After
        the block the run is over: return from the handler. On SQLite the block holds the only write lock, so it may
        take a second at most.
        """
        return EndingBlock(self, self._desk, self._claim, self._enter)

    def flush(self) -> None:
        """Write the last progress, from a thread; called when the handler has returned."""
        if self._unshown:
            self._write()

    async def aflush(self) -> None:
        """Write the last progress, from a coroutine."""
        if self._writing is not None:
            await self._writing
        if self._unshown:
            await self._awrite()

    def _show(self, *, final: bool) -> None:
        self._text = encode(self._progress, what="progress", limit=_PROGRESS_LIMIT)
        self._unshown = True
        now = monotonic()
        if not final and now - self._shown_at < _SHOWN_EVERY:
            return
        self._shown_at = now
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._write()
            return
        if self._writing is None or self._writing.done():  # a coroutine must not wait for the disk
            self._writing = loop.create_task(self._awrite())

    def _write(self) -> None:
        self._unshown = False
        try:
            held = self._desk.write(progress, self._claim.id, self._claim.token, self._text)
        except StoreError:  # away for a while: the run goes on, and the next one may get through
            return
        if not held:
            self._stop.set()

    async def _awrite(self) -> None:
        self._unshown = False
        try:
            held = await self._desk.awrite(progress, self._claim.id, self._claim.token, self._text)
        except StoreError:
            return
        if not held:
            self._stop.set()

    def stop(self) -> None:
        """Ask the handler to end; called by the worker."""
        self._stop.set()
