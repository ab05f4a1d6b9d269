"""Runs that were cancelled while a handler was at work, the same on every store.

The row of such a job is cancelled at once, and its lease is gone. Its handler goes on until its worker has heard of it.
Until then the run stands here: so a cancel can tell what still runs, and what the run uses is not given to another. Its
worker takes it off this list; if that is dead, the list forgets the run when its lease would have ended.
"""

from __future__ import annotations

from holdfast.store.newest import NewestVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class StoppingVerbs(NewestVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:

        def ids(self, ids: Sequence[str]) -> str: ...

    def stopping(self, ids: Sequence[str]) -> None:
        """These jobs are about to be cancelled, some of them in mid-run."""
        self.change("stopping", ids=self.ids(ids))

    def stopped(self, runs: Sequence[tuple[str, int]]) -> int:
        """The handlers of these runs (id, token) have ended; answers how many of them were waited for."""
        return sum(self.change("stopped", id=job_id, token=token) for job_id, token in sorted(runs))

    def still_running(self, ids: Sequence[str]) -> list[str]:
        """Those of some cancelled jobs whose handlers have not ended, as far as is known."""
        return sorted(job_id for (job_id,) in self.run("still_running", ids=self.ids(ids), now=self.stamp))
