"""Limits over HTTP: list, set, drop, reset."""

from __future__ import annotations

from typing import Any

from holdfast.engine import limits as verbs
from holdfast.http.door import Call
from holdfast.http.jobs import ACTOR
from holdfast.http.shapes import LimitBody
from holdfast.model.limit import exclusive, fair, limit_of
from holdfast.store.port import Transaction


async def list_limits(call: Call) -> Any:
    return {"items": await call.app.desk.aread(_all)}


async def set_limit(call: Call) -> Any:
    """What is said here beats the code until a reset."""
    body: LimitBody = call.body
    if body.fair is not None:
        limit = fair(body.fair, body.weights)
    elif body.exclusive is not None:
        limit = exclusive(*body.exclusive)
    else:
        limit = limit_of(body.name, **body.says())
    return (await call.app.desk.awrite(verbs.set_limit, limit, by=ACTOR)).as_json()


async def drop_limit(call: Call) -> Any:
    return (await call.app.desk.awrite(verbs.drop, call.part("name"), by=ACTOR)).as_json()


async def reset_limit(call: Call) -> Any:
    return (await call.app.desk.awrite(verbs.reset, call.part("name"))).as_json()


def _all(tx: Transaction) -> list[dict[str, Any]]:
    return [limit.as_json() for limit in verbs.limits(tx)]
