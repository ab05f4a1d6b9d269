"""A group of jobs, as an application sees it: `app.group(key)`. A group is open: it is whatever bears its key."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import cancels, groups, pauses
from holdfast.handle import deadline_of
from holdfast.model.errors import HoldfastError, ResultTimeout
from holdfast.model.request import check_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.app import App
    from holdfast.model.job import Job

PYTHON = "python"  # who pauses, unless he gives his name
_PAGE = 200
_LONGEST_WAIT = 3600.0


class Group:
    """The jobs of one tenant that were enqueued with one `group`."""

    __slots__ = ("_app", "key", "tenant")

    def __init__(self, app: App, key: str, tenant: str = "") -> None:
        self._app = app
        self.key = check_name("group", key)
        self.tenant = tenant if tenant == "" else check_name("tenant", tenant)

    # -- look

    def progress(self) -> dict[str, Any]:
        """How far it is: `total`, `done`, `failed`, `percent`, `counts` by status, `errors`, `paused`, `version`."""
        return self._app.desk.read(groups.progress, self.key, self.tenant)

    async def aprogress(self) -> dict[str, Any]:
        """The same from a coroutine."""
        return await self._app.desk.aread(groups.progress, self.key, self.tenant)

    def jobs(self, *, status: str | None = None, after: str = "", limit: int = 100) -> list[Job]:
        """Its jobs, oldest first; `after` is the id of the last one seen."""
        return self._app.desk.read(groups.members, self.key, self.tenant, status=status, after=after, limit=limit)

    def errors(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """Why jobs of it ended badly, the oldest first: id, type, status, code, message."""
        return self._app.desk.read(groups.errors, self.key, self.tenant, limit=limit)

    def results(self) -> Iterator[tuple[str, Any]]:
        """The results there are so far, as (job id, result), oldest job first; read page by page."""
        after = ""
        while page := self.jobs(status="completed", after=after, limit=_PAGE):
            yield from ((job.id, job.result) for job in page)
            after = page[-1].id

    # -- wait

    def wait(self, timeout: float | None = None) -> dict[str, Any]:
        """Wait until every job has ended: the progress then; ResultTimeout if they have not in time.

        The group is open: jobs enqueued later are waited for by those who wait then.
        """
        if "asyncio" in sys.modules and sys.modules["asyncio"]._get_running_loop() is not None:  # noqa: SLF001
            raise HoldfastError("USE_AWAIT", "wait() would block the running event loop: use `await group.await_()`")
        deadline = deadline_of(timeout)
        while (seen := self.progress())["done"] < seen["total"]:
            self._app.watch.wait((self.tenant, self.key), seen["version"], self._left(deadline, seen, timeout))
        return seen

    async def await_(self, timeout: float | None = None) -> dict[str, Any]:  # noqa: ASYNC109
        """Wait for the same in a coroutine."""
        deadline = deadline_of(timeout)
        watch = self._app.watch
        while (seen := await watch.groups.read(self.key, self.tenant))["done"] < seen["total"]:
            left = self._left(deadline, seen, timeout)
            await watch.await_change((self.tenant, self.key), seen["version"], left)
        return dict(seen)  # others have it, too

    def _left(self, deadline: float, seen: dict[str, Any], timeout: float | None) -> float:
        left = deadline - monotonic()
        if left > 0:
            return min(left, _LONGEST_WAIT)
        raise ResultTimeout(
            "RESULT_TIMEOUT",
            f"group {self.key!r} is not done within {timeout} s: {seen['done']} of {seen['total']} jobs have ended",
        )

    # -- act

    def cancel(
        self,
        *,
        mode: str = "immediate",
        types: Sequence[str] | None = None,
        wait: float = 0.0,
        actor: str | None = None,
    ) -> dict[str, Any]:
        """Stop its jobs, all or those of some types; answers what was left, by type and by status.

        `graceful` lets runs that have begun complete, and waits for that for up to `wait` seconds (30 at most);
        `immediate` ends them now and stops their handlers; `full` also waits half a second for these to stop.
        """
        return cancels.cancel(
            self._app.desk, self.key, tenant=self.tenant, mode=mode, types=types, wait=wait, actor=actor
        )

    def pause(self, by: str = PYTHON) -> dict[str, Any]:
        """Let none of its jobs begin; what runs goes on. `by` stands in `explain`."""
        return pauses.pause_group(self._app.desk, self.key, check_name("by", by), tenant=self.tenant)

    def resume(self) -> dict[str, Any]:
        """Let its jobs begin again, unless their queue or their tenant is paused."""
        return pauses.resume_group(self._app.desk, self.key, tenant=self.tenant)

    def __repr__(self) -> str:
        return f"<Group {self.key!r}>"


class Tenant:
    """All jobs of one tenant."""

    __slots__ = ("_app", "name")

    def __init__(self, app: App, name: str) -> None:
        self._app = app
        self.name = check_name("tenant", name)

    def pause(self, by: str = PYTHON) -> dict[str, Any]:
        """Let none of its jobs begin; what runs goes on. `by` stands in `explain`."""
        return pauses.pause_tenant(self._app.desk, self.name, check_name("by", by))

    def resume(self) -> dict[str, Any]:
        """Let its jobs begin again, unless their queue or their group is paused."""
        return pauses.resume_tenant(self._app.desk, self.name)

    def __repr__(self) -> str:
        return f"<Tenant {self.name!r}>"
