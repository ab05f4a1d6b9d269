"""Who hears of the ends of jobs, the same on every store: deliveries are stored in the transaction that ends the job.

What is known of the subscriptions is remembered for a few seconds, so that ends pay nothing where there are none: a new
one is in force everywhere after that time at the latest, and at once in the process that stored it.
"""

from __future__ import annotations

import json
from time import monotonic

from holdfast.store.parking import ParkingVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from holdfast.model.subscription import Subscription
    from holdfast.store.sql import Queries

REMEMBERED = 5.0  # seconds
_LISTS = ("ends", "types", "queues", "groups")


class Known:
    """What a store remembers."""

    __slots__ = ("subscriptions", "until")

    def __init__(self) -> None:
        self.subscriptions: list[Subscription] = []
        self.until = float("-inf")


class SubscriptionVerbs(ParkingVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:
        queries: Queries

        def anyway(self) -> AbstractContextManager[None]: ...

    def subscriptions(self) -> list[Subscription]:
        return [_subscription(row) for row in self.run("subscriptions")]

    def subscribe(self, one: Subscription, by: str) -> None:
        lists = {name: json.dumps(getattr(one, name), ensure_ascii=False) for name in _LISTS}
        row = one._asdict() | lists | {"with_result": int(one.with_result), "updated_by": by}
        self.run("subscribe", now=self.stamp, **row)
        self._known().until = float("-inf")

    def unsubscribe(self, name: str) -> bool:
        self._known().until = float("-inf")
        return self.change("unsubscribe", name=name) == 1

    def announce(self, ended: Sequence[tuple[str, str]]) -> None:
        """Store a delivery for each end that somebody wants to hear of."""
        known = self._known()
        now = monotonic()
        if now >= known.until:
            known.subscriptions = self.subscriptions()
            known.until = now + REMEMBERED
        statuses = {status for one in known.subscriptions for status in one.ends}
        told = [job_id for job_id, status in ended if status in statuses]
        if told:
            self._deliver(known.subscriptions, told)

    def _known(self) -> Known:
        known: Known = self.queries.kept.setdefault("subscriptions", Known())
        return known

    def _deliver(self, subscriptions: list[Subscription], ids: list[str]) -> None:
        from holdfast.model.payload import encode  # noqa: PLC0415  # only where somebody listens
        from holdfast.model.request import NewJob  # noqa: PLC0415
        from holdfast.model.subscription import DELIVERY, QUEUE, delivery  # noqa: PLC0415

        deliveries = []
        for row in self.run("endings", ids=self.ids(ids)):
            job = _ended(row)
            deliveries += [
                NewJob(
                    DELIVERY,
                    encode(delivery(one, job), limit=_NO_LIMIT),
                    queue=QUEUE,
                    tenant=job["tenant"],  # and no group: that is done when its own jobs are, whoever is told of it
                    max_attempts=one.max_attempts,
                )
                for one in subscriptions
                if one.hears_of(job)
            ]
        if deliveries:
            with self.anyway():
                self.insert(deliveries)


_NO_LIMIT = 1 << 30  # a result that could be stored can be told
_ENDED = (
    "id", "type", "status", "queue", "group", "tenant", "attempts", "created_at", "completed_at", "version", "error",
    "result",
)  # fmt: skip


def _ended(row: tuple[Any, ...]) -> dict[str, Any]:
    from holdfast.model.job import readable  # noqa: PLC0415  # a cold hook ends nothing

    job = dict(zip(_ENDED, row, strict=True))
    return job | {name: readable(job[name]) for name in ("error", "result")}


def _subscription(row: tuple[Any, ...]) -> Subscription:
    from holdfast.model.subscription import Subscription  # noqa: PLC0415  # a cold hook ends nothing

    name, endpoint, tenant, *rest = row
    lists = dict(zip(_LISTS, (tuple(json.loads(text)) for text in rest[:4]), strict=True))
    return Subscription(
        name=name, endpoint=endpoint, tenant=tenant, with_result=bool(rest[4]), max_attempts=rest[5], **lists
    )
