"""What every store promises about jobs that belong together: groups, tenants, batches, limits, who hears of ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.batch import Batch, ItemEnd, NewBatch
    from holdfast.model.job import Job
    from holdfast.model.lease import Claim
    from holdfast.model.limit import Limit
    from holdfast.model.request import NewJob
    from holdfast.model.subscription import Subscription
    from holdfast.store.port import Order


class FlowTransaction(Protocol):
    """Part of the verbs; see the port."""

    # for groups and tenants; `store/groups.py` tells how they are walked
    def group_counts(self, groups: Sequence[tuple[str, str]]) -> dict[tuple[str, str], dict[str, tuple[int, int]]]:
        """(tenant, group) -> status -> how many jobs, and their versions added up; empty for a group without jobs."""

    def group_jobs(self, tenant: str, group: str, *, status: str | None, after: str, limit: int) -> list[Job]:
        """The jobs of a group, oldest first, above a cursor."""

    def group_open(
        self, tenant: str, group: str, *, after: str, window: int
    ) -> tuple[list[tuple[str, str]], str | None]:
        """The jobs (id, type) in the next part of a group that have not ended; and where to go on, None at the end."""

    def cancel_note(self, tenant: str, group: str, *, types: Sequence[str] | None, mode: str, by: str | None) -> None:
        """Remember that a group is cancelled, for all types or for some. SCOPE_BUSY: try again."""

    def cancel_mark(self, tenant: str, group: str, type: str, started_at: str) -> bool:
        """Whether a job that a run enqueues is born cancelled: its group was, for its type, after the run began.

        Nobody cancels the group before the transaction ends, so what it stores then is found by the cancel's walk.
        """

    def cancel_many(
        self, ids: Sequence[str], *, graceful: bool, error: str, actor: str | None
    ) -> list[tuple[str, str, str]]:
        """Cancel jobs, as `cancel` does; those that were (id, type, status left), with a line of history each."""

    def stopping(self, ids: Sequence[str]) -> None:
        """These jobs are about to be cancelled, some of them in mid-run: their handlers are at work until `stopped`."""

    def stopped(self, runs: Sequence[tuple[str, int]]) -> int:
        """The handlers of these runs (id, token) have ended; answers how many of them were waited for."""

    def still_running(self, ids: Sequence[str]) -> list[str]:
        """Those of some cancelled jobs whose handlers have not ended, as far as is known."""

    def pauses(self) -> list[dict[str, Any]]:
        """What is paused: scope (`queue`, `group`, `tenant`), tenant, name, since, by."""

    def pause_scope(self, scope: str, tenant: str, name: str, by: str) -> bool:
        """New jobs of a group or a tenant are held from now on; False if it was paused. SCOPE_BUSY: try again."""

    def resume_scope(self, scope: str, tenant: str, name: str) -> bool:
        """New jobs of a group or a tenant are held no more; False if it was not paused. SCOPE_BUSY: try again."""

    def scope_part(
        self, scope: str, tenant: str, name: str, *, held: bool, after: str, window: int
    ) -> tuple[list[str], str | None]:
        """The jobs in the next part that have yet to be held, or let go; and where to go on, None at the end."""

    def hold_part(self, scope: str, tenant: str, name: str, ids: Sequence[str], *, held: bool) -> bool:
        """Hold them, or let them go; False if the scope is no longer paused, or is again: then the walk is over."""

    # for runs that ask for more
    def follow(self, jobs: Sequence[NewJob], started_at: str) -> list[tuple[str, str]]:
        """Store what a run asks for: for each its id, and `created`, `duplicate`, `replaced` or `discarded`. One of a
        group that was cancelled since the run began is born cancelled.
        """

    # for those who hear of ends
    def subscriptions(self) -> list[Subscription]:
        """Who hears of the ends of which jobs, by name."""

    def subscribe(self, one: Subscription, by: str) -> None:
        """Store a subscription, or change the one of its name. From then on each end that fits stores a delivery, in
        the transaction that ends the job; in processes that ended jobs before, a few seconds later.
        """

    def unsubscribe(self, name: str) -> bool:
        """Forget a subscription; False if there is none."""

    # for batches
    def add_batch(self, batch: NewBatch, jobs: Sequence[NewJob], items: Sequence[int | None]) -> tuple[str, bool]:
        """Store a batch and its jobs, each with its item's number, or None for a chunk: its id, and whether it was
        created. A taken key answers its batch; with another type or other items it raises KeyConflict.
        """

    def batch(self, batch_id: str, tenant: str | None = None) -> Batch | None:
        """The batch as it is now; None if there is none, or it is another tenant's."""

    def batches(self, *, before: str, limit: int, tenant: str | None) -> list[Batch]:
        """Newest first, below a cursor."""

    def batch_versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Batch id -> (version, `running` or `ended`), for those that exist."""

    def items(self, batch_id: str, *, after: int, limit: int, failed: bool) -> list[dict[str, Any]]:
        """The items that have ended, by number above a cursor; all, or those that failed."""

    def cancel_batch(self, batch_id: str, *, limit: int, tenant: str | None, error: str) -> tuple[int, bool]:
        """Cancel some of its jobs: how many, and whether any is left."""

    def stored_items(self, batch_id: str, first: int, last: int) -> dict[int, tuple[str, str]]:
        """Number -> (status, job id), for items that ended or became jobs of their own."""

    def store_items(self, claim: Claim, ends: Sequence[ItemEnd], progress: str) -> bool:
        """Items of a chunk have ended, or are tried again as jobs of their own; False where the lease is lost."""

    # for limits
    stirred: bool  # there are lines to look at now
    crowded: bool  # more of them than the last look has seen

    def stir(self) -> None:
        """See whether there are."""

    def admit(self, orders: Sequence[Order] = (), most: int | None = None) -> int:
        """Look at them, or at so many: those for whose keys there is room may be claimed; answers how many more."""

    def few_lines(self, ended: int) -> int:
        """At how many lines to look before a claim: as many as so many ended runs may have stirred, and some more."""

    def over_host(self, claims: Sequence[Claim]) -> list[Claim]:
        """Of claims of one owner those that are too many for its host."""

    def line_up(self, ids: Sequence[str], *, in_ms: int = 0) -> None:
        """Jobs that wait again stand in line for their keys; those without keys are left as they are."""

    def look_for(self, ids: Sequence[str], in_ms: int = 0) -> None:
        """Jobs that stand in line are due earlier now, or no longer held for another reason."""

    def free_units(self, job_ids: Sequence[str]) -> None:
        """The handlers of these jobs have stopped: what they held of their keys is free."""

    def limits(self, name: str | None = None) -> list[Limit]:
        """Every limit by name, or the one of a name; those that a person removed, too."""

    def set_limit(self, limit: Limit) -> None:
        """Store a limit, or change one."""

    def drop_limit(self, name: str) -> bool:
        """Forget a limit; False if there is none."""

    def pace(self, key: str, limit: Limit, most_ms: int | None) -> int | None:
        """Give out one start of a key: in how many milliseconds it is. None if that is more than `most_ms`, -1 if it
        must be asked for again.
        """

    def penalise(self, key: str, ms: int) -> None:
        """No starts of a key for a while."""

    def lane_state(self, key: str, limit: int) -> tuple[list[str], float, float]:
        """Some holders of units of a key; when its starts would be worked off; until when it is blocked."""
