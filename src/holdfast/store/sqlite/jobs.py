"""The verbs for everyone: what becomes of a job whose key is taken, and of one that is cancelled."""

from __future__ import annotations

from holdfast.model.status import TERMINAL, Status
from holdfast.store.sqlite.base import Verbs
from holdfast.store.verbs import refuse_other_request

WINDOW = 10_000


class JobVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

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

    def taken(self, row: dict[str, object]) -> tuple[str, bool]:
        """A new job's key is taken: by the same request, or by one whose claim to it is over, or by another."""
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
