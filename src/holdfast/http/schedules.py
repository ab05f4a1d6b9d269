"""Schedules over HTTP: list, make, pause, resume, trigger, remove, reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.engine import schedules as verbs
from holdfast.http.door import Call
from holdfast.http.jobs import ACTOR
from holdfast.http.shapes import NewScheduleBody
from holdfast.model.schedule import Schedule
from holdfast.schedules import plan_for
from holdfast.store.port import Transaction


async def list_schedules(call: Call) -> Any:
    return {"items": await call.app.desk.aread(_all)}


async def show_schedule(call: Call) -> Any:
    return await call.app.desk.aread(_one, verbs.get, call.part("name"))


async def add_schedule(call: Call) -> Any:
    """Makes it, or changes it; what is said here beats the code until a reset."""
    body: NewScheduleBody = call.body
    plan = plan_for(call.app, body.type, body.payload, body.options())
    return await call.app.desk.awrite(_one, verbs.add, body.name, plan, by=ACTOR)


async def pause_schedule(call: Call) -> Any:
    return await call.app.desk.awrite(_one, verbs.pause, call.part("name"), by=ACTOR)


async def resume_schedule(call: Call) -> Any:
    return await call.app.desk.awrite(_one, verbs.resume, call.part("name"), by=ACTOR)


async def trigger_schedule(call: Call) -> Any:
    name = call.part("name")
    return {"name": name, "id": await call.app.desk.awrite(verbs.trigger, name)}


async def remove_schedule(call: Call) -> Any:
    return await call.app.desk.awrite(_one, verbs.remove, call.part("name"), by=ACTOR)


async def reset_schedule(call: Call) -> Any:
    return await call.app.desk.awrite(_one, verbs.reset, call.part("name"), by=ACTOR)


def _all(tx: Transaction) -> list[dict[str, Any]]:
    return [schedule.as_json(tx.now) for schedule in verbs.schedules(tx)]


def _one(tx: Transaction, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    answer = verb(tx, *args, **kwargs)
    schedule: Schedule = answer if isinstance(answer, Schedule) else answer[0]
    return schedule.as_json(tx.now)
