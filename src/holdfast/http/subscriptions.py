"""Who hears of the ends of jobs, over HTTP."""

from __future__ import annotations

from typing import Any

from holdfast.http.door import Call
from holdfast.http.jobs import ACTOR
from holdfast.http.shapes import SubscriptionBody
from holdfast.model.errors import NotFound
from holdfast.model.subscription import Subscription, subscription
from holdfast.store.port import Transaction


async def list_subscriptions(call: Call) -> Any:
    return {"items": await call.app.desk.aread(_all)}


async def add_subscription(call: Call) -> Any:
    """Makes it, or changes it."""
    body: SubscriptionBody = call.body
    one = subscription(**body.model_dump(exclude_none=True))
    await call.app.desk.awrite(_add, one)
    return one.as_json()


async def remove_subscription(call: Call) -> Any:
    name = call.part("name")
    if "\0" in name or not await call.app.desk.awrite(_remove, name):
        raise NotFound("SUBSCRIPTION_NOT_FOUND", f"no subscription {name[:50]!a}; GET /v1/subscriptions lists them")
    return {"name": name, "changed": True}


def _all(tx: Transaction) -> list[dict[str, Any]]:
    return [one.as_json() for one in tx.subscriptions()]


def _add(tx: Transaction, one: Subscription) -> None:
    tx.subscribe(one, ACTOR)


def _remove(tx: Transaction, name: str) -> bool:
    return tx.unsubscribe(name)
