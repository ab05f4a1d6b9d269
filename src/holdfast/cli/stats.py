"""`holdfast stats`."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import count, json_text, span
from holdfast.cli.render import Cell, Column, show_table
from holdfast.cli.tree import Command

_COLUMNS = (
    Column("QUEUE", fixed=False),
    Column("TYPE", fixed=False),
    Column("WAIT", right=True),
    Column("BLOCKED", right=True),
    Column("LIMITED", right=True),
    Column("OLDEST", right=True),
    Column("RUN", right=True),
    Column("DEAD", right=True),
    Column("DONE/H", right=True),
    Column("OK", right=True),
    Column("P50", right=True),
    Column("P95", right=True),
)

_HELD = ("blocked", "limited")


@click.command(
    cls=Command,
    examples=(
        ("holdfast stats", "one line for each queue and type"),
        ("holdfast stats --json | jq '.lines[] | select(.waiting > 1000)'", "for programs"),
    ),
)
@url_option
@json_option
def command(url: str | None, *, as_json: bool) -> None:
    """Show depth, age, endings and durations by queue and type.

    Jobs that wait for others (BLOCKED) are counted apart, those that wait for a limit (LIMITED) among the rest; both
    are shown where there are some. Endings and durations are of the last hour; P95 is what 95 of 100 runs did not
    exceed, right within a tenth. Counts stop at 100,000, shown with a plus.
    """
    with opened(url) as app:
        seen = app.statistics()
    if as_json:
        click.echo(json_text(seen, indent=2))
        return
    paused = set(seen["paused"])
    rows = [
        [
            f"{line['queue']} (paused)" if line["queue"] in paused else line["queue"],
            line["type"],
            count(line["waiting"], seen["cap"]),
            *(count(line[name], seen["cap"]) if line[name] else "" for name in _HELD),
            span(line["oldest_s"]) if line["oldest_s"] > 0 else "",
            count(line["running"]),
            Cell(count(line["dead"], seen["cap"]), "bold red" if line["dead"] else ""),
            count(line["completed_1h"]),
            success(line),
            duration(line["run_p50_ms"]),
            duration(line["run_p95_ms"]),
        ]
        for line in seen["lines"]
    ]
    idle = [] if any(line[name] for line in seen["lines"] for name in _HELD) else [3, 4]
    columns = [column for place, column in enumerate(_COLUMNS) if place not in idle]
    rows = [[cell for place, cell in enumerate(row) if place not in idle] for row in rows]
    show_table(columns, rows, empty="nothing waits, runs or ended in the last hour")


def success(line: dict[str, Any]) -> str:
    """The share of runs that completed, in the last hour."""
    ended = line["completed_1h"] + line["ended_badly_1h"]
    return f"{100 * line['completed_1h'] / ended:.0f} %" if ended else ""


def duration(ms: float | None) -> str:
    """A percentile, if there is one. It is right within a tenth, so two figures are all that can be said of it."""
    if ms is None:
        return ""
    seconds = float(f"{ms:.2g}") / 1000
    return f"{seconds:.1f} s" if 1 <= seconds < 10 else span(seconds)  # noqa: PLR2004
