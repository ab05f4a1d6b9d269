"""The verbs for groups: see how far one is, and why its jobs failed. `cancels.py` and `pauses.py` act on them."""

from __future__ import annotations

from hashlib import blake2s
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import BadInput, NotFound
from holdfast.model.request import check_name, shown
from holdfast.model.status import TERMINAL, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

_SHOWN_ERRORS = 10
_MOST_LISTED = 1_000


def progress(tx: Transaction, key: str, tenant: str = "") -> dict[str, Any]:
    """A group in numbers. Zero jobs is an answer, too: retention may have taken them, or they are yet to come."""
    group = (tenant, check_name("group", key))
    counts = tx.group_counts([group])[group]
    by_status = {status.value: counts.get(status.value, (0, 0))[0] for status in Status}
    total = sum(by_status.values())
    done = sum(by_status[status] for status in TERMINAL)
    bad = [status for status in (Status.FAILED, Status.DEAD_LETTER) if by_status[status]]
    return {
        "key": key,
        "tenant": tenant,
        "version": version_of(counts),
        "total": total,
        "done": done,
        "failed": sum(by_status[status] for status in bad),
        "percent": int(1000 * done / total) / 10 if total else 0.0,
        "counts": by_status,
        "paused": _pauses(tx, key, tenant) if "paused" in counts else [],
        "errors": errors(tx, key, tenant, limit=_SHOWN_ERRORS) if bad else [],
    }


def found(tx: Transaction, key: str, tenant: str = "") -> dict[str, Any]:
    """The same, for a group that has jobs or is paused."""
    return check_found(progress(tx, key, tenant))


def check_found(seen: dict[str, Any]) -> dict[str, Any]:
    """Refuse a group without jobs."""
    if not seen["total"] and not seen["paused"]:
        raise NotFound(
            "GROUP_NOT_FOUND", f"no jobs in group {seen['key'][:50]!a}: none were enqueued, or retention has taken them"
        )
    return seen


def version_of(counts: Mapping[str, tuple[int, int]]) -> str:
    """Changes with every visible change of the group; equal on every store that holds the same."""
    return blake2s(repr(sorted(counts.items())).encode(), digest_size=8).hexdigest()


def versions(tx: Transaction, groups: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """(tenant, key) -> version."""
    return {group: version_of(counts) for group, counts in tx.group_counts(groups).items()}


def members(
    tx: Transaction, key: str, tenant: str = "", *, status: str | None = None, after: str = "", limit: int = 100
) -> list[Job]:
    """The jobs of a group, oldest first, above a cursor: the id of the last one."""
    if type(limit) is not int or not 1 <= limit <= _MOST_LISTED:
        raise BadInput("BAD_OPTION", f"limit is a whole number from 1 to {_MOST_LISTED}, not {shown(limit)}")
    if status is not None and status not in set(Status):
        raise BadInput("BAD_OPTION", f"{shown(status)} is no status; there are: {', '.join(Status)}")
    return tx.group_jobs(tenant, check_name("group", key), status=status, after=after, limit=limit)


def errors(tx: Transaction, key: str, tenant: str = "", *, limit: int = 100) -> list[dict[str, Any]]:
    """Why jobs of the group ended badly, the oldest first."""
    bad = [
        job
        for status in (Status.FAILED, Status.DEAD_LETTER)
        for job in tx.group_jobs(tenant, key, status=status, after="", limit=limit)
    ]
    return [
        {"id": job.id, "type": job.type, "status": job.status.value, "code": (job.error or {}).get("code", "")}
        | {"message": (job.error or {}).get("message", "")}
        for job in sorted(bad, key=lambda job: job.id)[:limit]
    ]


def _pauses(tx: Transaction, key: str, tenant: str) -> list[dict[str, str]]:
    return [
        {"scope": one["scope"], "since": one["since"], "by": one["by"]}
        for one in tx.pauses()
        if (one["scope"] == "group" and one["name"] == key and (one["tenant"] == tenant or not tenant))
        or (one["scope"] == "tenant" and one["name"] == tenant)
    ]
