"""The verbs for upkeep and for seeing: expired leases, retention, pauses, figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.status import TERMINAL
from holdfast.store.port import Hold
from holdfast.store.postgres.base import Verbs, array
from holdfast.store.postgres.leases import claims, minute_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.job import Job
    from holdfast.model.lease import Claim


class UpkeepVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def expired(self, limit: int) -> list[Claim]:
        return claims(self.run("expired", now=self.stamp, limit=limit))

    def next_expiry(self) -> int | None:
        ends = self.run("next_expiry", now=self.stamp)[0][0]
        return None if ends is None else stamp.from_text(ends)

    def held_by(self, owner: str) -> list[Claim]:
        return claims(self.run("held_by", owner=owner))

    def held(self, owner: str) -> list[Hold]:
        return [
            Hold(job_id, token, name, stamp.from_text(until), stamp.from_text(since), asked)
            for job_id, token, name, until, since, asked in self.run("held", owner=owner)
        ]

    def sweep_ended(self, keep_ms: dict[str, int], after: str, window: int) -> tuple[int, str | None]:
        rows = self.run("ended_window", after=after, window=window)
        old: list[tuple[str, str]] = []
        for job_id, status, completed_at, key_until in rows:
            if status not in TERMINAL or status not in keep_ms:
                continue
            key_kept = key_until is not None and key_until != "active" and key_until > self.stamp
            if completed_at < self._before(keep_ms[status]) and not key_kept:
                old.append((job_id, status))
        return self._purge(old), rows[-1][0] if len(rows) == window else None

    def forget(self, *, workers_ms: int, figures_ms: int, worker: str = "") -> None:
        self.run("forget_workers", before=self._before(workers_ms), id=worker)
        self.run("forget_figures", before=minute_of(self._before(figures_ms)))

    def lead(self, owner: str, lead_ms: int) -> bool:
        return self.change("lead", owner=owner, until=stamp.to_text(self.now + lead_ms), now=self.stamp) == 1

    def resign(self, owner: str) -> None:
        self.run("resign", owner=owner)

    def purge(self, job_id: str, status: str) -> bool:
        return self._purge([(job_id, status)]) == 1

    def pause(self, queue: str, by: str) -> bool:
        return self.change("pause", name=queue, by=by, now=self.stamp) == 1

    def resume(self, queue: str) -> bool:
        self.news.queues.add(queue)
        return self.change("resume", name=queue) == 1

    def versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        return {job_id: (version, status) for job_id, version, status in self.run("versions", ids=array(ids))}

    def figures(self, since: int) -> list[tuple[str, str, str, str, int, int]]:
        return self.run("figures", since=minute_of(stamp.to_text(max(0, since))))

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

    def _before(self, ms: int) -> str:
        return stamp.to_text(max(0, self.now - ms))

    def _purge(self, jobs: list[tuple[str, str]]) -> int:
        gone = self.run("purge", ids=array(job_id for job_id, _ in jobs), statuses=array(status for _, status in jobs))
        if gone:
            self.run("purge_history", ids=array(job_id for (job_id,) in gone))
        return len(gone)
