"""`holdfast audit`."""

from __future__ import annotations

import click

from holdfast.cli import verbs
from holdfast.cli.ending import note
from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import age, count
from holdfast.cli.render import Column, show_list, show_table
from holdfast.cli.tree import Command
from holdfast.engine import jobs
from holdfast.model import stamp

_COLUMNS = (
    Column("WHEN", right=True),
    Column("WHO", fixed=False),
    Column("ACT"),
    Column("JOBS", right=True),
    Column("TYPE", fixed=False),
    Column("QUEUE", fixed=False),
    Column("TENANT", fixed=False),
    Column("FIRST", fixed=False),
)


@click.command(
    cls=Command,
    examples=(
        ("holdfast audit", "the newest acts"),
        ("holdfast audit --json", "with the ids of all deleted jobs"),
    ),
)
@click.option("--tenant", help="Only jobs of this tenant.")
@click.option(
    "--limit", type=click.IntRange(1, jobs.MOST_LISTED), default=20, show_default=True, help="At most so many."
)
@click.option("--before", metavar="ID", help="Go on below this line: the older ones.")
@url_option
@json_option
def command(url: str | None, limit: int, *, as_json: bool, tenant: str | None, before: str | None) -> None:
    """List who deleted which jobs by hand.

    A deleted job takes its history along; this is what is left of it, for 90 days: never its payload.
    """
    with opened(url) as app:
        now, found = app.desk.read(verbs.dated, jobs.audit, limit=limit, before=before, tenant=tenant)
    if as_json:
        show_list(found)
        return
    rows = [
        [
            age(stamp.from_text(line["at"]), now),
            line["actor"] or "-",
            line["act"],
            count(len(line["jobs"])),
            line["type"],
            line["queue"],
            line["tenant"],
            line["jobs"][0],
        ]
        for line in found
    ]
    show_table(_COLUMNS, rows, empty="nothing was deleted by hand lately")
    if len(found) == limit:
        note(f"more: --before {found[-1]['id']}")
