"""What a type of job settles for all its jobs."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.model.backoff import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one type. Attempts are bounded per job; crashes once more, here."""

    backoff: Backoff = field(default_factory=Backoff)
    max_crashes: int = 3
    lease_ms: int = 60_000
    timeout_ms: int | None = 15 * 60 * 1000
    permanent: tuple[type[BaseException], ...] = ()


DEFAULT_POLICY = Policy()
