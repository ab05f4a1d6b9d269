"""Parked jobs, the same on every store: they wait for a person and hold no lease. The promises stand in the port.

What a person is asked is stored beside the ending of the run, and only where a run asks; the answer is forgotten when
the job ends. A job that asks nobody pays nothing for it.
"""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.status import Status
from holdfast.store.asking import Line
from holdfast.store.newest import NewestVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.decide import Move
    from holdfast.model.lease import Claim


class ParkingVerbs(NewestVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:

        def ids(self, ids: Sequence[str]) -> str: ...
        def over(self, ended: Sequence[tuple[str, str]]) -> None: ...
        def free_active_keys(self, ids: Sequence[str]) -> None: ...
        def _count(self, ended: list[tuple[str, str, str, str, str]]) -> None: ...

    def parked(self, *, tenant: str, key: str | None, group: str | None, after: str, limit: int) -> list[str]:
        rows = self.run("parked", tenant=tenant, key=key, group=group, after=after, limit=limit)
        return [job_id for (job_id,) in rows]

    def unpark(self, answers: Sequence[tuple[str, str | None]], actor: str | None = None) -> list[str]:
        resumed = sorted(self.run("unpark", answers=json.dumps(answers), now=self.stamp))
        for job_id, queue, _ in resumed:
            self.news.jobs.append(job_id)
            self.news.queues.add(queue)
        self.write_history(
            [Line(job_id, Status.AWAITING_AUTH, "resumed", attempts, actor=actor) for job_id, _, attempts in resumed]
        )
        return [job_id for job_id, *_ in resumed]

    def expire_parked(self, limit: int) -> int:
        from holdfast.model.parking import expired  # noqa: PLC0415  # a cold hook ends nothing

        ended = []
        for job_id, auth, queue, kind, created_at, attempts in self.run("parked_late", now=self.stamp, limit=limit):
            self.change("parked_end", id=job_id, error=expired(auth).as_text(), now=self.stamp)
            self.free_active_keys([job_id])
            self.news.jobs.append(job_id)
            self.write_history(
                [Line(job_id, Status.AWAITING_AUTH, "expired", attempts, error_class=expired(auth).kind)]
            )
            ended.append((job_id, (queue, kind, Status.DEAD_LETTER.value, self.stamp, created_at)))
        if ended:
            self._count([line for _, line in ended])  # it ran for no time: waiting for a person is no work
            self.over([(job_id, Status.DEAD_LETTER) for job_id, _ in ended])
        return len(ended)

    def park(self, claim: Claim, move: Move) -> None:
        """A run has ended parked: write down what it asks."""
        until = stamp.to_text(min(self.now + move.auth_ms, stamp.LAST))
        asked = {"auth": move.auth, "auth_key": move.auth_key, "until": until}
        self.change("park", id=claim.id, token=claim.token, **asked)

    def forget_answer(self, claim: Claim) -> None:
        """A job has ended that was given an answer."""
        self.change("forget_answer", id=claim.id)
