"""The verbs for upkeep and for seeing: expired leases, retention, pauses, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.model.status import TERMINAL
from holdfast.store.newest import SEQUENCES_KEPT_MS
from holdfast.store.postgres.base import Verbs, array
from holdfast.store.postgres.leases import minute_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class UpkeepVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

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

    def forget(self, *, workers_ms: int, figures_ms: int, audit_ms: int, worker: str = "") -> None:
        self.run("forget_workers", before=self._before(workers_ms), id=worker)
        self.run("forget_figures", before=minute_of(self._before(figures_ms)))
        self.run("forget_audit", before=self._before(audit_ms))
        self.mend_units()
        self.run("forget_sequences", before=self._before(SEQUENCES_KEPT_MS))
        self.forget_groups()
        self.forget_batches()

    def purge(self, job_id: str, status: str) -> bool:
        return self._purge([(job_id, status)]) == 1

    def versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        return {job_id: (version, status) for job_id, version, status in self.run("versions", ids=array(ids))}

    def figures(self, since: int) -> list[tuple[str, str, str, str, int, int]]:
        return self.run("figures", since=minute_of(stamp.to_text(max(0, since))))

    def _before(self, ms: int) -> str:
        return stamp.to_text(max(0, self.now - ms))

    def _purge(self, jobs: list[tuple[str, str]]) -> int:
        if jobs:
            self.run("purge_hold", ids=array(job_id for job_id, _ in jobs))
            self.change("sequence_ended", ids=array(job_id for job_id, _ in jobs))
        gone = self.run("purge", ids=array(job_id for job_id, _ in jobs), statuses=array(status for _, status in jobs))
        if gone:
            self.run("purge_history", ids=array(job_id for (job_id,) in gone))
            self.run("purge_parents", ids=array(job_id for (job_id,) in gone))
        return len(gone)
