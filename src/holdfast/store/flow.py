"""What hangs on other jobs, the same on every store. A job without ties never comes here."""

from __future__ import annotations

from holdfast.store.batches import BatchVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.request import NewJob


class FlowVerbs(BatchVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    def tie(self, jobs: Sequence[tuple[NewJob, str]]) -> None:
        """New jobs with ties were stored under these ids: tie them."""

    def over(self, ended: Sequence[tuple[str, str]], batched: Sequence[str] | None = None) -> None:
        """Jobs have reached these statuses, their last: what waits for them goes on, or ends with them.

        `batched` are those of them that are part of a batch, where that is known.
        """
        if batched is None or batched:
            self.count_items([job_id for job_id, _ in ended] if batched is None else batched)
