"""Tables and objects on standard output: pleasant on a terminal, plain in a pipe, JSON on request."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from holdfast.cli.ending import colour, note
from holdfast.cli.plain import age, clean, json_lines
from holdfast.model import stamp
from holdfast.model.status import Status
from holdfast.model.waiting import held_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import Console
    from rich.table import Table

    from holdfast.model.job import Job

STATUS_STYLE = {
    Status.QUEUED: "cyan",
    Status.IN_PROGRESS: "bold blue",
    Status.AWAITING_AUTH: "yellow",
    Status.COMPLETED: "green",
    Status.FAILED: "red",
    Status.DEAD_LETTER: "bold red",
    Status.CANCELLED: "dim",
}


class Column(NamedTuple):
    """A column: `fixed` ones are never cut, the others share what is left."""

    name: str
    right: bool = False
    fixed: bool = True


class Cell(NamedTuple):
    """A value with a style for terminals."""

    value: object
    style: str = ""


class Block(NamedTuple):
    """Text of several lines that we made ourselves, such as indented JSON."""

    text: str


JOB_COLUMNS = (
    Column("ID"),
    Column("TYPE", fixed=False),
    Column("STATUS"),
    Column("QUEUE", fixed=False),
    Column("RUNS", right=True),
    Column("CREATED", right=True),
    Column("NOTE", fixed=False),
)


def show_list(values: list[Any]) -> None:
    """Print a listing as JSON."""
    click.echo(json_lines(values))


def show_table(columns: Sequence[Column], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    """Print a table; what to say where it has no rows goes beside the output."""
    if not rows:
        note(empty)
    elif sys.stdout.isatty():
        console().print(rich_table(columns, rows))
    else:
        for line in _plain_lines(columns, rows):
            click.echo(line)


def rich_table(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> Table:
    """The table for a terminal: every cell is text as it is, never markup."""
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold underline")
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            no_wrap=column.fixed,  # rich narrows the others first; their text is cut, not wrapped
            overflow="ellipsis",
        )
    for row in rows:
        table.add_row(*map(rich_text, row))
    return table


def rich_text(value: object) -> Any:
    """A value as styled text without any markup of its own."""
    from rich.text import Text  # noqa: PLC0415

    cell = value if isinstance(value, Cell) else Cell(value)
    return Text(clean(cell.value), style=cell.style, no_wrap=True, overflow="ellipsis")


def console(**settings: Any) -> Console:
    """Standard output for rich; nothing in the data is read as markup, emoji or something to highlight."""
    from rich.console import Console  # noqa: PLC0415

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False, **settings)


def show_fields(fields: Sequence[tuple[str, object]]) -> None:
    """Print one thing, a field a line. Only a Block has lines of its own: data cannot pass for a field."""
    width = max(len(name) for name, _ in fields) + 2
    for name, value in fields:
        label = click.style(name, dim=True)
        if isinstance(value, Block):
            click.echo("\n".join([label, *map(clean, value.text.split("\n"))]), color=colour())
        else:
            click.echo(f"{label}{'':<{width - len(name)}}{clean(value)}", color=colour())


def write_report(file: str, report: dict[str, Any]) -> None:
    """Write a report for programs; to standard output where the file is `-`."""
    text = json.dumps(report, indent=2)
    if file == "-":
        click.echo(text)
    else:
        Path(file).write_text(text + "\n", encoding="utf-8")


def job_row(job: Job, now: int) -> list[object]:
    """A job as a row of JOB_COLUMNS."""
    return [
        job.id,
        job.type,
        Cell(job.status.value, STATUS_STYLE[job.status]),
        job.queue,
        f"{job.attempts}/{job.max_attempts}",
        age(instant(job.created_at), now),
        Cell(job_note(job, now), "dim"),
    ]


def job_note(job: Job, now: int) -> str:
    """What is most worth knowing beside the status."""
    due = stamp.from_datetime(job.scheduled_at)
    notes = []
    if job.status == Status.QUEUED and due > now:
        notes.append(f"due {age(due, now)}")
    elif held := held_back(job):
        notes.append(held)
    if job.status == Status.IN_PROGRESS and job.progress:
        notes.append(progress_text(job.progress))
    if job.status == Status.AWAITING_AUTH:
        notes.append(" ".join(filter(None, ((job.auth or {}).get("reason"), (job.auth or {}).get("url")))))
    if job.error is not None:
        notes.append(f"{job.error.get('class', '')}: {job.error.get('message', '')}")
    return "; ".join(notes)


def progress_text(progress: dict[str, Any]) -> str:
    """How far a run is, in words."""
    done, total = progress.get("done"), progress.get("total")
    amount = "/".join(_amount(value) for value in (done, total) if value is not None)
    return " ".join(filter(None, (amount, str(progress.get("message") or ""))))


def instant(moment: datetime | None) -> int | None:
    """The instant of a moment, if there is one."""
    return None if moment is None else stamp.from_datetime(moment)


def _amount(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _plain_lines(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> list[str]:
    cells = [[column.name for column in columns]]
    cells += [[clean(value.value if isinstance(value, Cell) else value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if column.right else text.ljust(width)
            for text, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        for line in cells
    ]
