"""Who hears of the ends of which jobs: a name, an endpoint for webhooks, and what the ends have to be like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.model.errors import BadInput
from holdfast.model.request import check_count, check_name
from holdfast.model.status import TERMINAL

DELIVERY = "holdfast.webhook"  # the type of the jobs that deliver; their own ends are told to nobody
QUEUE = "webhooks"
ATTEMPTS = 16
MOST_NAMED = 100
_TOLD = ("id", "type", "status", "queue", "group", "tenant", "attempts", "created_at", "completed_at")


class Subscription(NamedTuple):
    """One that wants to hear. Where nothing is named, anything fits."""

    name: str
    endpoint: str
    ends: tuple[str, ...]
    types: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    tenant: str | None = None
    with_result: bool = False
    max_attempts: int = ATTEMPTS

    def hears_of(self, job: Mapping[str, Any]) -> bool:
        """Whether it is told of the end of this job."""
        return (
            job["status"] in self.ends
            and job["type"] != DELIVERY
            and (not self.types or job["type"] in self.types)
            and (not self.queues or job["queue"] in self.queues)
            and (not self.groups or job["group"] in self.groups)
            and self.tenant in (None, job["tenant"])
        )

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._asdict().items()}


def subscription(name: object, endpoint: object, *, ends: Iterable[str] = (), **more: Any) -> Subscription:
    """A checked subscription."""
    statuses = _names("ends", ends)
    if not statuses:
        raise BadInput("BAD_OPTION", f"ends says which ends to hear of; a job ends as: {', '.join(sorted(TERMINAL))}")
    for status in statuses:
        if status not in TERMINAL:
            raise BadInput("BAD_OPTION", f"ends has {status[:50]!a}; a job ends as: {', '.join(sorted(TERMINAL))}")
    tenant = more.get("tenant")
    return Subscription(
        name=check_name("name", name),
        endpoint=check_name("endpoint", endpoint),
        ends=statuses,
        types=_names("types", more.get("types", ())),
        queues=_names("queues", more.get("queues", ())),
        groups=_names("groups", more.get("groups", ())),
        tenant=tenant if tenant in (None, "") else check_name("tenant", tenant),
        with_result=more.get("with_result", False) is True,
        max_attempts=check_count("max_attempts", more.get("max_attempts", ATTEMPTS), 10_000),
    )


def delivery(one: Subscription, job: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of the job that tells of an end: never the job's own payload, nor the message of its error."""
    error = job["error"] and {name: job["error"].get(name) for name in ("class", "code")}
    told = {name: job[name] for name in _TOLD} | {"error": error}
    if one.with_result:
        told["result"] = job["result"]
    return message(one.endpoint, f"job.{job['status']}", f"end_{job['id']}_{job['version']}", job["completed_at"], told)


def message(endpoint: str, event: str, message_id: str, at: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a delivery."""
    body = {"type": event, "timestamp": at, "data": data}
    return {"endpoint": endpoint, "event": event, "id": message_id, "body": body}


def _names(what: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise BadInput("BAD_OPTION", f"{what} is a list of names")
    names = tuple(dict.fromkeys(check_name(what, name) for name in given))
    if len(names) > MOST_NAMED:
        raise BadInput("BAD_OPTION", f"{what} takes at most {MOST_NAMED} names: subscribe twice")
    return names
