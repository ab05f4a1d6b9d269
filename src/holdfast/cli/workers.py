"""`holdfast workers`."""

from __future__ import annotations

import click

from holdfast.cli import verbs
from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import age
from holdfast.cli.render import Cell, Column, show_list, show_table
from holdfast.cli.tree import Command
from holdfast.engine import queues as house
from holdfast.model import stamp

_COLUMNS = (
    Column("WORKER", fixed=False),
    Column("STATE"),
    Column("HEARD OF", right=True),
    Column("STARTED", right=True),
    Column("RUNNING", right=True),
    Column("DRAWS FROM", fixed=False),
)


@click.command(
    cls=Command,
    examples=(
        ("holdfast workers", "who runs jobs, how many, and of which queues"),
        ("holdfast workers --json", "with every type and payload version they know"),
    ),
)
@url_option
@json_option
def command(url: str | None, *, as_json: bool) -> None:
    """List the workers that were heard of.

    A worker is `silent` when nothing was heard of it for 90 seconds; its leases end, and its runs are given to others.
    """
    with opened(url) as app:
        now, found = app.desk.read(verbs.dated, house.workers, silent_too=True)
    if as_json:
        show_list(found)
        return
    rows = [
        [
            worker["id"],
            Cell("alive", "green") if worker["alive"] else Cell("silent", "bold yellow"),
            age(stamp.from_text(worker["seen_at"]), now),
            age(stamp.from_text(worker["started_at"]), now),
            f"{worker['running']}/{worker['places']}",
            ", ".join(sorted({lane["queue"] for lane in worker["lanes"]})),
        ]
        for worker in found
    ]
    show_table(_COLUMNS, rows, empty="no worker was heard of: start one with `holdfast worker MODULE:APP`")
