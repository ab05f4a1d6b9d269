"""`holdfast schedules`: the listing. What acts on one stands in `holdfast schedule`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import age, coming, count
from holdfast.cli.render import Cell, Column, show_list, show_table
from holdfast.cli.tree import Command
from holdfast.cli.verbs import dated
from holdfast.engine import schedules as verbs

if TYPE_CHECKING:
    from holdfast.model.schedule import Schedule

_COLUMNS = (
    Column("NAME", fixed=False),
    Column("WHEN", fixed=False),
    Column("TYPE", fixed=False),
    Column("STATE"),
    Column("NEXT", right=True),
    Column("LAST", right=True),
    Column("FIRED", right=True),
    Column("SKIPPED", right=True),
    Column("MISSED", right=True),
    Column("FROM"),
)


@click.command(
    cls=Command,
    examples=(
        ("holdfast schedules", "which jobs run again and again, when, and when next"),
        ("holdfast schedules --json", "for programs, with the next five ticks of each"),
    ),
)
@url_option
@json_option
def command(url: str | None, *, as_json: bool) -> None:
    """List the schedules: which jobs run again and again, and when.

    SKIPPED counts ticks whose job before had not ended; MISSED those that no worker was there for and that the
    schedule does not catch up. FROM tells whether the code or a person has the word.
    """
    list_schedules(url, as_json=as_json)


def list_schedules(url: str | None, *, as_json: bool) -> None:
    """Print every schedule."""
    with opened(url) as app:
        now, found = app.desk.read(dated, verbs.schedules)
    if as_json:
        show_list([schedule.as_json(now) for schedule in found])
        return
    show_table(
        _COLUMNS,
        [_row(schedule, now) for schedule in found],
        empty="no schedules: app.schedule(...) in the code, or `holdfast schedule add`, makes one",
    )


def _row(schedule: Schedule, now: int) -> list[object]:
    return [
        schedule.name,
        schedule.plan.words(),
        schedule.plan.type,
        state(schedule),
        "" if schedule.idle or schedule.next_tick is None else coming(schedule.next_tick, now),
        age(schedule.last_tick, now),
        count(schedule.fired),
        Cell(count(schedule.skipped), "yellow" if schedule.skipped else ""),
        Cell(count(schedule.missed), "yellow" if schedule.missed else ""),
        schedule.source,
    ]


def state(schedule: Schedule) -> Cell:
    """Whether it makes jobs."""
    if schedule.removed:
        return Cell("removed", "dim")
    return Cell("paused", "bold yellow") if schedule.paused_at is not None else Cell("on", "green")
