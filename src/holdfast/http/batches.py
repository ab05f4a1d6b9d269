"""Batches over HTTP: list, look, items, cancel."""

from __future__ import annotations

from typing import Any

from holdfast.engine import batches as verbs
from holdfast.http.door import Call
from holdfast.http.shapes import BatchesQuery, ItemsQuery


async def list_batches(call: Call) -> Any:
    query: BatchesQuery = call.query
    found, following = await call.app.desk.aread(
        verbs.list_batches, before=query.before, limit=query.limit, tenant=query.tenant
    )
    return {"items": [batch.as_json() for batch in found], "next": following}


async def show_batch(call: Call) -> Any:
    return (await call.app.desk.aread(verbs.get, call.part("id"))).as_json()


async def list_items(call: Call) -> Any:
    query: ItemsQuery = call.query
    found, following = await call.app.desk.aread(
        verbs.items, call.part("id"), after=query.after, limit=query.limit, failed=query.failed
    )
    return {"items": found, "next": following}


async def cancel_batch(call: Call) -> Any:
    """A piece at a time, so that nobody else has to wait for long."""
    left = True
    while left:
        _, left = await call.app.desk.awrite(verbs.cancel, call.part("id"))
    return (await call.app.desk.aread(verbs.get, call.part("id"))).as_json()
