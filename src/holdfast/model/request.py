"""What a caller asks for: a new job with checked options. On the cold path of a hook, so free of heavy imports."""

from __future__ import annotations

from _collections_abc import Sequence  # `collections` around it would cost a cold hook a millisecond

from holdfast.model import stamp
from holdfast.model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, timedelta
    from typing import Any

    from holdfast.model.flow import Flow

LONGEST_NAME = 255
LONGEST_TIMEOUT_MS = 31 * 24 * 3600 * 1000
MOST_ATTEMPTS = 10_000
_ALIKE = 0.6  # of 1, for options: `prio` is priority
_ELSEWHERE = {"max_retries": "max_attempts", "retries": "max_attempts", "countdown": "delay", "eta": "scheduled_at"}
HIGH_PRIORITY = 3  # passes even when a queue is at its maximum depth
OPTIONS = frozenset({
    "coalesce_key", "context", "debounce", "delay", "depends_on", "force", "group", "key", "key_window", "limits",
    "max_attempts", "max_wait", "on_parent", "priority", "queue", "scheduled_at", "sequence", "tenant", "timeout",
})  # fmt: skip


class NewJob:
    """A request that has passed every check of its options; its payload is strict JSON text."""

    __slots__ = (
        "alike", "coalesce_key", "context", "debounce", "delay", "flow", "force", "group", "key", "key_window",
        "max_attempts", "max_wait", "payload", "payload_version", "priority", "queue", "scheduled_at", "sequence",
        "tenant", "timeout_ms", "type",
    )  # fmt: skip
    alike: NewJob | None  # the request that it was copied from: all but the payload is the same
    coalesce_key: str | None
    sequence: int | None
    debounce: int | None
    max_wait: int | None
    force: bool
    flow: Flow | None

    def __init__(
        self,
        type: str,  # the glossary's word
        payload: str,
        *,
        queue: str = "default",
        priority: int = 5,
        delay: float | timedelta | None = None,
        scheduled_at: datetime | str | None = None,
        key: str | None = None,
        key_window: str | float | timedelta | None = None,
        coalesce_key: str | None = None,
        sequence: int | None = None,
        debounce: float | timedelta | None = None,
        max_wait: float | timedelta | None = None,
        force: object = False,
        group: str | None = None,
        tenant: str = "",
        depends_on: object = None,
        on_parent: object = None,
        limits: object = None,
        max_attempts: int = 3,
        timeout: float | timedelta | None = None,
        context: str = "{}",
        payload_version: int = 1,
    ) -> None:
        self.type = check_name("type", type)
        self.payload = payload
        self.queue = queue if queue == "default" else check_name("queue", queue)
        self.priority = check_priority(priority)
        self.delay = None if delay is None else check_delay(delay)
        self.scheduled_at = None if scheduled_at is None else check_scheduled_at(scheduled_at, delay)
        self.key = None if key is None else check_name("key", key)
        self.key_window = None if key_window is None else check_key_window(key_window, key)
        self.alike = self.coalesce_key = self.sequence = self.debounce = self.max_wait = self.flow = None
        self.force = False
        if coalesce_key is not None or sequence is not None or debounce is not None or max_wait is not None or force:
            self._newest(coalesce_key, sequence, debounce, max_wait, force)
        self.group = None if group is None else check_name("group", group)
        self.tenant = tenant if tenant == "" else check_name("tenant", tenant)
        self.max_attempts = check_count("max_attempts", max_attempts, MOST_ATTEMPTS)
        self.timeout_ms = None if timeout is None else check_timeout(timeout)
        self.context = context
        self.payload_version = check_count("version", payload_version, 1_000_000)
        if depends_on is not None or on_parent is not None or limits is not None:
            self._tie(depends_on, on_parent, limits)

    def _newest(self, key: object, sequence: object, debounce: object, max_wait: object, force: object) -> None:
        """What a newer request with the same coalesce key does to an older one."""
        if key is None:
            raise BadInput(
                "BAD_OPTION", "sequence, force, debounce and max_wait need a coalesce_key: what is it the newest of?"
            )
        if self.key is not None:
            raise BadInput("BAD_OPTION", "give key or coalesce_key: a job is the only one of its kind, or the newest")
        self.coalesce_key = check_name("coalesce_key", key)
        if sequence is not None:
            if type(sequence) is not int or not 0 <= sequence < 2**63:
                raise BadInput("BAD_OPTION", f"sequence is a whole number from 0, below 2^63, not {shown(sequence)}")
            self.sequence = sequence
        if force:
            if force is not True or sequence is None:
                raise BadInput("BAD_OPTION", "force=True lets a request in whose sequence is known: give that, too")
            self.force = True
        if debounce is not None:
            if self.delay is not None or self.scheduled_at is not None:
                raise BadInput("BAD_OPTION", "debounce says when the job is due: leave out delay and scheduled_at")
            self.debounce = check_delay(debounce, "debounce")
            self.delay = self.debounce
        if max_wait is not None:
            if self.debounce is None:
                raise BadInput("BAD_OPTION", "max_wait bounds a debounce: give both")
            self.max_wait = check_delay(max_wait, "max_wait")
            self.delay = min(self.debounce, self.max_wait)

    def _tie(self, depends_on: object, on_parent: object, limits: object) -> None:
        """What it has to do with other jobs."""
        from holdfast.model.flow import check_flow  # noqa: PLC0415  # most jobs stand alone

        self.flow = check_flow(depends_on, on_parent, limits)
        if self.flow.depends_on and self.coalesce_key is not None:
            raise BadInput("BAD_OPTION", "give depends_on or coalesce_key: the newest request waits for no other")

    def with_payload(self, payload: str) -> NewJob:
        """The same request for another payload: its options need no second check."""
        job = object.__new__(NewJob)
        job.alike = self
        job.type, job.payload, job.queue, job.priority = self.type, payload, self.queue, self.priority
        job.delay, job.scheduled_at = self.delay, self.scheduled_at
        job.coalesce_key, job.sequence, job.debounce = self.coalesce_key, self.sequence, self.debounce
        job.max_wait, job.force = self.max_wait, self.force
        job.key, job.key_window, job.group, job.tenant = self.key, self.key_window, self.group, self.tenant
        job.max_attempts, job.timeout_ms = self.max_attempts, self.timeout_ms
        job.context, job.payload_version, job.flow = self.context, self.payload_version, self.flow
        return job


class Alike(Sequence[NewJob]):
    """Requests that differ in their payloads alone; made one by one only for those who ask for one."""

    __slots__ = ("pattern", "payloads")

    def __init__(self, pattern: NewJob, payloads: list[str]) -> None:
        self.pattern = pattern
        self.payloads = payloads

    def __len__(self) -> int:
        return len(self.payloads)

    def __iter__(self) -> Iterator[NewJob]:
        return map(self.pattern.with_payload, self.payloads)

    def __getitem__(self, place: Any) -> Any:
        found = self.payloads[place]
        return Alike(self.pattern, found) if isinstance(place, slice) else self.pattern.with_payload(found)


def shown(value: object) -> str:
    """A value in an error's text: short, and of whatever kind."""
    try:
        return repr(value)[:50]
    except Exception:  # noqa: BLE001  # an integer of too many digits, or somebody's own __repr__
        return f"a {type(value).__name__}"


def check_options(given: Mapping[str, object], allowed: frozenset[str], *, of: object = None) -> None:
    """Refuse an option nobody knows, with the names that could have been meant.

    `of`: a type that is enqueued by its name, where arguments of the handler are easily taken for options.
    """
    if of is not None:
        check_name("type", of)
    unknown = sorted(set(given) - allowed)
    if unknown:
        hint = _hint(unknown, allowed, of)
        takes = f"a job takes: {', '.join(sorted(allowed))}"
        raise BadInput("BAD_OPTION", f"unknown option {', '.join(unknown)}{hint} {takes}")


def _hint(unknown: list[str], allowed: frozenset[str], of: object) -> str:
    """What was meant instead, as far as it can be told; never a value, which may be a secret."""
    from holdfast.model.spelling import nearest  # noqa: PLC0415  # only where something is wrong

    names = {name: _ELSEWHERE.get(name, name.lower()) for name in unknown}  # as other queues call it
    meant = {name: nearest(other, allowed, alike=_ALIKE) for name, other in names.items()}
    near = ", ".join(dict.fromkeys(filter(None, meant.values())))
    hints = [f"did you mean {near}?"] if near else []
    others = ", ".join(f'"{name}": ...' for name in unknown if meant[name] is None)
    if others and isinstance(of, str):
        example = f'app.enqueue("{of}", {{{others}}})'
        hints.append(f"what the handler takes goes into the payload, a dict: {example};")
    return f": {' '.join(hints)}" if hints else ";"


def check_name(what: str, name: object) -> str:
    """A type, queue, tenant, group or key: short text without control characters."""
    if not isinstance(name, str):
        hint = ": write handler.enqueue(...)" if hasattr(name, "enqueue") else ""
        raise BadInput("BAD_NAME", f"{what} must be text, not {type(name).__name__}{hint}")
    if not 0 < len(name) <= LONGEST_NAME:
        raise BadInput("BAD_NAME", f"{what} must have 1 to {LONGEST_NAME} characters, this has {len(name)}")
    if not name.isprintable():
        raise BadInput("BAD_NAME", f"{what} {name!a} holds control characters: leave them out")
    return name


def check_priority(priority: object) -> int:
    """1 (first) to 10."""
    if type(priority) is int and 1 <= priority <= 10:  # noqa: PLR2004
        return priority
    raise BadInput("PRIORITY_OUT_OF_RANGE", f"priority is a whole number from 1 (first) to 10, not {shown(priority)}")


def check_count(what: str, count: object, most: int) -> int:
    """A whole number from 1."""
    if type(count) is int and 1 <= count <= most:
        return count
    raise BadInput("BAD_OPTION", f"{what} is a whole number from 1 to {most}, not {shown(count)}")


def check_delay(delay: object, what: str = "delay") -> int:
    """Seconds or a timedelta, as milliseconds."""
    ms = _milliseconds(what, "BAD_DATE", delay)
    if 0 <= ms <= stamp.LAST:
        return ms
    raise BadInput("BAD_DATE", f"{what} must lie between 0 and the year 9999, not {shown(delay)}")


def check_timeout(timeout: object, what: str = "timeout") -> int:
    """Seconds or a timedelta, as milliseconds; `what` is the option's name."""
    ms = _milliseconds(what, "BAD_OPTION", timeout)
    if 0 < ms <= LONGEST_TIMEOUT_MS:
        return ms
    raise BadInput("BAD_OPTION", f"{what} must be more than 0 s and at most 31 days, not {shown(timeout)}")


def check_key_window(window: object, key: str | None) -> str | int:
    """`active`, or for how long the key is kept."""
    if key is None:
        raise BadInput("BAD_OPTION", "key_window says how long a key is kept: give a key too")
    if window == "active":
        return "active"
    ms = _milliseconds("key_window", "BAD_OPTION", window)
    if 0 < ms <= stamp.LAST:
        return ms
    raise BadInput("BAD_OPTION", f"key_window is 'active' or a time of more than 0 s, not {shown(window)}")


def check_scheduled_at(moment: object, delay: object = None) -> int:
    """An aware datetime or its ISO 8601 text, as an instant."""
    from datetime import datetime  # noqa: PLC0415  # the cold path never needs it

    if delay is not None:
        raise BadInput("BAD_DATE", "give delay or scheduled_at, not both")
    if isinstance(moment, str):
        text = moment
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise BadInput(
                "BAD_DATE", f"scheduled_at {text[:50]!a} is not a date such as 2025-01-16T12:00:00Z"
            ) from None
    if not isinstance(moment, datetime):
        raise BadInput("BAD_DATE", f"scheduled_at must be a datetime or ISO 8601 text, not {type(moment).__name__}")
    if moment.tzinfo is None:
        raise BadInput("BAD_DATE", "scheduled_at has no time zone: add one, for example datetime.now(UTC)")
    at = stamp.from_datetime(moment)
    if 0 <= at <= stamp.LAST:
        return at
    raise BadInput("BAD_DATE", "scheduled_at must lie between the years 1970 and 9999")


def _milliseconds(what: str, code: str, duration: object) -> int:
    if hasattr(duration, "total_seconds"):
        duration = duration.total_seconds()
    if isinstance(duration, bool) or not isinstance(duration, int | float):
        kind = type(duration).__name__
        raise BadInput(
            code, f"{what} is a number of seconds or a timedelta, not {kind}: write 300, or timedelta(minutes=5)"
        )
    try:
        return int(duration * 1000)
    except (OverflowError, ValueError):  # infinity, not a number
        raise BadInput(code, f"{what} must be a finite number of seconds, not {shown(duration)}") from None
