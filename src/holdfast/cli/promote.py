"""`holdfast promote`: a queue moves from SQLite to PostgreSQL, or back."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import FAILED, colour, note
from holdfast.cli.numbers import Finite
from holdfast.cli.opening import chosen_url, json_option
from holdfast.cli.plain import clean, count, json_text, many, span
from holdfast.cli.tree import Command
from holdfast.wiring import open_side, store_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.engine.moving import Moved
    from holdfast.store.moving import Side

_POSTGRES = ("postgresql:", "postgres:")


@click.command(
    cls=Command,
    examples=(
        ("holdfast promote --to postgresql://app@db/jobs", "move the queue of HOLDFAST_URL; asks first"),
        ("holdfast promote --from sqlite:///jobs.db --to postgresql://app@db/jobs --yes --json", "for programs"),
        ("holdfast promote --from sqlite:///jobs.db --to postgresql://app@db/jobs --undo", "bring it back"),
    ),
)
@click.option("--from", "source", metavar="URL", help="The SQLite file; else as --url of other commands.")
@click.option("--to", "target", metavar="URL", required=True, help="The PostgreSQL database, empty and migrated.")
@click.option("--undo", is_flag=True, help="Bring everything back to the file, as it is now.")
@click.option(
    "--wait",
    type=Finite(0, 604_800),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait so long for jobs that run; claims are stopped meanwhile.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(source: str | None, target: str, wait: float, *, undo: bool, yes: bool, as_json: bool) -> None:
    """Move a SQLite queue to PostgreSQL, or back, and prove that nothing was lost.

    Waiting, scheduled, parked and ended jobs, history, figures and pauses; keys and lease tokens as they are. Each
    table is counted and hashed on both sides before the target is opened.

    First claims stop, and running jobs are waited for. Then the file is closed: every process that still uses it is
    told the new address, so nothing is lost and nothing runs twice. If anything fails, the file is opened again.
    Killed half-way, the same command goes on. Exit code 0 when the target has everything, 1 when it has not.
    """
    from holdfast.engine import moving  # noqa: PLC0415

    here, there = _sides(store_url(chosen_url(source)), target)
    begun = monotonic()
    try:
        if not yes and not _confirmed(here, there, undo=undo):
            note("nothing was moved; --yes answers without being asked")
            raise click.exceptions.Exit(FAILED)
        with _bars() as tell:
            moved = (moving.undo if undo else moving.move)(here, there, wait=wait, tell=tell)
    finally:
        here.close()
        there.close()
    ends = (there, here) if undo else (here, there)
    _show(moved, *ends, seconds=monotonic() - begun, as_json=as_json)


def _sides(source: str, target: str) -> tuple[Side, Side]:
    if not source.startswith("sqlite:") or not target.startswith(_POSTGRES):
        raise click.UsageError("a move goes --from sqlite:///jobs.db --to postgresql://user@host/database")
    return open_side(source), open_side(target)


def _confirmed(here: Side, there: Side, *, undo: bool) -> bool:
    source, target = (there, here) if undo else (here, there)
    click.echo(
        f"Move every job of {clean(source.shown)} to {clean(target.shown)}? Claims stop at once; when "
        "nothing runs any more, it is closed, and enqueues fail (STORE_MOVED) until processes are started with the new "
        "address. [y/N] ",
        nl=False,
        err=True,
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each step on a terminal, beside the output; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, markup=False), transient=True) as progress:
        bars: dict[str, Any] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what, total=total)
            progress.update(bars[what], completed=done, total=max(done, total))

        yield tell


def _show(moved: Moved, source: Side, target: Side, *, seconds: float, as_json: bool) -> None:
    if as_json:
        tables = {name: {"rows": tally.rows, "sha256": tally.sha256} for name, tally in moved.tables.items()}
        statuses = moved.tables["job_queue"].statuses if moved.tables else {}
        told = {"outcome": moved.outcome, "move": moved.move, "from": source.shown, "to": target.shown}
        click.echo(json_text(told | {"seconds": round(seconds, 3), "tables": tables, "statuses": statuses}))
        return
    for name, tally in moved.tables.items():
        by_status = ", ".join(f"{count(number)} {status}" for status, number in tally.statuses.items())
        click.echo(f"   ok  {many(tally.rows, 'row')} of {name}{f': {by_status}' if by_status else ''}")
        click.echo(f"       sha256 {tally.sha256} on both sides")
    click.echo(click.style(_verdict(moved, source, target, seconds), fg="green", bold=True), color=colour())


def _verdict(moved: Moved, source: Side, target: Side, seconds: float) -> str:
    user = " (with your user and password)" if target.shown.startswith(_POSTGRES) else ""
    now = f"Set HOLDFAST_URL to {clean(target.shown)}{user} and start your processes anew."
    match moved.outcome:
        case "already":
            return f"{clean(target.shown)} has everything already. {now}"
        case "reopened":
            return f"{clean(target.shown)} is open again: its jobs had not left it."
        case _:
            return f"Moved from {clean(source.shown)} in {span(seconds)}; nothing was lost. {now}"
