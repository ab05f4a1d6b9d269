"""A schedule: which job, when, and what to do about ticks that were missed.

A tick is an instant at which a schedule comes due. Its job carries a key made of both, so that it exists once in the
whole cluster, whoever makes it.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.model import stamp
from holdfast.model.cron import find_cron
from holdfast.model.errors import BadInput
from holdfast.model.flow import Flow
from holdfast.model.request import NewJob, check_name, check_timeout, shown

CATCH_UP = ("last", "none", "all")
OVERLAP = ("skip", "allow")
MOST_CAUGHT_UP = 100
MOST_COUNTED = 1_000  # ticks of an outage; there may have been more
GRACE_MS = 60_000  # a tick no later than this was not missed: a worker was busy, or started anew
UPCOMING = 5
_LONGEST_NAME = 150  # its keys must not be longer than a key may be
_SHORTEST_MS = 1_000
_FIRST_LOOK_MS = 3_600_000
_PREFIX = "schedule:"
_BY_HAND = "by-hand/"
_OPTIONS = ("queue", "priority", "group", "tenant", "max_attempts", "timeout_ms", "context", "payload_version")


class Origin(NamedTuple):
    """The schedule that made a job, and for which tick; None: by hand."""

    name: str
    tick: int | None


class Due(NamedTuple):
    """Ticks to run now, how many were passed over, the last tick that is dealt with, and the next one."""

    ticks: list[int]
    missed: int
    last: int
    following: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a schedule says; every part of it is checked."""

    type: str
    payload: str
    options: str
    cron: str | None
    every_ms: int | None
    tz: str
    catch_up: str
    overlap: str

    def next_after(self, at: int) -> int | None:
        """The first tick after an instant."""
        if self.every_ms is not None:
            return (at // self.every_ms + 1) * self.every_ms
        assert self.cron is not None, "the table's own check: one of the two is given"
        return find_cron(self.cron, self.tz).next_after(at)

    def upcoming(self, at: int, number: int = UPCOMING) -> list[int]:
        """The next ticks after an instant."""
        found: list[int] = []
        following = self.next_after(at)
        while following is not None and len(found) < number:
            found.append(following)
            following = self.next_after(following)
        return found

    def words(self) -> str:
        """When it runs, as a person would say it."""
        if self.every_ms is not None:
            return _every(self.every_ms)
        assert self.cron is not None, "the table's own check: one of the two is given"
        return find_cron(self.cron, self.tz).words()

    def same_times(self, other: Plan) -> bool:
        """Whether both come due at the same instants."""
        return (self.cron, self.every_ms, self.tz) == (other.cron, other.every_ms, other.tz)

    def due(self, first: int, now: int) -> Due:
        """What to do about the ticks from one on, up to now."""
        ticks, count, following = self._passed(first, now)
        match self.catch_up:
            case "all":
                run = list(ticks)
            case "none" if now - ticks[-1] > GRACE_MS:
                run = []
            case _:
                run = [ticks[-1]]
        return Due(run, count - len(run), ticks[-1], following)

    def new_job(self, key: str, tick: int) -> NewJob:
        """The job of a tick."""
        options = json.loads(self.options)
        job = NewJob(self.type, self.payload, key=key, queue=options["queue"], priority=options["priority"])
        job.scheduled_at = tick
        for name in _OPTIONS[2:]:
            setattr(job, name, options[name])
        if options.get("limits"):
            job.flow = Flow(limits=tuple(options["limits"]))
        return job

    @property
    def tenant(self) -> str:
        """Whose jobs it makes."""
        return str(json.loads(self.options)["tenant"])

    def as_text(self) -> str:
        """For the store, and for another process."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, ensure_ascii=False)

    def _passed(self, first: int, now: int) -> tuple[deque[int], int, int | None]:
        """The last ticks up to now, how many there were (up to a cap), and the next one."""
        ticks: deque[int] = deque(maxlen=MOST_CAUGHT_UP)
        at: int | None = first
        count = 0
        while at is not None and at <= now and count < MOST_COUNTED:
            ticks.append(at)
            count += 1
            at = self.next_after(at)
        back = _FIRST_LOOK_MS
        while at is not None and at <= now:  # a long outage: only its end is looked at
            ticks.clear()
            at = self.next_after(max(first - 1, now - back))
            while at is not None and at <= now:
                ticks.append(at)
                at = self.next_after(at)
            if len(ticks) < MOST_CAUGHT_UP and now - back >= first:
                back, at = back * 8, now
        return ticks, count, at


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule as it is stored. `code` is what the application says; it holds unless a person has changed it."""

    name: str
    plan: Plan
    code: Plan | None
    source: str  # code or runtime
    paused_at: str | None
    paused_by: str | None
    removed: bool  # by a person, although the code has it
    last_tick: int | None
    next_tick: int | None
    last_job: str | None
    fired: int
    skipped: int
    missed: int
    note: str
    updated_at: str
    updated_by: str
    version: int

    @property
    def idle(self) -> bool:
        """Whether it makes no jobs by itself."""
        return self.removed or self.paused_at is not None or self.next_tick is None

    def as_json(self, now: int) -> dict[str, Any]:
        """The public form: the same object for every door."""
        plan = self.plan
        return {
            "name": self.name,
            "words": plan.words(),
            "type": plan.type,
            "payload": json.loads(plan.payload),
            "options": {name: value for name, value in _public(plan.options).items() if value not in (None, "", {})},
            "cron": plan.cron,
            "every": None if plan.every_ms is None else plan.every_ms / 1000,
            "tz": plan.tz,
            "catch_up": plan.catch_up,
            "overlap": plan.overlap,
            "source": self.source,
            "changed": self.code is not None and self.code != plan,
            "paused": None if self.paused_at is None else {"since": self.paused_at, "by": self.paused_by},
            "removed": self.removed,
            "last_tick": None if self.last_tick is None else stamp.to_text(self.last_tick),
            "next_tick": None if self.idle or self.next_tick is None else stamp.to_text(self.next_tick),
            "upcoming": [] if self.idle else [stamp.to_text(at) for at in plan.upcoming(now)],
            "last_job": self.last_job,
            "fired": self.fired,
            "skipped": self.skipped,
            "missed": self.missed,
            "note": self.note,
            "updated_at": self.updated_at,
            "updated_by": self.updated_by,
        }


def plan_of(
    job: NewJob,
    *,
    cron: object = None,
    every: object = None,
    tz: object = "UTC",
    catch_up: object = "last",
    overlap: object = "skip",
) -> Plan:
    """A checked plan that makes such jobs."""
    if job.key is not None or job.delay is not None or job.scheduled_at is not None:
        raise BadInput(
            "BAD_SCHEDULE", "a schedule gives its jobs their time and their key: leave out key, delay, scheduled_at"
        )
    if job.coalesce_key is not None:
        raise BadInput(
            "BAD_SCHEDULE", 'each tick has a job of its own: leave out coalesce_key, overlap="skip" is enough'
        )
    if job.flow is not None and job.flow.depends_on:
        raise BadInput("BAD_SCHEDULE", "the jobs of all ticks would wait for the same jobs: leave out depends_on")
    if (cron is None) == (every is None):
        raise BadInput("BAD_SCHEDULE", 'give cron="0 3 * * *" or every=seconds: one of the two')
    if every is not None and tz != "UTC":
        raise BadInput(
            "BAD_SCHEDULE", "every= goes by elapsed time, whatever a clock shows: leave out tz, or use cron="
        )
    every_ms = None if every is None else check_timeout(every, "every")
    if every_ms is not None and every_ms < _SHORTEST_MS:
        raise BadInput("BAD_SCHEDULE", "a schedule comes due once a second at most: give every=1 or more")
    if cron is not None:
        find_cron(_hashable(cron), _hashable(tz))
    options = {name: getattr(job, name) for name in _OPTIONS}
    if job.flow is not None:
        options["limits"] = list(job.flow.limits)
    return Plan(
        type=job.type,
        payload=job.payload,
        options=json.dumps(options, ensure_ascii=False),
        cron=None if cron is None else str(cron),
        every_ms=every_ms,
        tz=str(tz),
        catch_up=_one_of("catch_up", catch_up, CATCH_UP),
        overlap=_one_of("overlap", overlap, OVERLAP),
    )


def plan_from_text(text: str) -> Plan:
    """A plan that was checked before it was stored."""
    return Plan(**json.loads(text))


def check_schedule_name(name: object) -> str:
    """Short text without control characters."""
    if len(check_name("a schedule's name", name)) > _LONGEST_NAME:
        raise BadInput("BAD_NAME", f"a schedule's name has at most {_LONGEST_NAME} characters: give a shorter one")
    return str(name)


def key_of(name: str, tick: int) -> str:
    """The idempotency key of a tick's job."""
    return f"{_PREFIX}{name}/{stamp.to_text(tick)}"


def key_by_hand(name: str, mark: str) -> str:
    """The key of a job that a person asked for."""
    return f"{_PREFIX}{name}/{_BY_HAND}{mark}"


def origin_of(key: str | None) -> Origin | None:
    """The schedule that a job's key tells of, if it does."""
    if key is None or not key.startswith(_PREFIX):
        return None
    rest = key.removeprefix(_PREFIX)
    name, by_hand, _ = rest.rpartition(f"/{_BY_HAND}")
    if by_hand:
        return Origin(name, None)
    name, _, text = rest.rpartition("/")
    try:
        return Origin(name, stamp.from_text(text)) if name else None
    except ValueError:  # a key of somebody's own that looks like ours
        return None


def _public(options: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(options)
    timeout_ms = values.pop("timeout_ms")
    return values | {
        "timeout": None if timeout_ms is None else timeout_ms / 1000,
        "context": json.loads(values["context"]),
    }


def _hashable(value: object) -> Any:
    return value if isinstance(value, str) else shown(value)


def _one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    raise BadInput("BAD_SCHEDULE", f"{what} is {', '.join(allowed[:-1])} or {allowed[-1]}, not {shown(value)}")


def _every(ms: int) -> str:
    for size, unit in ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")):
        if ms % size == 0:
            return f"Every {unit}" if ms == size else f"Every {ms // size} {unit}s"
    return f"Every {ms / 1000:g} seconds"
