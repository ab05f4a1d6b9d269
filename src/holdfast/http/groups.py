"""Groups and tenants over HTTP: look, wait, cancel, pause, resume."""

from __future__ import annotations

import asyncio
from typing import Any

from holdfast.engine import cancels, groups, pauses
from holdfast.http.door import Call
from holdfast.http.jobs import ACTOR
from holdfast.http.shapes import GroupCancelBody, GroupQuery, TenantBody


async def show_group(call: Call) -> Any:
    """The group in numbers; with `wait`, once its version is another than `since`, or when the time is over."""
    query: GroupQuery = call.query
    key = call.part("key")
    # Without `since` the caller wants news of a group that goes on; one whose jobs have all ended is told at once.
    seen = await call.app.watch.groups.read(key, query.tenant)
    if query.wait and (seen["version"] == query.since or (query.since is None and seen["done"] < seen["total"])):
        await call.door.wait_for_change(call.request, (query.tenant, key), seen["version"], query.wait)
        seen = await call.app.watch.groups.read(key, query.tenant)
    return groups.check_found(seen)


async def cancel_group(call: Call) -> Any:
    body: GroupCancelBody = call.body
    return await cancels.acancel(
        call.app.desk, call.part("key"), tenant=body.tenant, mode=body.mode, types=body.types, wait=body.wait,
        actor=ACTOR,
    )  # fmt: skip


async def pause_group(call: Call) -> Any:
    body: TenantBody = call.body
    return await asyncio.to_thread(pauses.pause_group, call.app.desk, call.part("key"), ACTOR, tenant=body.tenant)


async def resume_group(call: Call) -> Any:
    body: TenantBody = call.body
    return await asyncio.to_thread(pauses.resume_group, call.app.desk, call.part("key"), tenant=body.tenant)


async def pause_tenant(call: Call) -> Any:
    return await asyncio.to_thread(pauses.pause_tenant, call.app.desk, call.part("name"), ACTOR)


async def resume_tenant(call: Call) -> Any:
    return await asyncio.to_thread(pauses.resume_tenant, call.app.desk, call.part("name"))


async def list_pauses(call: Call) -> Any:
    return {"items": await call.app.desk.aread(pauses.pauses)}
