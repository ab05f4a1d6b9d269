"""The verbs for everyone: store a job, look at it, cancel it, send it round again."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.errors import KeyConflict
from holdfast.model.ids import new_ids
from holdfast.model.payload import same
from holdfast.model.status import TERMINAL
from holdfast.store.postgres.base import Line, Verbs, array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.job import Job
    from holdfast.model.request import NewJob

WINDOW = 10_000
_copied = itemgetter(
    "id", "type", "priority", "scheduled_at", "payload", "key", "max_attempts", "queue", "tenant", "group", "context",
    "payload_version", "timeout_ms", "key_until",
)  # fmt: skip


class JobVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        rows = [self._row(job, job_id) for job, job_id in zip(jobs, new_ids(self.now, len(jobs)), strict=True)]
        self.news.queues.update(job.queue for job in jobs)
        if len(rows) < 2:  # noqa: PLR2004
            return list(map(self._insert_one, rows))
        with self.connection.all_or_none():  # even if the caller's transaction goes on
            created = self._copy_in(rows)
            return [(str(row["id"]), True) if row["id"] in created else self._insert_one(row) for row in rows]

    def has_key(self, tenant: str, key: str) -> bool:
        return bool(self.run("key_holder", tenant=tenant or self.connection.location.tenant, key=key))

    def get(self, job_id: str, tenant: str | None = None) -> Job | None:
        rows = self.run("get", id=job_id, tenant=tenant)
        return self.job(rows[0]) if rows else None

    def list_jobs(self, where: dict[str, str | None], before: str, limit: int) -> tuple[list[Job], str | None]:
        filters = dict.fromkeys(("status", "type", "queue", "group", "tenant")) | where
        found: list[Job] = []
        while len(found) < limit:
            edge = self.run("window", before=before, window=WINDOW)
            floor = edge[0][0] if edge else ""
            rows = self.run("list", floor=floor, before=before, limit=limit - len(found), **filters)
            found += map(self.job, rows)
            if not floor and len(found) < limit:
                return found, None
            before = found[-1].id if len(found) == limit else floor + "~"  # the floor's own row comes next
        return found, before

    def attention(self, status: str, before: str, limit: int, where: dict[str, str | None]) -> list[Job]:
        filters = {"type": None, "tenant": None} | where
        return list(map(self.job, self.run("attention", status=status, before=before, limit=limit, **filters)))

    def cancel(self, job_id: str, *, tenant: str | None, graceful: bool, error: str) -> str | None:
        this = {"id": job_id, "tenant": tenant, "now": self.stamp}
        waiting = self.run("cancel_waiting", **this, error=error)
        if waiting:
            left = waiting[0][0]
        elif (graceful and self.change("cancel_gracefully", **this)) or (
            not graceful and self.change("cancel_running", **this, error=error)
        ):
            left = "in_progress"
        else:
            return None
        self.news.jobs.append(job_id)
        if not graceful or waiting:
            self.change("free_active_key", ids=array([job_id]))
        return str(left)

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        if not self.change("retry", id=job_id, tenant=tenant, now=self.stamp):
            return False
        row = self.get(job_id)
        assert row is not None, "the row was changed a moment ago, in this transaction"
        self.news.queues.add(row.queue)
        self.news.jobs.append(job_id)
        return True

    def note(self, job_id: str, *, from_status: str, why: str, attempt: int = 0, actor: str | None = None) -> None:
        self.write_history([Line(job_id, from_status, why, attempt, actor=actor)])

    def history(self, job_id: str) -> list[dict[str, Any]]:
        names = ("at", "from_status", "to_status", "why", "attempt", "worker", "error_class", "actor")
        return [dict(zip(names, row, strict=True)) for row in self.run("history_of", id=job_id)]

    def _row(self, job: NewJob, job_id: str) -> dict[str, object]:
        if job.scheduled_at is not None:
            due = stamp.to_text(job.scheduled_at)
        elif job.delay:
            due = stamp.to_text(min(self.now + job.delay, stamp.LAST))
        else:
            due = self.stamp
        window = job.key_window
        return {
            "id": job_id,
            "type": job.type,
            "priority": job.priority,
            "scheduled_at": due,
            "payload": job.payload,
            "key": job.key,
            "max_attempts": job.max_attempts,
            "now": self.stamp,
            "queue": job.queue,
            "tenant": job.tenant or self.connection.location.tenant,
            "group": job.group,
            "context": job.context,
            "payload_version": job.payload_version,
            "timeout_ms": job.timeout_ms,
            "key_until": stamp.to_text(min(self.now + window, stamp.LAST)) if isinstance(window, int) else window,
        }

    def _copy_in(self, rows: list[dict[str, object]]) -> set[str]:
        """Store what meets no taken key; answers which."""
        self.run("incoming")
        self.connection.copy(self.queries["incoming_copy"], map(_copied, rows))
        made = self.run("insert_many", now=self.stamp, first=rows[0]["id"], last=rows[-1]["id"])
        return {job_id for (job_id,) in made}

    def _insert_one(self, row: dict[str, object]) -> tuple[str, bool]:
        while not self.change("insert", **row):
            # No holder: it let go of the key between the two statements, so the next round stores the job.
            for holder, kind, payload, status, until in self.run("key_holder", tenant=row["tenant"], key=row["key"]):
                if until is not None and until != "active" and until <= self.stamp and status in TERMINAL:
                    self.change("free_key", id=holder, key=row["key"])
                elif kind != row["type"] or not same(payload, str(row["payload"])):
                    raise KeyConflict(
                        "KEY_CONFLICT",
                        f"key {row['key']!r} belongs to job {holder} of type {kind!r} with another "
                        f"{'payload' if kind == row['type'] else 'type'}: use a key of its own for each different "
                        "request",
                    )
                else:
                    return str(holder), False
        return str(row["id"]), True
