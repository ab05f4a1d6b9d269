"""What comes out: the shapes of answers. They are the document's schemas; the tests hold every answer against them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from holdfast.model.status import Status


class Answer(BaseModel):
    """An object this door sends."""

    model_config = ConfigDict(extra="forbid")


class Failure(Answer):
    """Why a run did not return."""

    model_config = ConfigDict(extra="allow")

    message: str
    code: str


class Question(Answer):
    """What a parked job waits for, and until when."""

    reason: str | None
    url: str | None
    key: str | None = Field(description="what several jobs wait for together")
    until: str | None


class JobFacts(Answer):
    """What every view of a job tells."""

    id: str = Field(examples=["01JHQ8Y3M0G5V7T2K4N6P8R0SD"])
    type: str
    status: Status
    queue: str
    group: str | None
    tenant: str
    priority: int
    attempts: int
    max_attempts: int
    failed: int = Field(description="runs whose handler raised")
    crashed: int = Field(description="runs whose process died or whose lease ran out")
    interrupted: int = Field(description="runs stopped by a deploy; they spend no attempt")
    scheduled_at: str
    created_at: str
    updated_at: str
    started_at: str | None
    completed_at: str | None
    error: Failure | None
    progress: dict[str, Any] | None
    version: int = Field(description="grows at every visible change; pass it as `since`")
    auth: Question | None = Field(description="what a person is asked while the job is parked")


class BatchPart(Answer):
    """Which items of a batch a job runs; their numbers count from 0."""

    id: str
    first: int | None
    last: int | None


class JobSummary(JobFacts):
    """A job without what may be large or private."""

    held_back: str | None = Field(
        description="in a few words, what holds a queued job back: a limit, other jobs, a pause; null: nothing"
    )
    batch: BatchPart | None


class JobView(JobFacts):
    """A job: the same object on the command line, over HTTP and over MCP."""

    payload: Any
    result: Any
    context: dict[str, Any]
    idempotency_key: str | None
    payload_version: int
    lease_owner: str | None
    lease_until: str | None


class Relative(Answer):
    """A job that waits for this one, or that it waits for."""

    id: str
    type: str
    status: Status
    waits: bool = Field(description="whether the child waits for the parent still")


class JobShown(JobView):
    """A job with those it is tied to, the first hundred, and its part of a batch: each only where there is any."""

    parents: list[Relative] | None = None
    children: list[Relative] | None = None
    batch: BatchPart | None = None


class Enqueued(Answer):
    """`created` is false when the request's key answered a job that was there before; `outcome` says more: it was a
    `duplicate`; or, with a coalesce key, `replaced` a job that waited or was `discarded` because a newer one is known.
    """

    id: str
    status: Status
    created: bool
    outcome: Literal["created", "duplicate", "replaced", "discarded"]


class JobPage(Answer):
    """A page of jobs, and the cursor of the next one."""

    items: list[JobView | JobSummary]
    next: str | None = Field(description="pass it as `before`; null at the end")


class Cancelled(Answer):
    """What a cancel did. `left` is the status that was left; null if there was nothing to cancel."""

    id: str
    changed: bool
    left: Status | None
    status: Status
    still_running: int | None = Field(default=None, description="with `full`: 1 while its handler has not stopped")


class Resumed(Answer):
    """The parked jobs that go on."""

    count: int
    ids: list[str]
    next: str | None = Field(default=None, description="not null: more are parked; call again with it as `after`")


class ReasonView(Answer):
    """One thing that is true of the job."""

    code: str
    text: str


class Explanation(Answer):
    """Every reason why a job does not run now, the most decisive first."""

    id: str
    status: Status
    reasons: list[ReasonView]


class HistoryLine(Answer):
    """One event in the life of a job."""

    at: str
    from_status: str
    to_status: str
    why: str
    attempt: int
    worker: str | None
    error_class: str | None
    actor: str | None


class History(Answer):
    """What happened to a job that its row cannot tell, oldest first."""

    id: str
    items: list[HistoryLine]


class AuditLine(Answer):
    """Jobs of one tenant, queue and type that a person deleted in one go."""

    id: str
    at: str
    actor: str | None
    act: str
    tenant: str
    queue: str
    type: str
    jobs: list[str] = Field(description="their ids")


class Audit(Answer):
    """Who deleted which jobs by hand, newest first."""

    items: list[AuditLine]
    next: str | None


class Counts(Answer):
    """How many; a number at the cap means at least that many."""

    waiting: int
    limited: int = Field(description="those that wait for a limit")
    blocked: int = Field(description="jobs that wait for other jobs; not among `waiting`")
    running: int
    expired: int = Field(description="runs whose lease ran out")
    dead: int
    failed: int
    awaiting_auth: int
    completed_1h: int
    ended_badly_1h: int


class Line(Counts):
    """One type in one queue."""

    queue: str
    type: str
    oldest_s: float = Field(description="age of the job that is due longest; negative: none is due yet")
    run_p50_ms: float | None
    run_p95_ms: float | None
    run_p99_ms: float | None
    total_p95_ms: float | None


class Statistics(Answer):
    """The state of the house in numbers."""

    at: str
    cap: int
    paused: list[str]
    lines: list[Line]
    totals: Counts


class PauseView(Answer):
    """Since when and by whom a queue is paused."""

    since: str
    by: str


class QueueView(Counts):
    """One queue."""

    name: str
    paused: PauseView | None
    oldest_s: float
    types: list[str]


class Queues(Answer):
    """Every queue that is known of."""

    items: list[QueueView]


class QueueSwitched(Answer):
    """What a pause or resume did."""

    name: str
    paused: bool
    changed: bool


class LaneView(Answer):
    """A type that a worker draws from a queue."""

    queue: str
    type: str
    version: int


class WorkerView(Answer):
    """A worker heard of lately."""

    id: str
    host: str
    pid: int
    started_at: str
    seen_at: str
    lanes: list[LaneView]
    places: int
    running: int = Field(description="its leases at this moment; more than `places` where some are held ready")
    alive: bool


class Workers(Answer):
    """The workers heard of lately."""

    items: list[WorkerView]


class ScheduleView(Answer):
    """A schedule, in words and in parts, with what became of its ticks."""

    name: str
    words: str = Field(examples=["At 03:00 every day, Europe/Vienna"])
    type: str
    payload: dict[str, Any]
    options: dict[str, Any]
    cron: str | None
    every: float | None = Field(description="seconds between ticks")
    tz: str
    catch_up: str
    overlap: str
    source: str = Field(description="`code`, or `runtime` where a person has the word")
    changed: bool = Field(description="the code says something else")
    paused: PauseView | None
    removed: bool
    last_tick: str | None
    next_tick: str | None
    upcoming: list[str]
    last_job: str | None
    fired: int
    skipped: int = Field(description="ticks whose job before had not ended")
    missed: int = Field(description="ticks that nobody was there for, not caught up")
    note: str
    updated_at: str
    updated_by: str


class Schedules(Answer):
    """Every schedule by name."""

    items: list[ScheduleView]


class LimitView(Answer):
    """A limit: what it allows, and who says so."""

    name: str
    concurrency: int | None
    scope: str
    rate: float | None = Field(description="starts in `per` seconds")
    per: float
    burst: float | None
    queues: list[str] = Field(description="all jobs of these queues count against it")
    weights: dict[str, int]
    source: str = Field(description="`code`, or `runtime` where a person has the word")
    removed: bool
    updated_at: str
    updated_by: str


class Limits(Answer):
    """Every limit by name."""

    items: list[LimitView]


class Triggered(Answer):
    """The job that a schedule was made to make."""

    name: str
    id: str


class Handled(Answer):
    """How many dead letters were dealt with; call again while `more` is true."""

    count: int
    more: bool


class Health(Answer):
    """All is well."""

    status: str = Field(examples=["ok"])


class ProblemView(BaseModel):
    """RFC 9457 problem details; `code` is stable."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str
