"""The verbs for schedules: the same on every store. The promises stand in the port."""

from __future__ import annotations

from holdfast.model import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.model.news import News
    from holdfast.model.schedule import Schedule

_PLAN = ("type", "payload", "options", "cron", "every_ms", "tz", "catch_up", "overlap")
_REST = ("name", "source", "paused_at", "paused_by", "last_job", "fired", "skipped", "missed", "note", "updated_by")


class ScheduleVerbs:
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:
        news: News
        now: int
        stamp: str

        def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]: ...
        def change(self, query: str, **parameters: object) -> int: ...

    def schedules(self, name: str | None = None) -> list[Schedule]:
        return [_schedule(row) for row in self.run("schedules", name=name)]

    def hold_schedule(self, name: str) -> Schedule | None:
        rows = self.run("schedule_hold", name=name)
        return _schedule(rows[0]) if rows else None

    def add_schedule(self, schedule: Schedule) -> bool:
        self.news.queues.add("*")  # whoever waits for the next tick looks anew
        return self.change("schedule_add", **_row(schedule, self.stamp)) == 1

    def change_schedule(self, schedule: Schedule, *, tell: bool = True) -> bool:
        if tell:
            self.news.queues.add("*")
        return self.change("schedule_change", **_row(schedule, self.stamp)) == 1

    def drop_schedule(self, name: str) -> bool:
        return self.change("schedule_drop", name=name) == 1

    def due_schedules(self) -> tuple[list[str], int | None]:
        ((following,),) = self.run("schedules_next", now=self.stamp)
        names = [name for (name,) in self.run("schedules_due", now=self.stamp)]
        return names, None if following is None else stamp.from_text(following)


def _schedule(row: tuple[Any, ...]) -> Schedule:
    from holdfast.model.schedule import Plan, Schedule, plan_from_text  # noqa: PLC0415  # a cold hook makes no schedules

    (
        name, kind, payload, options, cron, every_ms, tz, catch_up, overlap, code, source, paused_at, paused_by,
        removed, last_tick, next_tick, last_job, fired, skipped, missed, note, updated_at, updated_by, version,
    ) = row  # fmt: skip
    plan = Plan(
        type=kind,
        payload=payload,
        options=options,
        cron=cron,
        every_ms=every_ms,
        tz=tz,
        catch_up=catch_up,
        overlap=overlap,
    )
    return Schedule(
        name=name,
        plan=plan,
        code=None if code is None else plan_from_text(code),
        source=source,
        paused_at=paused_at,
        paused_by=paused_by,
        removed=bool(removed),
        last_tick=_instant(last_tick),
        next_tick=_instant(next_tick),
        last_job=last_job,
        fired=fired,
        skipped=skipped,
        missed=missed,
        note=note,
        updated_at=updated_at,
        updated_by=updated_by,
        version=version,
    )


def _row(schedule: Schedule, now: str) -> dict[str, object]:
    return {
        **{name: getattr(schedule.plan, name) for name in _PLAN},
        **{name: getattr(schedule, name) for name in _REST},
        "code": None if schedule.code is None else schedule.code.as_text(),
        "removed": int(schedule.removed),
        "last_tick": _text(schedule.last_tick),
        "next_tick": _text(schedule.next_tick),
        "updated_at": now,
        "version": schedule.version,
    }


def _instant(text: str | None) -> int | None:
    return None if text is None else stamp.from_text(text)


def _text(at: int | None) -> str | None:
    return None if at is None else stamp.to_text(at)
