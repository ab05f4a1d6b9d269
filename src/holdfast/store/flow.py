"""What hangs on other jobs, the same on every store. A job without ties never comes here."""

from __future__ import annotations

from holdfast.store.limits import LimitVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.request import NewJob


class FlowVerbs(LimitVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    def tie(self, jobs: Sequence[tuple[NewJob, str]]) -> None:
        """New jobs with ties were stored under these ids: tie them."""
        self.tie_limits(jobs)

    def over(self, ended: Sequence[tuple[str, str]]) -> None:
        """Jobs have reached these statuses, their last: what waits for them goes on, or ends with them."""
