"""A lease: the time-bounded, fenced right to run a job."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """A job under lease, as its worker sees it.

    The token grows by one at every claim and every forced end and is never reset, so a worker that lost its lease can
    be told apart from the one that holds it now, for ever.
    """

    id: str
    token: int
    type: str
    queue: str
    payload: str
    payload_version: int
    attempts: int
    max_attempts: int
    failed: int
    crashed: int
    interrupted: int
    priority: int
    tenant: str
    group: str | None
    context: str
    timeout_ms: int | None
    created_at: str
    scheduled_at: str
    lease_owner: str
    lease_until: str
    started_at: str
    key_until: str | None
    coalesce_key: str | None = None
    sequence: int | None = None
    parks: int = 0
    batch: str | None = None
    item: int | None = None
    limits: str | None = None
    auth_data: str | None = None


class Lane(NamedTuple):
    """One line a worker draws from: the jobs of a type, of a payload version, in a queue."""

    queue: str
    type: str
    payload_version: int = 1


def renew_when(claimed_at: int, lease_ms: int) -> int:
    """When to renew: a third of the lease is gone, so two more tries fit into it."""
    return claimed_at + lease_ms // 3
