"""What goes in: the shapes of queries and bodies. They say names and types; what a value may be, the engine says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import QueryParams

from holdfast.model.errors import BadInput
from holdfast.model.status import Status

Shape = TypeVar("Shape", bound=BaseModel)

MOST_LISTED = 200
MOST_ENQUEUED = 1_000
LONGEST_WAIT = 60
_MOST_FAULTS = 5

Seconds = Annotated[float, Field(allow_inf_nan=False)]
Whose = Annotated[str, Field(max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$")]  # a tenant, or none
Name = Annotated[str, Field(min_length=1, max_length=255)]


class Body(BaseModel):
    """What a caller sends: nothing is converted, nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewJobBody(Body):
    """A job to enqueue: its type, its payload and the options of one call."""

    type: str = Field(description="names the handler", examples=["thumbnail"])
    payload: dict[str, Any] = Field(default_factory=dict, description="the handler's arguments")
    queue: str | None = Field(default=None, description="the line it waits in")
    priority: int | None = Field(default=None, description="1 (first) to 10")
    delay: Seconds | None = Field(default=None, description="seconds from now until it is due")
    scheduled_at: str | None = Field(default=None, description="when it is due: ISO 8601 with a time zone")
    key: str | None = Field(default=None, description="idempotency key: a second request with it answers the first job")
    key_window: Literal["active"] | Seconds | None = Field(
        default=None, description="how long the key is kept: `active` until the job ends, or seconds"
    )
    coalesce_key: str | None = Field(
        default=None, description="newest wins: a later request with it takes the place of one that waits"
    )
    sequence: int | None = Field(default=None, description="the request's number: an older one is discarded")
    force: bool | None = Field(default=None, description="let a request in whose number is known already")
    debounce: Seconds | None = Field(default=None, description="due so many seconds after the last request")
    max_wait: Seconds | None = Field(default=None, description="but no later than so many after the first")
    group: str | None = Field(default=None, description="your key for jobs that belong together")
    tenant: str | None = Field(default=None, description="whose job it is")
    depends_on: list[str] | None = Field(default=None, description="ids of jobs that must complete before it")
    on_parent: Literal["cancel", "run"] | None = Field(
        default=None, description="what becomes of it when one of those ends badly; `cancel` if not given"
    )
    limits: list[str] | None = Field(default=None, description="keys of the limits it counts against, at most four")
    max_attempts: int | None = Field(default=None, description="how many runs it may take")
    timeout: Seconds | None = Field(default=None, description="seconds one run may take")
    context: dict[str, Any] | None = Field(
        default=None, description="who asked: user_id, user_role, correlation_id, trace_id, traceparent"
    )

    def options(self) -> dict[str, Any]:
        """The options that were given."""
        return self.model_dump(exclude={"type", "payload"}, exclude_none=True)


class NewScheduleBody(Body):
    """A schedule to make or to change: when, and which jobs."""

    name: str = Field(description="its name; one that is there is changed", examples=["nightly"])
    type: str = Field(description="names the handler", examples=["report"])
    payload: dict[str, Any] = Field(default_factory=dict, description="the handler's arguments")
    cron: str | None = Field(default=None, description="five fields", examples=["0 3 * * *"])
    every: Seconds | None = Field(default=None, description="seconds between ticks, instead of cron")
    tz: str | None = Field(default=None, description="whose clocks cron goes by", examples=["Europe/Vienna"])
    catch_up: Literal["last", "none", "all"] | None = Field(default=None, description="ticks that nobody was there for")
    overlap: Literal["skip", "allow"] | None = Field(default=None, description="while the job before has not ended")
    queue: str | None = Field(default=None, description="the line its jobs wait in")
    priority: int | None = Field(default=None, description="1 (first) to 10")
    group: str | None = Field(default=None, description="your key for jobs that belong together")
    tenant: str | None = Field(default=None, description="whose jobs they are")
    max_attempts: int | None = Field(default=None, description="how many runs a job may take")
    timeout: Seconds | None = Field(default=None, description="seconds one run may take")

    def options(self) -> dict[str, Any]:
        """The options that were given."""
        return self.model_dump(exclude={"name", "type", "payload"}, exclude_none=True)


class SubscriptionBody(Body):
    """Which ends of jobs an endpoint hears of; where nothing is named, anything fits."""

    name: str = Field(description="its name; one that is there is changed", examples=["ops"])
    endpoint: str = Field(description="the endpoint's name, as the workers know it", examples=["pager"])
    ends: list[str] = Field(description="`completed`, `failed`, `dead_letter`, `cancelled`")
    types: list[str] | None = Field(default=None, description="only jobs of these types")
    queues: list[str] | None = Field(default=None, description="only jobs of these queues")
    groups: list[str] | None = Field(default=None, description="only jobs of these groups")
    tenant: str | None = Field(default=None, description="only jobs of this tenant")
    with_result: bool = Field(default=False, description="tell the job's result, too")
    max_attempts: int | None = Field(default=None, description="how often a delivery is tried")


class LimitBody(Body):
    """A limit to set: on a key, or with `fair` or `exclusive` on queues."""

    name: str = Field(default="", description="of a key, or of a family of keys", examples=["domain"])
    concurrency: int | None = Field(default=None, description="how many run at once")
    scope: Literal["cluster", "host"] | None = Field(default=None, description="at once where")
    rate: float | None = Field(default=None, description="how many start in `per` seconds")
    per: Seconds | None = Field(default=None, description="seconds that a rate is for")
    burst: float | None = Field(default=None, description="how many starts may come together after a pause")
    fair: str | None = Field(default=None, description="a queue whose tenants take turns")
    weights: dict[str, int] | None = Field(default=None, description="of its tenants; 1 where none is given")
    exclusive: list[str] | None = Field(default=None, description="queues of which one job runs at a time")

    def says(self) -> dict[str, Any]:
        """What was given of a limit on a key."""
        return self.model_dump(exclude={"name", "fair", "weights", "exclusive"}, exclude_none=True)


class NoBody(Body):
    """Nothing to say: send no body, or an empty object."""


class CancelBody(Body):
    """How to stop a job."""

    mode: Literal["immediate", "graceful", "full"] = Field(
        default="immediate",
        description="`graceful` lets a run that has begun complete; `full` waits until its handler has stopped",
    )


class TenantBody(Body):
    """Whose group is meant."""

    tenant: Whose = Field(default="", description="whose group it is")


class GroupCancelBody(CancelBody, TenantBody):
    """How to stop a group, and how much of it."""

    types: list[Name] | None = Field(default=None, description="only jobs of these types")
    wait: Seconds = Field(default=0, description="`graceful`: seconds to wait for runs to complete, at most 30")


class ResumeBody(Body):
    """What a person gives a parked job."""

    data: dict[str, Any] | None = Field(default=None, description="for its handler alone; kept encrypted")


class ResumeManyBody(ResumeBody):
    """Which parked jobs go on: those of a tenant that wait for a key, or are of a group."""

    key: str | None = Field(default=None, description="all that wait for this key")
    group: str | None = Field(default=None, description="all of this group")
    tenant: Whose = Field(default="", description="of this tenant")
    after: str = Field(default="", max_length=64, description="the `next` of the answer before")


class DeadLetterBody(Body):
    """Which dead letters are meant; without a filter all of them."""

    type: str | None = Field(default=None, description="only of this type")
    tenant: str | None = Field(default=None, description="only of this tenant")
    limit: int = Field(default=500, ge=1, le=500, description="at most so many a call")


class PurgeBody(DeadLetterBody):
    """Which dead letters to delete: by a filter, or all of them, but said so."""

    all: bool = Field(default=False, description="every dead letter; instead of a filter")


class Query(BaseModel):
    """What stands behind the question mark; unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class NoQuery(Query):
    """No parameters."""


class JobsQuery(Query):
    """Which jobs to list, newest first."""

    status: Status | None = None
    type: Name | None = None
    queue: Name | None = None
    group: Name | None = None
    tenant: Annotated[str, Field(max_length=255)] | None = None
    before: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="the `next` of the page before"
    )
    limit: int = Field(default=50, ge=1, le=MOST_LISTED)
    view: Literal["full", "summary"] = Field(
        default="full", description="`summary` leaves out payload, result and context"
    )


class DeadLettersQuery(Query):
    """Which dead letters to list, newest first."""

    type: Name | None = None
    tenant: Annotated[str, Field(max_length=255)] | None = None
    before: Annotated[str, Field(max_length=64)] | None = None
    limit: int = Field(default=50, ge=1, le=MOST_LISTED)


class AuditQuery(Query):
    """Which lines of the audit to list, newest first."""

    tenant: Annotated[str, Field(max_length=255)] | None = None
    before: Annotated[str, Field(max_length=64)] | None = None
    limit: int = Field(default=50, ge=1, le=MOST_LISTED)


class GroupQuery(Query):
    """Whose group, and how long to wait for a change of it."""

    tenant: Whose = ""
    wait: float = Field(
        default=0, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds to wait for another version"
    )
    since: Annotated[str, Field(max_length=64)] | None = Field(default=None, description="the version you have seen")


class BatchesQuery(Query):
    """Which batches to list, newest first."""

    tenant: Whose | None = None
    before: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="the `next` of the page before"
    )
    limit: int = Field(default=50, ge=1, le=MOST_LISTED)


class ItemsQuery(Query):
    """Which items of a batch to list, by number."""

    after: int | None = Field(default=None, ge=-1, le=10_000_000, description="the `next` of the page before")
    limit: int = Field(default=100, ge=1, le=1_000)
    failed: bool = Field(default=False, description="only those that failed")


class JobQuery(Query):
    """How long to wait for the next change of the job: a start, progress and an end are changes alike."""

    wait: float = Field(
        default=0,
        ge=0,
        le=LONGEST_WAIT,
        allow_inf_nan=False,
        description="seconds to wait for a newer version; not for the end: ask again until `status` is one",
    )
    since: int | None = Field(
        default=None, ge=0, description="the version you have seen: a newer one is answered at once"
    )


def read_query(shape: type[Shape], given: QueryParams) -> Shape:
    """The checked query. A name given twice is refused: two readers could see two values."""
    pairs = given.multi_items()
    values = dict(pairs)
    if len(values) != len(pairs):
        raise BadInput("BAD_OPTION", "a query parameter is given twice: give each once")
    return check(shape, values, "query")


def check(shape: type[Shape], value: object, what: str) -> Shape:
    """The value in its shape, or an error that names each wrong field and shows no value."""
    if not isinstance(value, Mapping):
        raise BadInput("BAD_OPTION", f"{what} must be an object, not {type(value).__name__}")
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        told = "; ".join(f"{_place(fault['loc'])}: {fault['msg'][:200]}" for fault in faults[:_MOST_FAULTS])
        more = f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
        raise BadInput("BAD_OPTION", f"{what}: {told}{more}") from None


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(ascii(part)[:60].strip("'") for part in location) or "value"
