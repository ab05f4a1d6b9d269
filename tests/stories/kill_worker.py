"""A worker of the kill storm: enqueues, claims, renews, finishes and recovers, and writes down each step outside the store.

Lines of the log, each appended by one write: `enqueued id`, `claimed id token`, `ending id token` before a finish is
sent, then `accepted id token result` or `refused id token`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable
from typing import NamedTuple

from holdfast import App, Backoff
from holdfast.engine import leases, repairs
from holdfast.model.failure import Failure
from holdfast.model.lease import Claim
from holdfast.model.outcome import Raised, Returned
from holdfast.model.policy import Policy
from tests.stories.runs import Ended, exchange, order_of

LEASE_MS = 150
MAX_ATTEMPTS = {"steady": 1_000, "fragile": 3}
_SOON = Backoff(base_ms=1, cap_ms=20, jitter_ms=5)
POLICIES = {
    "steady": Policy(backoff=_SOON, max_crashes=1_000, lease_ms=LEASE_MS),
    "fragile": Policy(backoff=_SOON, max_crashes=2, lease_ms=LEASE_MS),
}
_FAILURE = Failure("ValueError", "not this time")


class Weather(NamedTuple):
    """How a storm rages."""

    kills: int
    stop_share: float  # of the strikes; a stopped worker goes on after its lease has run out
    jobs_each: int  # enqueued by each new worker
    slow_share: float  # of the runs; slow enough for the late finish of another to find them at work


class Worker:
    """Works until it is killed."""

    def __init__(self, url: str, log: str, weather: Weather, seed: float) -> None:
        self.app = App(url)
        self.weather = weather
        self.chance = random.Random(seed)
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def work(self) -> None:
        self.enqueue()
        ended: list[Ended] = []
        while True:
            if self.chance.random() < 0.3:
                self.app.desk.write(repairs.recover_expired, POLICIES, limit=50)
            claims = self.exchange(ended)
            if not claims:
                time.sleep(0.01)
            ended = [self.run(claim) for claim in claims]
            self.pause()

    def enqueue(self) -> None:
        with self.app.transaction():
            ids = [self._enqueue_one(self.chance.choice(tuple(MAX_ATTEMPTS))) for _ in range(self.weather.jobs_each)]
        self.note(f"enqueued {job_id}" for job_id in ids)

    def exchange(self, ended: list[Ended]) -> list[Claim]:
        self.note(f"ending {claim.id} {claim.token}" for claim, _ in ended)
        order = order_of(*MAX_ATTEMPTS, limit=self.chance.choice((1, 2, 6)), lease_ms=LEASE_MS)
        accepted, claims = exchange(self.app, ended, order, POLICIES)
        self.note(
            f"accepted {claim.id} {claim.token} {getattr(outcome, 'result', None) or 'failed'}"
            if held
            else f"refused {claim.id} {claim.token}"
            for (claim, outcome), held in zip(ended, accepted, strict=True)
        )
        self.note(f"claimed {claim.id} {claim.token}" for claim in claims)
        return claims

    def run(self, claim: Claim) -> Ended:
        """A result carries the token under which it was made."""
        self.pause()
        if self.chance.random() < self.weather.slow_share:
            time.sleep(LEASE_MS / 2000)
        if self.chance.random() < 0.1:
            self.app.desk.write(leases.renew, [(claim.id, claim.token)], LEASE_MS)
        if self.chance.random() < 0.1:
            return claim, Raised(_FAILURE)
        return claim, Returned(f'"{claim.id}/{claim.token}"')

    def pause(self) -> None:
        if self.chance.random() < 0.3:
            time.sleep(self.chance.random() * 0.004)

    def note(self, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        if text:
            os.write(self._log, text.encode())

    def _enqueue_one(self, type: str) -> str:
        return self.app.enqueue(type, max_attempts=MAX_ATTEMPTS[type]).id
