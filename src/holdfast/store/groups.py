"""Groups, and what holds them and tenants back, the same on every store.

A group may have a million jobs, so whatever is done to all of it is done part by part: a reader finds the next part,
and a transaction of its own changes it. What is said of the whole group comes first, in a transaction of its own
(`pause_scope`, `cancel_note`); `keep_still` sees to it that whoever stores a job beside it either was there before, and
is found by the walk, or comes after, and finds what was said.
"""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.held import GROUP_PAUSED, TENANT_PAUSED
from holdfast.model.news import group_mark
from holdfast.model.status import Status
from holdfast.store.asking import Line
from holdfast.store.stopping import StoppingVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.model.job import Job

    Counts = dict[str, tuple[int, int]]  # status -> how many, and their versions added up

CANCELS_KEPT_MS = 7 * 24 * 3600 * 1000  # longer than any run should take
_END = "~"  # sorts behind every id


class GroupVerbs(StoppingVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:

        def keep_still(self, what: str, tenant: str, group: str | None) -> None: ...
        def keep_uncancelled(self, tenant: str, group: str) -> None: ...
        def over(self, ended: Sequence[tuple[str, str]]) -> None: ...

    def whose(self, tenant: str) -> str:
        """The tenant that is meant."""
        return tenant

    # -- look

    def group_counts(self, groups: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Counts]:
        given = {(self.whose(tenant), group): (tenant, group) for tenant, group in groups}
        found: dict[tuple[str, str], Counts] = {group: {} for group in groups}
        for tenant, group, status, count, versions in self.run("group_counts", groups=json.dumps(list(given))):
            found[given[tenant, group]][status] = (count, int(versions))
        return found

    def group_jobs(self, tenant: str, group: str, *, status: str | None, after: str, limit: int) -> list[Job]:
        rows = self.run("group_jobs", tenant=self.whose(tenant), group=group, status=status, after=after, limit=limit)
        return list(map(self.job, rows))

    def pauses(self) -> list[dict[str, Any]]:
        names = ("scope", "tenant", "name", "since", "by")
        return [dict(zip(names, row, strict=True)) for row in self.run("pauses_all")]

    # -- cancel

    def cancel_note(self, tenant: str, group: str, *, types: Sequence[str] | None, mode: str, by: str | None) -> None:
        from holdfast.model.ids import new_ids  # noqa: PLC0415

        tenant = self.whose(tenant)
        self.keep_still("cancel", tenant, group)
        named = None if types is None else json.dumps(sorted(types))
        mark = new_ids(self.now, 1)[0]
        self.run("cancel_mark", tenant=tenant, group=group, id=mark, now=self.stamp, types=named, mode=mode, by=by)

    def cancel_mark(self, tenant: str, group: str, type: str, started_at: str) -> bool:
        tenant = self.whose(tenant)
        self.keep_uncancelled(tenant, group)
        return bool(self.run("cancel_marked", tenant=tenant, group=group, type=type, since=started_at))

    def group_open(
        self, tenant: str, group: str, *, after: str, window: int
    ) -> tuple[list[tuple[str, str]], str | None]:
        where = {"tenant": self.whose(tenant), "group": group, "after": after}
        edge = self.run("group_edge", window=window, **where)
        rows = self.run("group_open", edge=edge[0][0] if edge else _END, **where)
        return rows, edge[0][0] if edge else None

    def cancel_many(
        self, ids: Sequence[str], *, graceful: bool, error: str, actor: str | None
    ) -> list[tuple[str, str, str]]:
        named = self.ids(ids)
        keys = [(tenant, kind, key) for tenant, kind, key in self.run("newest_of_many", ids=named)]
        self.lock_keys(keys)  # before the rows, as by those who end a run
        found = self.run("cancel_look", ids=named)
        runs = [row[0] for row in found if row[2] == Status.IN_PROGRESS]
        left_running = set(runs) if graceful else set()
        ended = [row[0] for row in found if row[0] not in left_running]
        changed = [row for row in found if row[0] not in left_running or not row[6]]  # asked once is enough
        if left_running:
            self.change("cancel_ask_many", ids=self.ids(runs), now=self.stamp)
        elif runs:
            self.stopping(runs)
        if ended:
            self.change("cancel_many", ids=self.ids(ended), now=self.stamp, error=error)
        for job_id, _, _, _, tenant, group, _ in changed:
            self.news.jobs.append(job_id)
            if group is not None:
                self.news.groups.add(group_mark(tenant, group))
        self.write_history([Line(row[0], row[2], "cancel", row[3], actor=actor) for row in changed])
        if ended:
            self.free_newest(keys)
            self.over([(job_id, Status.CANCELLED) for job_id in ended])
        return [(row[0], row[1], row[2]) for row in changed]

    # -- pause and resume

    def pause_scope(self, scope: str, tenant: str, name: str, by: str) -> bool:
        where = self._scope(scope, tenant, name)
        return self.change("pause_scope", now=self.stamp, by=by, **where) == 1

    def resume_scope(self, scope: str, tenant: str, name: str) -> bool:
        return self.change("resume_scope", **self._scope(scope, tenant, name)) == 1

    def scope_part(
        self, scope: str, tenant: str, name: str, *, held: bool, after: str, window: int
    ) -> tuple[list[str], str | None]:
        where = {
            "tenant": self.whose(tenant),
            "name": name,
            "after": after,
            "bit": _BITS[scope],
            "marked": int(not held),
        }
        if scope == "group":
            edge = self.run("group_edge", tenant=where["tenant"], group=name, after=after, window=window)
        else:
            edge = self.run("table_edge", after=after, window=window)
            del where["tenant"]
        rows = self.run(f"{scope}_held", edge=edge[0][0] if edge else _END, **where)
        return [job_id for (job_id,) in rows], edge[0][0] if edge else None

    def hold_part(self, scope: str, tenant: str, name: str, ids: Sequence[str], *, held: bool) -> bool:
        bit = _BITS[scope]
        group = name if scope == "group" else None
        paused = self.run("paused_bits", tenant=self.whose(tenant) if group else name, group=group)[0][0]
        if bool(paused & bit) != held:
            return False  # somebody has resumed it, or paused it again: their walk goes over these rows, too
        self.change("hold" if held else "unhold", ids=self.ids(ids), bit=bit)
        if not held:
            self.news.queues.add("*")
        return True

    def _scope(self, scope: str, tenant: str, name: str) -> dict[str, str]:
        """Which pause is meant; nobody stores jobs that it is about until the transaction ends."""
        tenant = self.whose(tenant) if scope == "group" else name
        self.keep_still("pause", tenant, name if scope == "group" else None)
        if scope == "group":
            self.news.groups.add(group_mark(tenant, name))
        return {"scope": scope, "tenant": tenant, "name": name}

    # -- for upkeep

    def forget_groups(self) -> None:
        """Drop marks that nobody needs any more."""
        self.change("forget_cancels", before=stamp.to_text(max(0, self.now - CANCELS_KEPT_MS)))
        self.change("forget_stopping", now=self.stamp)


_BITS = {"group": GROUP_PAUSED, "tenant": TENANT_PAUSED}
