"""The verbs for everyone: store a job, look at it, cancel it, send it round again."""

from __future__ import annotations

from holdfast.model.ids import new_ids
from holdfast.model.status import TERMINAL, Status
from holdfast.store.sqlite.base import Verbs
from holdfast.store.verbs import refuse_other_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.request import NewJob

WINDOW = 10_000


class JobVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        jobs = self.ruled(jobs)
        tied = [place for place, job in enumerate(jobs) if job.flow is not None]
        if not tied:
            return self._insert(jobs)
        with self.all_or_none():  # even if the caller's transaction goes on
            answers = self._insert(jobs)
            self.tie([(jobs[place], answers[place][0]) for place in tied if answers[place][1]])
        return answers

    def _insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        self.check_space(sum(len(job.payload) for job in jobs))
        ids = new_ids(self.now, len(jobs))
        rows = [self.new_row(job, job_id) for job, job_id in zip(jobs, ids, strict=True)]
        if scopes := {(job.tenant, job.group) for job in jobs if job.group is not None or job.tenant}:
            self._hold_new(rows, scopes)
        if len(jobs) == 1:
            self.news.queues.add(jobs[0].queue)
            return [self._insert_one(rows[0])]
        self.news.queues.update(job.queue for job in jobs)
        with self.all_or_none():  # even if the caller's transaction goes on
            if any(job.key is not None for job in jobs):
                return [self._insert_one(row) for row in rows]
            sql, in_order = self.queries.by_place("insert")
            self.connection.executemany(sql, map(in_order, rows))
        return [(job_id, True) for job_id in ids]

    def _hold_new(self, rows: list[dict[str, object]], scopes: set[tuple[str, str | None]]) -> None:
        """Some of the jobs have a group or a tenant, which may be paused; and those who watch groups want to know."""
        held: dict[tuple[object, object], int] = {}
        for tenant, group in scopes:
            self.news.of_group(tenant, group)
            held[tenant, group] = self.run("paused_bits", tenant=tenant, group=group)[0][0]
        for row in rows:
            row["held"] = held.get((row["tenant"], row["group"]), 0)

    def cancel(self, job_id: str, *, tenant: str | None, graceful: bool, error: str) -> str | None:
        this = {"id": job_id, "tenant": tenant, "now": self.stamp}
        whose = {"id": job_id, "tenant": tenant}
        before = self.run("versions", ids=self.ids([job_id]))
        limited = self.run("limits_of", id=job_id)
        if self.change("cancel_waiting", **this, error=error):
            left = before[0][2]
        elif (graceful and self.change("cancel_gracefully", **this)) or (
            not graceful and self.change("stopping_one", **whose) + self.change("cancel_running", **this, error=error)
        ):
            left = "in_progress"
        else:
            return None
        if left != "in_progress" or not graceful:
            self.cancel_units(job_id, limited)
        self._ended_by_hand(job_id)
        return str(left)

    def _insert_one(self, row: dict[str, object]) -> tuple[str, bool]:
        if self.connection.change(self.queries["insert"], row):
            return str(row["id"]), True
        holder, kind, payload, status, until = self.run("key_holder", tenant=row["tenant"], key=row["key"])[0]
        if until is not None and until != "active" and until <= self.stamp and status in TERMINAL:
            self.change("free_key", id=holder)
            self.change("insert", **row)
            return str(row["id"]), True
        refuse_other_request(row, holder, kind, payload)
        return holder, False

    def _ended_by_hand(self, job_id: str) -> None:
        self.news.jobs.append(job_id)
        job = self.job(self.run("get", id=job_id, tenant=None)[0])
        self.news.of_group(job.tenant, job.group)
        if job.ended:
            self.change("free_active_key", id=job_id)
            self.free_newest([key for key, _ in self.key_of(job_id)])
            self.over([(job_id, Status.CANCELLED)])
