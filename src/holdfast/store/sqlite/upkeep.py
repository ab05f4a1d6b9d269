"""The verbs for upkeep and for seeing: expired leases, retention, pauses, figures."""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.status import TERMINAL
from holdfast.store.sqlite.base import Verbs
from holdfast.store.sqlite.leases import _claims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.model.job import Job
    from holdfast.model.lease import Claim
    from holdfast.store.port import Hold


class UpkeepVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def expired(self, limit: int) -> list[Claim]:
        return _claims(self.run("expired", now=self.stamp, limit=limit))

    def next_expiry(self) -> int | None:
        ends = self.run("next_expiry", now=self.stamp)[0][0]
        return None if ends is None else stamp.from_text(ends)

    def held_by(self, owner: str) -> list[Claim]:
        return _claims(self.run("held_by", owner=owner))

    def held(self, owner: str) -> list[Hold]:
        from holdfast.store.port import Hold  # noqa: PLC0415

        return [
            Hold(job_id, token, name, stamp.from_text(until), stamp.from_text(since), bool(asked))
            for job_id, token, name, until, since, asked in self.run("held", owner=owner)
        ]

    def sweep_ended(self, keep_ms: dict[str, int], after: str, window: int) -> tuple[int, str | None]:
        rows = self.run("ended_window", after=after, window=window)
        deleted = 0
        for job_id, status, completed_at, key_until in rows:
            if status not in TERMINAL or status not in keep_ms:
                continue
            old = completed_at < stamp.to_text(max(0, self.now - keep_ms[status]))
            key_kept = key_until is not None and key_until != "active" and key_until > self.stamp
            if old and not key_kept:
                deleted += self.purge(job_id, status)
        return deleted, rows[-1][0] if len(rows) == window else None

    def forget(self, *, workers_ms: int, figures_ms: int, worker: str = "") -> None:
        self.run("forget_workers", before=stamp.to_text(max(0, self.now - workers_ms)), id=worker)
        self.run("forget_figures", before=stamp.to_text(max(0, self.now - figures_ms))[:16])

    def lead(self, owner: str, lead_ms: int) -> bool:
        return self.change("lead", owner=owner, until=stamp.to_text(self.now + lead_ms), now=self.stamp) == 1

    def resign(self, owner: str) -> None:
        self.run("resign", owner=owner)

    def purge(self, job_id: str, status: str) -> bool:
        if not self.change("purge", id=job_id, status=status):
            return False
        self.run("purge_history", id=job_id)
        return True

    def pause(self, queue: str, by: str) -> bool:
        return self.change("pause", name=queue, by=by, now=self.stamp) == 1

    def resume(self, queue: str) -> bool:
        self.news.queues.add(queue)
        return self.change("resume", name=queue) == 1

    def versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        return {job_id: (version, status) for job_id, version, status in self.run("versions", ids=self.ids(ids))}

    def figures(self, since: int) -> list[tuple[str, str, str, str, int, int]]:
        return self.run("figures", since=stamp.to_text(max(0, since))[:16])

    def overview(self, cap: int) -> dict[str, list[tuple[Any, ...]]]:
        return {
            "waiting": self.run("waiting", cap=cap),
            "running": self.run("running", now=self.stamp),
            "dead": self.run("dead_count", cap=cap),
            "paused": self.run("pauses"),
        }

    def workers(self, since: int) -> list[dict[str, Any]]:
        names = ("id", "host", "pid", "started_at", "seen_at", "lanes", "places", "running")
        rows = self.run("workers", since=stamp.to_text(max(0, since)))
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [worker | {"lanes": json.loads(worker["lanes"])} for worker in found]

    def depth(self, queue: str, cap: int) -> int:
        return int(self.run("depth", queue=queue, cap=cap)[0][0])

    def ahead(self, job: Job, cap: int) -> int:
        rows = self.run(
            "ahead",
            id=job.id,
            scheduled_at=stamp.to_text(stamp.from_datetime(job.scheduled_at)),
            cap=cap,
            priority=job.priority,
            queue=job.queue,
            type=job.type,
            payload_version=job.payload_version,
        )
        return int(rows[0][0])
