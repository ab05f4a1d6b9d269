"""Schedules as users touch them: `app.schedule(...)` in the code, `app.schedules` at run time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.engine import schedules as verbs
from holdfast.handle import Handle
from holdfast.handler import Call, Handler
from holdfast.model.errors import BadInput
from holdfast.model.request import shown
from holdfast.model.schedule import Plan, Schedule, check_schedule_name, plan_of

if TYPE_CHECKING:
    from holdfast.app import App

BY = "app"


class Schedules:
    """The schedules of an application's store: call it to list them, or act on one by its name."""

    def __init__(self, app: App) -> None:
        self._app = app

    def __call__(self) -> list[Schedule]:
        """Every schedule by name."""
        return self._app.desk.read(verbs.schedules)

    def get(self, name: str) -> Schedule:
        """One schedule, as it is now."""
        return self._app.desk.read(verbs.get, name)

    def add(
        self, name: str, what: Any, payload: Mapping[str, Any] | None = None, *, by: str = BY, **when: Any
    ) -> Schedule:
        """Make a schedule now, or change one: `add("nightly", report.call(day="today"), cron="0 3 * * *")`.

        `what` is a call, a handler that needs no arguments, or a type by its name, with a payload. What is said here
        beats the code until `reset`.
        """
        plan = plan_for(self._app, what, payload, when)
        return self._app.desk.write(verbs.add, name, plan, by=by)[0]

    def pause(self, name: str, *, by: str = BY) -> Schedule:
        """Let no tick make a job."""
        return self._app.desk.write(verbs.pause, name, by=by)[0]

    def resume(self, name: str, *, by: str = BY) -> Schedule:
        """Let ticks make jobs again, from the next one on."""
        return self._app.desk.write(verbs.resume, name, by=by)[0]

    def trigger(self, name: str) -> Handle:
        """Make its job now, beside its ticks."""
        return Handle(self._app, self._app.desk.write(verbs.trigger, name), outcome="created")

    def remove(self, name: str, *, by: str = BY) -> Schedule:
        """Make no more jobs, even if the code has it; `reset` brings back what the code has."""
        return self._app.desk.write(verbs.remove, name, by=by)

    def reset(self, name: str, *, by: str = BY) -> Schedule:
        """Go back to what the code says."""
        return self._app.desk.write(verbs.reset, name, by=by)


def declared(app: App, name: Any, call: Any, when: Mapping[str, Any]) -> tuple[str, Plan]:
    """The name and the plan of `app.schedule(...)`."""
    if call is None:
        name, call = None, name
    if not isinstance(call, Call | Handler):
        raise BadInput(
            "BAD_SCHEDULE",
            'app.schedule takes a name and a call, as in app.schedule("nightly", report.call(day="today"), '
            f'cron="0 3 * * *"), not {shown(call)}',
        )
    plan = plan_for(app, call, None, when)
    name = check_schedule_name(plan.type if name is None else name)
    if app.declared.get(name, plan) != plan:
        raise BadInput("BAD_SCHEDULE", f"there is another schedule {name!a:.60}: give each a name of its own")
    return name, plan


def plan_for(app: App, what: Any, payload: Mapping[str, Any] | None, when: Mapping[str, Any]) -> Plan:
    """A checked plan for a call, a handler or a type by its name; what is not about time goes to the job."""
    timing = {name: when[name] for name in ("cron", "every", "tz", "catch_up", "overlap") if when.get(name) is not None}
    options = {
        name: value for name, value in when.items() if name not in ("cron", "every", "tz", "catch_up", "overlap")
    }
    match what:
        case str():
            return plan_of(app.new_job(what, payload or {}, options), **timing)
        case Handler() if payload is None:
            return plan_of(what.using(**options).call().new_job(), **timing)
        case Call() if payload is None and not options:
            return plan_of(what.new_job(), **timing)
        case Call():
            raise BadInput("BAD_SCHEDULE", "a call has its payload and options: report.using(priority=1).call(...)")
        case _:
            raise BadInput(
                "BAD_SCHEDULE",
                f"a schedule makes jobs of a call, a handler or a type by its name, not of {shown(what)}",
            )
