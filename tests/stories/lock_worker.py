"""One of many processes that use one file at once: a mix of all verbs, each call timed.

Run as `python -m tests.stories.lock_worker URL START SECONDS SEED`; prints its report as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from holdfast import App, HoldfastError
from holdfast.engine import leases, repairs
from holdfast.model.lease import Claim
from holdfast.model.outcome import Returned
from tests.stories.runs import exchange, order_of

WEIGHTS = {
    "enqueue": 30, "enqueue 20": 3, "exchange": 30, "progress": 10, "get": 15, "list": 5, "cancel": 5, "retention": 2,
}  # fmt: skip
KEPT_MS = {"cancelled": 1_000}  # nothing else is deleted, so all else can be looked for


class Caller:
    """Makes calls of every kind and remembers what it was promised."""

    def __init__(self, app: App, chance: random.Random) -> None:
        self.app = app
        self.chance = chance
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.enqueued: list[str] = []
        self.cancelled: list[str] = []
        self.finished: dict[str, str] = {}
        self._held: list[Claim] = []
        self._swept_to = ""
        self._mail = app.job(type="mail", max_attempts=50)(lambda number: number)
        self._calls: dict[str, Callable[[], Any]] = {
            "enqueue": self.enqueue,
            "enqueue 20": self.enqueue_many,
            "exchange": self.exchange,
            "progress": self.progress,
            "get": lambda: self._on_one_of_mine(app.get),
            "list": lambda: app.jobs(limit=50, status="queued"),
            "cancel": self.cancel,
            "retention": self.retention,
        }

    def call(self, verb: str) -> None:
        begun = time.monotonic()
        try:
            self._calls[verb]()
        except HoldfastError as error:
            if error.code != "JOB_NOT_FOUND":  # retention took it
                self.errors.append(f"{verb}: {error}")
        except Exception as error:  # noqa: BLE001  # the judge wants every one of them
            self.errors.append(f"{verb}: {error!r}")
        self.milliseconds[verb].append(round((time.monotonic() - begun) * 1000, 2))

    def enqueue(self) -> None:
        self.enqueued.append(self._mail.enqueue(number=1).id)

    def enqueue_many(self) -> None:
        self.enqueued += [handle.id for handle in self.app.enqueue_many([self._mail.call(number=1)] * 20)]

    def exchange(self) -> None:
        ended = [(claim, Returned(f'"{claim.id} {claim.token}"')) for claim in self._held]
        self._held = []
        accepted, self._held = exchange(self.app, ended, order_of("mail", limit=5))
        self.finished |= {
            claim.id: outcome.result for (claim, outcome), held in zip(ended, accepted, strict=True) if held
        }

    def progress(self) -> None:
        if self._held:
            claim = self.chance.choice(self._held)
            self.app.desk.write(leases.progress, claim.id, claim.token, '"half"')

    def cancel(self) -> None:
        answer = self._on_one_of_mine(self.app.cancel)
        if answer and answer["changed"]:
            self.cancelled.append(answer["id"])

    def retention(self) -> None:
        _, after = self.app.desk.write(repairs.sweep_ended, KEPT_MS, after=self._swept_to, window=200)
        self._swept_to = after or ""

    def _on_one_of_mine(self, call: Callable[[str], Any]) -> Any:
        return call(self.chance.choice(self.enqueued[-200:])) if self.enqueued else None


def main(url: str, start: float, seconds: float, seed: int) -> None:
    with App(url) as app:
        caller = Caller(app, random.Random(seed))
        begun = time.monotonic()
        caller.enqueue()  # opens the file, and loads what the first enqueue of a process needs
        caller.milliseconds["open"].append(round((time.monotonic() - begun) * 1000, 2))
        time.sleep(max(0.0, start - time.time()))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            caller.call(*caller.chance.choices(list(WEIGHTS), WEIGHTS.values()))
        names = ("milliseconds", "errors", "enqueued", "cancelled", "finished")
        sys.stdout.write(json.dumps({name: getattr(caller, name) for name in names}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
