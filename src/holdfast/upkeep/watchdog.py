"""Ends runs that nobody holds any more: leases that ran out, and leases of workers of this machine that died."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.engine import repairs
from holdfast.model.failure import Failure
from holdfast.model.outcome import Crashed
from holdfast.signals.presence import dead_owners

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.desk import Desk
    from holdfast.model.policy import Policy

log = logging.getLogger("holdfast.upkeep")

_DIED = Crashed(Failure("WorkerDied", "the whole worker died", "WORKER_DIED"))


class Watchdog:
    """Expired leases, whoever held them. After a leap of the clock nothing is expired for one lease."""

    name = "watchdog"
    leader_only = False

    def __init__(self, desk: Desk, policies: Mapping[str, Policy], lease_ms: int) -> None:
        self._desk = desk
        self._policies = policies
        self._lease_ms = lease_ms
        self.interval = min(5.0, max(0.1, lease_ms / 3000))
        self._drift = self._desk.store.now() - monotonic() * 1000
        self._quiet_until = 0.0

    def run_once(self) -> dict[str, int]:
        """End expired runs; answers how many went where."""
        drift = self._desk.store.now() - monotonic() * 1000
        if abs(drift - self._drift) > self._lease_ms / 2:
            log.warning("the clock leapt by %.0f s: no lease is ended for a while", (drift - self._drift) / 1000)
            self._quiet_until = monotonic() + self._lease_ms / 1000
        self._drift = drift
        if monotonic() < self._quiet_until:
            return {}
        return self._desk.write(repairs.recover_expired, self._policies)


class Undertaker:
    """Leases of workers of this machine whose process is gone: ended within a second, not when they run out."""

    name = "undertaker"
    leader_only = False
    interval = 1.0

    def __init__(self, desk: Desk, policies: Mapping[str, Policy], folder: str) -> None:
        self._desk = desk
        self._policies = policies
        self._folder = folder

    def run_once(self) -> dict[str, int]:
        """End the runs of dead owners; answers how many went where."""
        counts: dict[str, int] = {}
        for owner in dead_owners(self._folder):
            ended = self._desk.write(repairs.end_runs_of, owner, lambda _: _DIED, self._policies)
            for status, count in ended.items():
                counts[status] = counts.get(status, 0) + count
        return counts
