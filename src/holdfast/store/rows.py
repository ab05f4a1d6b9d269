"""From a row of either store to a Job. The column `max_retries` becomes `max_attempts` here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.model import stamp
from holdfast.model.job import Job, loads, readable
from holdfast.model.status import Status


def _moment(text: str | None) -> Any:
    return None if text is None else stamp.to_datetime(stamp.from_text(text))


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(loads(text) or ())


# In the order that `get`, `list` and `attention` select.
_FIELDS = (
    "id", "type", "status", "queue", "group", "tenant", "priority", "attempts", "max_attempts", "failed", "crashed",
    "interrupted", "scheduled_at", "created_at", "updated_at", "started_at", "completed_at", "payload", "result",
    "error", "progress", "context", "idempotency_key", "payload_version", "timeout_ms", "lease_owner", "lease_until",
    "lease_token", "held", "cancel_requested_at", "version", "blocked", "children", "on_parent", "limits", "lane",
    "batch", "item", "parks", "auth", "auth_key", "auth_until",
)  # fmt: skip
_MEANT: dict[str, Callable[[Any], Any]] = (
    {"status": Status, "limits": _names}
    | dict.fromkeys(("payload", "result", "error", "progress", "context", "auth"), readable)
    | {name: _moment for name in _FIELDS if name.endswith(("_at", "_until"))}
)


def job_of(row: tuple[Any, ...]) -> Job:
    """The job of a row."""
    values = dict(zip(_FIELDS, row, strict=True))
    for name, meant in _MEANT.items():
        values[name] = meant(values[name])
    return Job(**values)
