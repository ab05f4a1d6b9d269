"""Ends runs that nobody holds any more: leases that ran out, and leases of workers of this machine that died. And jobs
that waited for a person for too long.
"""

from __future__ import annotations

import logging
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.engine import repairs
from holdfast.model.failure import Failure
from holdfast.model.outcome import Crashed
from holdfast.signals.presence import dead_owners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.engine.desk import Desk
    from holdfast.model.lease import Claim
    from holdfast.model.outcome import Outcome
    from holdfast.model.policy import Policy
    from holdfast.store.port import Transaction

log = logging.getLogger("holdfast.upkeep")

LONG_LEASE_MS = 60_000
LONGEST_PAUSE = 30.0
_AFTERWARDS = 0.1  # seconds after a lease has ended


class Watchdog:
    """Expired leases, whoever held them.

    After a leap of the clock, and after a time in which the store or this process stood still, nothing is expired for
    one lease: those who live need a chance to renew.
    """

    name = "watchdog"
    leader_only = False

    def __init__(self, desk: Desk, policies: Mapping[str, Policy], lease_ms: int) -> None:
        self._desk = desk
        self._policies = policies
        self._lease_ms = lease_ms
        self._shortest = min(5.0, max(0.1, lease_ms / 3000))
        self.interval = self._shortest
        self._drift = self._desk.read(_now) - monotonic() * 1000
        self._ran_at = monotonic()
        self._quiet_until = 0.0

    def run_once(self) -> dict[str, int]:
        """End expired runs; answers how many went where."""
        return self._desk.write(self.recover)

    def recover(self, tx: Transaction) -> dict[str, int]:
        """The same, in a transaction that is open; says by `interval` when to come again."""
        # Judged here, when the store has let us in: the wait for it counts.
        now, ran_at, self._ran_at = monotonic(), self._ran_at, monotonic()
        lease = self._lease_ms / 1000
        leap = (tx.now - now * 1000 - self._drift) / 1000
        self._drift += leap * 1000
        if abs(leap) > lease / 2:
            log.warning("the clock leapt by %.0f s: no lease is ended for a while", leap)
            self._quiet_until = now + lease
        elif now - ran_at > self.interval + lease / 2 and self._quiet_until <= ran_at:
            self._quiet_until = now + lease
        counts: Counter[str] = Counter()
        if now >= self._quiet_until:
            counts.update(repairs.recover_expired(tx, self._policies))
            counts.update(repairs.expire_parked(tx))
        self.interval = self._pause(tx) if now >= self._quiet_until else self._shortest
        return dict(counts)

    def _pause(self, tx: Transaction) -> float:
        """Long where leases are: what is claimed from now on is seen before it can expire, and what runs is known."""
        if self._lease_ms < LONG_LEASE_MS:
            return self._shortest
        expiry = repairs.until_expiry(tx)
        return LONGEST_PAUSE if expiry is None else min(LONGEST_PAUSE, expiry + _AFTERWARDS)


class Undertaker:
    """Leases of workers of this machine whose process is gone: ended within a second, not when they run out."""

    name = "undertaker"
    leader_only = False
    interval = 1.0

    def __init__(
        self,
        desk: Desk,
        policies: Mapping[str, Policy],
        folder: str,
        judge: Callable[[str], Callable[[Claim], Outcome]] | None = None,
    ) -> None:
        """`judge` knows from the room of a dead worker how each of its runs ended; without it all have crashed."""
        self._desk = desk
        self._policies = policies
        self._folder = folder
        self._judge = judge

    def run_once(self) -> dict[str, int]:
        """End the runs of dead owners; answers how many went where."""
        counts: dict[str, int] = {}
        for owner, room in dead_owners(self._folder):
            outcome = self._judge(room) if self._judge is not None else _crashed
            ended = self._desk.write(repairs.end_runs_of, owner, outcome, self._policies)
            for status, count in ended.items():
                counts[status] = counts.get(status, 0) + count
        return counts


def _now(tx: Transaction) -> int:
    return tx.now


def _crashed(_: Claim) -> Outcome:
    return Crashed(Failure("WorkerDied", "the whole worker died", "WORKER_DIED"))
