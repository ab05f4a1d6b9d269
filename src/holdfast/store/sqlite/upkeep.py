"""The verbs for upkeep and for seeing: expired leases, retention, pauses, figures."""

from __future__ import annotations

from holdfast.model import stamp
from holdfast.model.status import TERMINAL
from holdfast.store.newest import SEQUENCES_KEPT_MS
from holdfast.store.sqlite.base import Verbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class UpkeepVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

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

    def forget(self, *, workers_ms: int, figures_ms: int, audit_ms: int, worker: str = "") -> None:
        self.run("forget_workers", before=stamp.to_text(max(0, self.now - workers_ms)), id=worker)
        self.run("forget_figures", before=stamp.to_text(max(0, self.now - figures_ms))[:16])
        self.run("forget_audit", before=stamp.to_text(max(0, self.now - audit_ms)))
        self.mend_units()
        self.run("forget_sequences", before=stamp.to_text(max(0, self.now - SEQUENCES_KEPT_MS)))
        self.forget_groups()
        self.forget_batches()

    def purge(self, job_id: str, status: str) -> bool:
        self.change("sequence_ended", ids=self.ids([job_id]))
        if not self.change("purge", id=job_id, status=status):
            return False
        self.run("purge_history", id=job_id)
        self.run("purge_parents", id=job_id)
        return True

    def versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        return {job_id: (version, status) for job_id, version, status in self.run("versions", ids=self.ids(ids))}

    def figures(self, since: int) -> list[tuple[str, str, str, str, int, int]]:
        return self.run("figures", since=stamp.to_text(max(0, since))[:16])
