"""`holdfast jobs`."""

from __future__ import annotations

import sys
from time import sleep
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import note
from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.render import JOB_COLUMNS, console, job_row, rich_table, show_list, show_table
from holdfast.cli.tree import Command
from holdfast.cli.verbs import dated
from holdfast.engine.jobs import MOST_LISTED, list_jobs
from holdfast.model.status import Status

if TYPE_CHECKING:
    from holdfast.app import App

REFRESH = 1.0


@click.command(
    cls=Command,
    examples=(
        ("holdfast jobs --status dead_letter --type thumbnail", "what went wrong with one type"),
        ("holdfast jobs --group order-17 --watch", "follow jobs that belong together"),
        ("holdfast jobs --limit 1000 --json | jq -r '.[].id'", "ids for a script"),
    ),
)
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Only jobs of this status.")
@click.option("--type", help="Only jobs of this type.")
@click.option("--queue", help="Only jobs of this queue.")
@click.option("--group", help="Only jobs of this group.")
@click.option("--tenant", help="Only jobs of this tenant.")
@click.option("--limit", type=click.IntRange(1, MOST_LISTED), default=20, show_default=True, help="At most so many.")
@click.option("--before", metavar="ID", help="Go on below this job: the older ones.")
@click.option("--watch", is_flag=True, help="Look again every second, until Ctrl-C.")
@url_option
@json_option
def command(url: str | None, limit: int, *, as_json: bool, watch: bool, **where: str | None) -> None:
    """List the newest jobs.

    Newest first. Filters are combined. Where there are more, the last line tells how to go on.
    """
    if watch and (as_json or not sys.stdout.isatty()):
        raise click.UsageError("--watch needs a terminal and no --json: for programs, call again or use --limit")
    with opened(url) as app:
        if watch:
            _watch(app, limit, where)
        now, (found, before) = app.desk.read(dated, list_jobs, limit=limit, **where)
        if as_json:
            show_list([job.as_json() for job in found])
            return
        show_table(JOB_COLUMNS, [job_row(job, now) for job in found], empty=_none(where))
        if before is not None:
            note(f"more: --before {before}")


def _none(where: dict[str, str | None]) -> str:
    given = [f"--{name}" for name, value in where.items() if value is not None]
    if given:
        return f"no job matches {' '.join(given)}"
    return "no jobs: `holdfast enqueue TYPE`, or your application, makes one"


def _watch(app: App, limit: int, where: dict[str, Any]) -> None:
    from rich.live import Live  # noqa: PLC0415

    with Live(console=console(), auto_refresh=False, screen=True) as live:
        while True:
            now, (found, _) = app.desk.read(dated, list_jobs, limit=limit, **where)
            live.update(rich_table(JOB_COLUMNS, [job_row(job, now) for job in found]), refresh=True)
            sleep(REFRESH)
