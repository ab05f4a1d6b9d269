"""A job as it is stored, and as every door shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from holdfast.model import stamp
from holdfast.model.status import TERMINAL, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One stored request for work."""

    id: str
    type: str
    status: Status
    queue: str
    group: str | None
    tenant: str
    priority: int
    attempts: int
    max_attempts: int
    failed: int
    crashed: int
    interrupted: int
    scheduled_at: datetime
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    payload: Any
    result: Any
    error: dict[str, Any] | None
    progress: dict[str, Any] | None
    context: dict[str, Any]
    idempotency_key: str | None
    payload_version: int
    timeout_ms: int | None
    lease_owner: str | None
    lease_until: datetime | None
    lease_token: int
    held: int
    cancel_requested_at: datetime | None
    version: int
    blocked: int
    children: int
    on_parent: str | None
    limits: tuple[str, ...]
    lane: str | None
    batch: str | None
    item: int | None
    parks: int
    auth: dict[str, Any] | None
    auth_key: str | None
    auth_until: datetime | None

    @property
    def ended(self) -> bool:
        """Whether the job has reached a terminal status."""
        return self.status in TERMINAL

    def as_json(self) -> dict[str, Any]:
        """The public form: the same object on the command line, over HTTP and over MCP."""
        return {name: _plain(getattr(self, name)) for name in PUBLIC_FIELDS} | {"auth": self._question()}

    def _question(self) -> dict[str, Any] | None:
        """What a parked job waits for; the answer that a person gives is shown to nobody but the handler."""
        if self.status is not Status.AWAITING_AUTH:
            return None
        asked = self.auth or {}
        return {
            "reason": asked.get("reason"),
            "url": asked.get("url"),
            "key": self.auth_key,
            "until": _plain(self.auth_until),
        }


# The lease token never leaves the workers: who knows it could finish the run.
PUBLIC_FIELDS = (
    "id", "type", "status", "queue", "group", "tenant", "priority", "attempts", "max_attempts", "failed", "crashed",
    "interrupted", "scheduled_at", "created_at", "updated_at", "started_at", "completed_at", "payload", "result",
    "error", "progress", "context", "idempotency_key", "payload_version", "lease_owner", "lease_until", "version",
    "auth",
)  # fmt: skip


def loads(text: str | None) -> Any:
    """The value of stored JSON text."""
    return None if text is None else json.loads(text)


def readable(text: str | None) -> Any:
    """The same for those who show it: what another program stored, and is no JSON, is marked and harms nobody else."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return {"class": "NotJson", "message": "this is not JSON: another program wrote it", "code": "STORED_NOT_JSON"}


def raised_at(error: dict[str, Any] | None) -> list[str]:
    """The lines of code that a stored error came through, the innermost first."""
    where = (error or {}).get("where")
    return [str(line) for line in reversed(where)] if isinstance(where, list) else []


def raised_from(error: dict[str, Any] | None) -> str:
    """The errors that a stored one was raised from, as they follow it in a sentence."""
    causes = (error or {}).get("causes")
    known = [one for one in causes if isinstance(one, dict)] if isinstance(causes, list) else []
    return "".join(f"; from {one.get('class')}: {one.get('message')}" for one in known)


def _plain(value: Any) -> Any:
    match value:
        case Status():
            return value.value
        case datetime():
            return stamp.to_text(stamp.from_datetime(value))
        case _:
            return value
