"""The verbs for everyone: store a job, look at it, cancel it, send it round again."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from holdfast.model.ids import new_ids
from holdfast.model.request import Alike
from holdfast.model.status import TERMINAL, Status
from holdfast.store.postgres.base import Verbs, array
from holdfast.store.verbs import refuse_other_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.model.request import NewJob

    Scope = tuple[str, str | None]  # tenant, group

WINDOW = 10_000
_copied = itemgetter(
    "id", "type", "priority", "scheduled_at", "payload", "key", "max_attempts", "queue", "tenant", "group", "context",
    "payload_version", "timeout_ms", "key_until",
)  # fmt: skip


class JobVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        jobs = self.ruled(jobs)
        if isinstance(jobs, Alike) and len(jobs) > 1 and jobs.pattern.flow is None and self._may_copy([jobs.pattern]):
            return self._insert_alike(jobs)
        jobs = list(jobs)  # it is gone through more than once
        tied = [place for place, job in enumerate(jobs) if job.flow is not None]
        if not tied:
            return self._insert(jobs)
        with self.connection.all_or_none():  # even if the caller's transaction goes on
            answers = self._insert(jobs)
            self.tie([(jobs[place], answers[place][0]) for place in tied if answers[place][1]])
        return answers

    def _insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        ids = new_ids(self.now, len(jobs))
        self.news.queues.update([job.queue for job in jobs])
        for job in jobs:
            if job.group is not None:  # looked at here: a call for each of many would cost more than it does
                self.news.of_group(self.whose(job.tenant), job.group)
        limited = any(job.flow is not None and job.flow.limits for job in jobs)
        if len(jobs) > 1 and not limited and self._may_copy(jobs):
            made = ((job_id, job.payload, *self._common(job)) for job, job_id in zip(jobs, ids, strict=True))
            return self._copy(made, ids, [(self.whose(job.tenant), job.group) for job in jobs])
        rows = [self.new_row(job, job_id) for job, job_id in zip(jobs, ids, strict=True)]
        if limited:
            return self._insert_limited(jobs, rows)
        if len(rows) < 2:  # noqa: PLR2004
            return list(map(self._insert_one, rows))
        with self.connection.all_or_none():  # even if the caller's transaction goes on
            created = self._insert_many(rows)
            return [(str(row["id"]), True) if row["id"] in created else self._insert_one(row) for row in rows]

    def _insert_alike(self, jobs: Alike) -> list[tuple[str, bool]]:
        """Store jobs without keys that differ in their payloads alone."""
        like, ids = jobs.pattern, new_ids(self.now, len(jobs))
        scope = self.whose(like.tenant), like.group
        self.news.queues.add(like.queue)
        self.news.of_group(*scope)
        common = self._common(like)
        made = ((job_id, payload, *common) for job_id, payload in zip(ids, jobs.payloads, strict=True))
        return self._copy(made, ids, [scope] * len(ids))

    def _common(self, job: NewJob) -> tuple[object, ...]:
        """What COPY stores of a job behind its id and payload."""
        return (
            job.type, job.priority, self.due(job), job.max_attempts, self.stamp, self.stamp, job.queue,
            self.whose(job.tenant), job.group, job.context, job.payload_version, job.timeout_ms,
        )  # fmt: skip

    def has_key(self, tenant: str, key: str) -> bool:
        return super().has_key(tenant or self.connection.location.tenant, key)

    def parked(self, *, tenant: str, **where: Any) -> list[str]:
        return super().parked(tenant=tenant or self.connection.location.tenant, **where)

    def new_row(self, job: NewJob, job_id: str) -> dict[str, object]:
        """The same, with the tenant of the address where the job names none."""
        return super().new_row(job, job_id) | {"tenant": job.tenant or self.connection.location.tenant}

    def cancel(self, job_id: str, *, tenant: str | None, graceful: bool, error: str) -> str | None:
        this = {"id": job_id, "tenant": tenant, "now": self.stamp}
        keys = [key for key, _ in self.key_of(job_id)]  # locked before the row, as by those who end its run
        limited = self.run("limits_of", id=job_id)
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
        job = self.get(job_id)
        assert job is not None, "the row was changed a moment ago, in this transaction"
        self.news.of_group(job.tenant, job.group)
        if not graceful or waiting:
            self.change("free_active_key", ids=array([job_id]))
            self.free_newest(keys)
            self.cancel_units(job_id, limited)
            self.over([(job_id, Status.CANCELLED)])
        return str(left)

    def _may_copy(self, jobs: Sequence[NewJob]) -> bool:
        """Whether COPY can do it: it passes over no taken key, and is refused where a policy binds the role."""
        return all(job.key is None for job in jobs) and not self.run("policed")[0][0]

    def _copy(self, rows: Iterable[tuple[object, ...]], ids: list[str], scopes: list[Scope]) -> list[tuple[str, bool]]:
        """Store many jobs the shortest way. The rows are made while the server stores those before them."""
        with self.connection.all_or_none():
            self.connection.copy(self.queries["insert_copy"], rows)
            self._hold_copied(ids, scopes)
        self.witness = ids[0]
        return [(job_id, True) for job_id in ids]

    def _hold_copied(self, ids: list[str], scopes: list[Scope]) -> None:
        """Jobs of groups and tenants that are paused are held, like all others; COPY itself cannot look."""
        asked = sorted(set(scopes) - {("", None)}, key=str)
        if not asked:
            return
        tenants, groups = map(array, zip(*asked, strict=True))
        paused = {
            (tenant, group): held for tenant, group, held in self.run("paused_among", tenants=tenants, groups=groups)
        }
        for bits in sorted(set(paused.values()) - {0}):
            held = [job_id for job_id, scope in zip(ids, scopes, strict=True) if paused.get(scope) == bits]
            self.change("hold", ids=array(held), bit=bits)

    def _insert_many(self, rows: list[dict[str, object]]) -> set[str]:
        """Store what meets no taken key; answers which."""
        self.run("incoming")
        self.connection.copy(self.queries["incoming_copy"], map(_copied, rows))
        made = self.run("insert_many", now=self.stamp, first=rows[0]["id"], last=rows[-1]["id"])
        created = {str(job_id) for (job_id,) in made}
        self.witness = min(created, default=self.witness)
        return created

    def _insert_limited(self, jobs: Sequence[NewJob], rows: list[dict[str, object]]) -> list[tuple[str, bool]]:
        """Store jobs of which some stand in line from the beginning: never in the index of those that are due, where
        each would leave a dead entry for claims to wade through.
        """
        keyed = [
            row | {"limits": list(job.flow.limits) if job.flow is not None and job.flow.limits else None}
            for job, row in zip(jobs, rows, strict=True)
        ]
        with self.connection.all_or_none():
            made = {str(job_id) for (job_id,) in self.run("insert_limited", rows=json.dumps(keyed), now=self.stamp)}
            self.witness = min(made, default=self.witness)
            return [(str(row["id"]), True) if row["id"] in made else self._insert_one(row) for row in rows]

    def _insert_one(self, row: dict[str, object]) -> tuple[str, bool]:
        while not self.change("insert", **row):
            # No holder: it let go of the key between the two statements, so the next round stores the job.
            for holder, kind, payload, status, until in self.run("key_holder", tenant=row["tenant"], key=row["key"]):
                if until is not None and until != "active" and until <= self.stamp and status in TERMINAL:
                    self.change("free_key", id=holder, key=row["key"])
                else:
                    refuse_other_request(row, holder, kind, payload)
                    return str(holder), False
        self.witness = str(row["id"])
        return self.witness, True
