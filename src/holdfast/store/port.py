"""What every store promises.

A verb is called on an open transaction. `Store.write` runs any number of calls in one transaction and answers each;
`Store.read` runs one call that changes nothing. Private to Holdfast: the port may change with any release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.model.decide import Move
from holdfast.model.job import Job
from holdfast.model.lease import Claim, Lane
from holdfast.model.news import News
from holdfast.model.request import NewJob
from holdfast.model.schedule import Schedule
from holdfast.store.flow_port import FlowTransaction

ALIVE_MS = 90_000  # a worker not heard of for so long is taken for gone


class Ending(NamedTuple):
    """A run and the move that ends it."""

    claim: Claim
    move: Move
    follow_ups: tuple[NewJob, ...] = ()  # stored with the move if it completes the job


class Order(NamedTuple):
    """What a worker asks for: how many, from which lanes, under whose name and for how long."""

    owner: str
    lanes: Sequence[Lane]
    limit: int
    lease_ms: int
    together: bool = False  # jobs that share a call: one alone would be a small one


class Hold(NamedTuple):
    """A lease, as the supervisor of its owner sees it."""

    id: str
    token: int
    owner: str
    until: int
    since: int
    asked_to_stop: bool


class Tied(NamedTuple):
    """A parent or a child of a job."""

    id: str
    type: str
    status: str
    waits: bool  # whether the child waits for the parent still


class Transaction(FlowTransaction, Protocol):
    """The verbs. Every write to a leased job names its token; every other write names the statuses it may leave."""

    now: int
    news: News

    # for everyone
    def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        """All or none are stored; for each its id and whether it was created.

        A taken idempotency key answers its job; with another type or payload it raises KeyConflict. A job that depends
        on others is held until all of them have completed; an unknown one raises BadInput.
        """

    def ask(self, jobs: Sequence[NewJob]) -> list[tuple[str, str]]:
        """Store requests of every kind, as if those with one coalesce key came one after the other: for each its job's
        id, and `created`, `duplicate`, `replaced` or `discarded`.
        """

    def coalesce(self, job: NewJob) -> tuple[str, str]:
        """Store a request with a coalesce key: its job's id, and `created`, `replaced` or `discarded`."""

    def waits(self, job: NewJob) -> bool:
        """Whether a job with the request's coalesce key waits."""

    def newer(self, job_id: str) -> str | None:
        """The job that has overtaken an ended one with the same coalesce key; None if it is the newest, or has none."""

    def has_key(self, tenant: str, key: str) -> bool:
        """Whether an idempotency key is taken."""

    def get(self, job_id: str, tenant: str | None = None) -> Job | None:
        """The job as it is now; None if there is none, or it is another tenant's."""

    def list_jobs(self, where: dict[str, str | None], before: str, limit: int) -> tuple[list[Job], str | None]:
        """Newest first, below a cursor; with the cursor to go on from, None at the end."""

    def attention(self, status: str, before: str, limit: int, where: dict[str, str | None]) -> list[Job]:
        """Failed, dead-lettered or parked jobs, newest first."""

    def cancel(self, job_id: str, *, tenant: str | None, graceful: bool, error: str) -> str | None:
        """The status that was left (`queued`, `awaiting_auth`, `in_progress`), None if there was nothing to cancel."""

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        """Send a failed or dead-lettered job round again, and the jobs along that its end had cancelled."""

    def parents(self, job_id: str, limit: int) -> list[Tied]:
        """The jobs that a job waits for, or waited for; those it still waits for first."""

    def children(self, job_id: str, limit: int) -> list[Tied]:
        """The jobs that wait for a job, or waited for it; those that have not ended first."""

    def note(self, job_id: str, *, from_status: str, why: str, attempt: int = 0, actor: str | None = None) -> None:
        """Add a line of history about an act of a person."""

    def parked(self, *, tenant: str, key: str | None, group: str | None, after: str, limit: int) -> list[str]:
        """Jobs of a tenant that wait for a person, by key or group, in the order of their ids; nobody else resumes them
        meanwhile.
        """

    def unpark(self, answers: Sequence[tuple[str, str | None]], actor: str | None = None) -> list[str]:
        """Let parked jobs go on, given as (id, encrypted answer); answers which of them were parked, and go on."""

    def history(self, job_id: str) -> list[dict[str, Any]]:
        """The job's lines of history, oldest first, at most a hundred."""

    # for workers
    def claim(self, order: Order) -> list[Claim]:
        """Due jobs by priority, then time due, then id; each for this owner alone until its lease ends."""

    def claim_alone(self, order: Order) -> list[Claim]:
        """Due jobs that must run in a process of their own, because one they ran in died; in the same order."""

    def renew(self, holds: Sequence[tuple[str, int]], lease_ms: int) -> list[bool]:
        """Extend leases by (id, token); False where the lease is lost."""

    def finish(self, endings: Sequence[Ending], *, expired: bool = False) -> list[bool]:
        """End runs by (id, token); False where the lease is lost.

        With `expired`, only runs whose lease ran out; one that another transaction has in its hands is left to the next
        time. What a run asked to be done next is stored with its completion; where that cannot be, the run fails. A run
        that ends in any other way, or was overtaken, leaves nothing.
        """

    def progress(self, job_id: str, token: int, progress: str) -> bool:
        """Show how far a run is; False where the lease is lost."""

    def beat(self, worker: dict[str, Any]) -> bool:
        """Record that a worker lives; True if it is new."""

    # for upkeep
    def expired(self, limit: int) -> list[Claim]:
        """Runs whose lease ran out, oldest first."""

    def next_expiry(self) -> int | None:
        """When the earliest lease ends that has not ended yet; None if nothing runs."""

    def expire_parked(self, limit: int) -> int:
        """End jobs that waited for a person for too long; answers how many."""

    def held_by(self, owner: str) -> list[Claim]:
        """The runs held by one owner, by all of a supervisor (`name/...`), or by anyone (empty)."""

    def held(self, owner: str) -> list[Hold]:
        """The same leases, in short."""

    def sweep_ended(self, keep_ms: dict[str, int], after: str, window: int) -> tuple[int, str | None]:
        """Delete ended jobs older than their status is kept; answers the count and where to go on.

        Parents with children that have not ended are spared.
        """

    def forget(self, *, workers_ms: int, figures_ms: int, audit_ms: int, worker: str = "") -> None:
        """Drop workers not heard of, and figures and lines of the audit grown old."""

    def lead(self, owner: str, lead_ms: int) -> bool:
        """Become or stay the leader for a while; False if another is."""

    def resign(self, owner: str) -> None:
        """Lead no more."""

    def purge(self, job_id: str, status: str) -> bool:
        """Delete an ended job for good; False if it changed meanwhile, or has children that have not ended."""

    def audit(self, act: str, jobs: Sequence[Job], actor: str | None) -> None:
        """Write down who did something to jobs that are gone afterwards: a line for each tenant, queue and type."""

    def audited(self, *, before: str, limit: int, tenant: str | None) -> list[dict[str, Any]]:
        """Those lines, newest first, below a cursor."""

    def pause(self, queue: str, by: str) -> bool:
        """Stop claims from a queue; False if it was paused."""

    def resume(self, queue: str) -> bool:
        """Let claims go on; False if it was not paused."""

    # for schedules
    def schedules(self, name: str | None = None) -> list[Schedule]:
        """Every schedule by name, or the one of a name; those that a person removed, too."""

    def hold_schedule(self, name: str) -> Schedule | None:
        """One schedule, which nobody else changes until the transaction ends; None if there is none."""

    def add_schedule(self, schedule: Schedule) -> bool:
        """Store a new schedule; False if there is one of its name."""

    def change_schedule(self, schedule: Schedule, *, tell: bool = True) -> bool:
        """Write a schedule anew; False if it has changed since it was read. `tell`: those who wait for a tick look."""

    def drop_schedule(self, name: str) -> bool:
        """Forget a schedule; its jobs stay. False if there is none."""

    def due_schedules(self) -> tuple[list[str], int | None]:
        """The schedules with a tick to deal with, or that are ahead of a clock set back; and when the next tick is."""

    # for seeing
    def versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Job id -> (version, status), for those that exist."""

    def figures(self, since: int) -> list[tuple[str, str, str, str, int, int]]:
        """Histograms of endings: queue, type, status, measure, bucket, count."""

    def overview(self, cap: int) -> dict[str, list[tuple[Any, ...]]]:
        """Waiting, running, dead, paused: each by queue and type, counts up to a cap."""

    def workers(self, since: int) -> list[dict[str, Any]]:
        """Workers heard of since an instant."""

    def next_due(self, lanes: Sequence[Lane], *, due_too: bool = False) -> int | None:
        """When the next waiting job of these lanes comes due; None if none waits. Only looks past `now`, or at all."""

    def next_alone(self, *, due_too: bool = False) -> int | None:
        """When the next job of any lane comes due that must run in a process of its own. Only looks past `now`, or at
        all.
        """

    def depth(self, queue: str, cap: int) -> int:
        """How many jobs wait in a queue, counted up to a cap."""

    def ahead(self, job: Job, cap: int) -> int:
        """How many due jobs of its own lane go before a job, counted up to a cap."""


class Store(Protocol):
    """One database."""

    url: str
    writes_alone: bool  # whether a transaction that writes keeps all others from writing
    watched: bool  # whether somebody hands back what this process has claimed and does not run
    word: Callable[[News], str | None] | None  # makes what a commit tells, where the store can pass it on

    def write(
        self, calls: Sequence[Callable[[Any], Any]], *, hastily: bool = False, briefly: bool = False
    ) -> tuple[list[Any], News]:
        """Run the calls in one transaction: durable when this returns. `hastily`: they promise nothing to anybody, so a
        power cut may undo them. `briefly`: who has the lock of all writes is not waited for.

        An answer is a call's value or the exception it raised; a call that raises takes nothing else with it. The news
        tell what changed, for the signals.
        """

    def insert_alone(self, job: NewJob) -> tuple[tuple[str, bool], News]:
        """Store one job and nothing else, by the shortest way there is; answers as `insert` does."""

    def hurry(self, seconds: float) -> None:
        """From now on no call waits longer for others; nor does one that is under way. May be called at any time."""

    def read(self, call: Callable[[Any], Any]) -> Any:
        """Run one call that changes nothing."""

    def begin(self) -> Any:
        """Open a transaction by hand; ends with `commit` or `roll_back`."""

    def commit(self) -> News:
        """Make the transaction opened by hand durable."""

    def roll_back(self) -> None:
        """Undo the transaction opened by hand."""

    def join(self, connection: Any) -> Any:
        """A transaction on the caller's own connection, which alone commits or rolls back."""

    async def ajoin(self, connection: Any, call: Callable[[Any], Any]) -> Any:
        """Run a call in such a transaction, whose connection may be one that is awaited."""

    def now(self) -> int:
        """The store's time."""

    def migrate(self) -> int:
        """Bring the schema up to date; answers how many migrations were applied."""

    def close(self, *, keep_log: bool = False) -> None:
        """Let go of the database; the next call opens it again. `keep_log` makes it cheap, as a fork wants it."""

    def abandon(self) -> None:
        """Forget the connections without closing them: they belong to the parent of this forked process."""
