"""A claim that is one statement and commits by itself: no lock is taken before it, and none is held after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.store.at_once import AtOnce, LongWay
from holdfast.store.sqlite.leases import as_json
from holdfast.store.sqlite.transaction import SqliteTransaction
from holdfast.store.verbs import claims

if TYPE_CHECKING:
    from holdfast.model.lease import Claim
    from holdfast.store.port import Order


class LoneClaims(AtOnce, SqliteTransaction):
    """Takes one job: the next exchange, which follows at once, sees whether there are more."""

    def stir(self) -> None:
        """The statement does."""

    def claim_at_once(self, order: Order) -> list[Claim]:
        if order.together:
            raise LongWay
        rows = self.connection.execute(
            self.queries["claim_one"],
            {
                "lanes": as_json(tuple(order.lanes)),
                "owner": order.owner,
                "until": stamp.to_text(self.now + order.lease_ms),
                "now": self.stamp,
            },
        )
        return claims(rows)
