"""What hangs on other jobs, the same on every store. A job without ties never comes here."""

from __future__ import annotations

from holdfast.model.status import TERMINAL, Status
from holdfast.store.batches import BatchVerbs
from holdfast.store.groups import GroupVerbs
from holdfast.store.limits import LimitVerbs
from holdfast.store.subscriptions import SubscriptionVerbs
from holdfast.store.verbs import follow_up_refused, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from holdfast.model.errors import HoldfastError
    from holdfast.model.request import NewJob
    from holdfast.store.port import Ending, Tied


class FlowVerbs(GroupVerbs, SubscriptionVerbs, BatchVerbs, LimitVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:

        def all_or_none(self) -> AbstractContextManager[None]: ...
        def anyway(self) -> AbstractContextManager[None]: ...
        def finish(self, endings: Sequence[Ending], *, expired: bool = False) -> list[bool]: ...
        def finish_runs(self, endings: Sequence[Ending], *, expired: bool) -> list[bool]: ...
        def ids(self, ids: Sequence[str]) -> str: ...
        def with_children(self, ids: Sequence[str]) -> Sequence[str]: ...
        def cancel(self, job_id: str, *, tenant: str | None, graceful: bool, error: str) -> str | None: ...
        def free_active_keys(self, ids: Sequence[str]) -> None: ...

    def tie(self, jobs: Sequence[tuple[NewJob, str]]) -> None:
        """New jobs with ties were stored under these ids: tie them."""
        from holdfast.store import parents  # noqa: PLC0415  # a cold hook ties nothing

        self.tie_limits(jobs)

        parents.tie(self, jobs)

    def over(self, ended: Sequence[tuple[str, str]], batched: Sequence[str] | None = None) -> None:
        """Jobs have reached these statuses, their last: what waits for them goes on, or ends with them.

        `batched` are those of them that are part of a batch, where that is known.
        """
        while ended:  # what ends with them ends in turn: round by round, however long the chain
            self.announce(ended)
            if batched is None or batched:
                self.count_items([job_id for job_id, _ in ended] if batched is None else batched)
            ended, batched = self._settle_parents(ended), None

    def record(self, ended: Sequence[tuple[Ending, str]]) -> None:
        """Runs have ended and reached these statuses: tell watchers, count the ends, write history for those that are
        not plain completions, and let what hangs on them go on.
        """
        figures, over, keys, batched = [], [], [], []
        self.news.jobs += [ending.claim.id for ending, _ in ended]
        for (claim, move, _), status in ended:
            if claim.group is not None:
                self.news.of_group(claim.tenant, claim.group)
            if status in TERMINAL:
                figures.append((claim.queue, claim.type, status, claim.started_at, claim.created_at))
                over.append((claim.id, status))
                if claim.auth_data is not None:
                    self.forget_answer(claim)
                if claim.key_until == "active":
                    keys.append(claim.id)
                if claim.batch is not None:
                    batched.append(claim.id)
            elif status == Status.QUEUED:
                self.news.queues.add(claim.queue)
            else:
                self.park(claim, move)
        self.free_active_keys(keys)
        unusual = [(ending, status) for ending, status in ended if ending.move.status is not Status.COMPLETED]
        self.write_history([line_of(ending, status) for ending, status in unusual])
        self._count(figures)
        self.end_units([(ending.claim, status) for ending, status in ended if ending.claim.limits is not None])
        if over:
            self.over(over, batched)
        for (claim, move, jobs), _ in ended:
            if jobs and move.status is Status.COMPLETED:
                self.follow(jobs, claim.started_at)

    def finish_and_follow(self, endings: Sequence[Ending], *, expired: bool) -> list[bool]:
        """End runs and store what they asked to be done next. If one asked for what cannot be, that one fails."""
        from holdfast.model.errors import HoldfastError  # noqa: PLC0415

        try:
            with self.all_or_none():
                return self.finish_runs(endings, expired=expired)
        except HoldfastError as error:  # a key that is taken, a parent that is gone; the driver's errors pass
            if len(endings) == 1:
                return self.finish_runs([_refused(endings[0], error)], expired=expired)
        return [self.finish([ending], expired=expired)[0] for ending in endings]

    def follow(self, jobs: Sequence[NewJob], started_at: str) -> list[tuple[str, str]]:
        """Store what a run asks for, in the same transaction: for each its id and what was done.

        One of a group that was cancelled since the run began is born cancelled.
        """
        with self.anyway():
            answers = self.ask(jobs)
        for job, (job_id, outcome) in zip(jobs, answers, strict=True):
            if job.group is not None and outcome == "created":
                self._born(job, job_id, started_at)
        return answers

    def _born(self, job: NewJob, job_id: str, started_at: str) -> None:
        """Looked at after it was stored: who cancels the group either finds the job, or is found here."""
        if self.cancel_mark(job.tenant, str(job.group), job.type, started_at):
            from holdfast.model.decide import CANCELLED  # noqa: PLC0415

            self.cancel(job_id, tenant=None, graceful=False, error=CANCELLED.as_text())

    # -- what stands in line goes on

    def unpark(self, answers: Sequence[tuple[str, str | None]], actor: str | None = None) -> list[str]:
        resumed = super().unpark(answers, actor)
        if resumed:
            self.line_up(resumed)
        return resumed

    def hold_part(self, scope: str, tenant: str, name: str, ids: Sequence[str], *, held: bool) -> bool:
        changed = super().hold_part(scope, tenant, name, ids, held=held)
        if changed and not held:
            self.look_for(ids)
        return changed

    def stopped(self, runs: Sequence[tuple[str, int]]) -> int:
        waited_for = super().stopped(runs)
        if waited_for:
            self.free_units([job_id for job_id, _ in runs])
        return waited_for

    def cancel_many(
        self, ids: Sequence[str], *, graceful: bool, error: str, actor: str | None
    ) -> list[tuple[str, str, str]]:
        limited = dict(self.run("limits_of_many", ids=self.ids(ids)))
        changed = super().cancel_many(ids, graceful=graceful, error=error, actor=actor)
        for job_id, _, left in changed:
            if job_id in limited and not (graceful and left == Status.IN_PROGRESS):
                self.cancel_units(job_id, [(None, limited[job_id])])
        return changed

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        if not super().retry(job_id, tenant):
            return False
        if self.with_children([job_id]):
            from holdfast.store import parents  # noqa: PLC0415

            parents.revive(self, job_id)
        return True

    def parents(self, job_id: str, limit: int) -> list[Tied]:
        return self._tied("parents_of", job_id, limit)

    def children(self, job_id: str, limit: int) -> list[Tied]:
        return self._tied("children_of", job_id, limit)

    def _tied(self, query: str, job_id: str, limit: int) -> list[Tied]:
        from holdfast.store.port import Tied  # noqa: PLC0415

        rows = self.run(query, id=job_id, limit=limit)
        return [Tied(other, kind, status, not done) for other, kind, status, done in rows]

    def _settle_parents(self, ended: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        parents = set(self.with_children([job_id for job_id, _ in ended]))
        if not parents:
            return []
        from holdfast.store.parents import settle  # noqa: PLC0415

        return settle(self, {job_id: status for job_id, status in ended if job_id in parents})


def _refused(ending: Ending, error: HoldfastError) -> Ending:
    """The run failed, because what it asked to be done next cannot be."""
    from holdfast.model.decide import Move  # noqa: PLC0415

    move = Move(Status.FAILED, error=follow_up_refused(error), failed=1, why="failed")
    return ending._replace(move=move, follow_ups=())
