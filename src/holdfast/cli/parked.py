"""`holdfast parked`."""

from __future__ import annotations

import click

from holdfast.cli.ending import note
from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import age
from holdfast.cli.render import Column, instant, show_list, show_table
from holdfast.cli.tree import Command
from holdfast.cli.verbs import dated
from holdfast.engine.jobs import MOST_LISTED
from holdfast.engine.parking import parked

_PARKED = (
    Column("ID"),
    Column("TYPE", fixed=False),
    Column("UNTIL", right=True),
    Column("KEY", fixed=False),
    Column("REASON", fixed=False),
    Column("URL", fixed=False),
)


@click.command(
    cls=Command,
    examples=(
        ("holdfast parked", "what people have to do; `holdfast job resume` when it is done"),
        ("holdfast parked --type fetch --json", "for programs"),
    ),
)
@click.option("--type", help="Only jobs of this type.")
@click.option("--tenant", help="Only jobs of this tenant.")
@click.option("--limit", type=click.IntRange(1, MOST_LISTED), default=20, show_default=True, help="At most so many.")
@click.option("--before", metavar="ID", help="Go on below this job: the older ones.")
@url_option
@json_option
def command(url: str | None, limit: int, *, as_json: bool, **where: str | None) -> None:
    """List the jobs that wait for a person, and what for."""
    with opened(url) as app:
        now, found = app.desk.read(dated, parked, limit=limit, **where)
    if as_json:
        show_list([job.as_json() for job in found])
        return
    rows = []
    for job in found:
        asked = job.auth or {}
        until = "" if job.auth_until is None else age(instant(job.auth_until), now)
        rows.append([job.id, job.type, until, job.auth_key or "", asked.get("reason") or "", asked.get("url") or ""])
    show_table(_PARKED, rows, empty="no job waits for a person")
    if len(found) == limit:
        note(f"more: --before {found[-1].id}")
