"""Statements that commit by themselves: one round trip where a transaction takes three.

A lone enqueue is sent once more should its answer be lost: its id makes that harmless. A lone claim is not: what it
took is then known to the server alone. So it is made only where somebody compares what a process has claimed with what
it runs, and hands back the rest; and not for jobs that hold units of a limit, where a transaction writes both.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.model.ids import new_ids
from holdfast.store.asking import as_asked
from holdfast.store.at_once import AtOnce, LongWay
from holdfast.store.postgres.transaction import PostgresTransaction

if TYPE_CHECKING:
    from holdfast.model.request import NewJob


def lone_row(job: NewJob, *, about: int, now: int | None) -> dict[str, object]:
    """A new job as `insert_alone` takes it; `about` is the instant in its id. Without `now` the database tells it."""
    return as_asked(job) | {
        "id": new_ids(about, 1)[0],
        "scheduled_at": None if job.scheduled_at is None else stamp.to_text(job.scheduled_at),
        "delay": min(job.delay or 0, stamp.LAST - about),
        "now": None if now is None else stamp.to_text(now),
        "key_until": job.key_window,
    }


class LoneClaims(AtOnce, PostgresTransaction):
    """Claims by a statement each."""

    def stir(self) -> None:
        if self.queries.kept.get("lines", 0.0) > monotonic():  # then lines of limits are looked at first
            raise LongWay

    run_again = AtOnce.run
