"""`holdfast chaos`: the reliability test, as a command."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from secrets import randbelow
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.numbers import Finite
from holdfast.cli.opening import report_option
from holdfast.cli.render import console, write_report
from holdfast.cli.tree import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from holdfast.cli.storms.storm import Report


@click.command(
    cls=Command,
    examples=(
        ("holdfast chaos", "200 kills among 2,000 jobs"),
        ("holdfast chaos --kills 2000 --jobs 20000 --json report.json", "the full size, with a report for programs"),
        ("holdfast chaos --seconds 30 --seed 7", "half a minute, in the order of an earlier storm"),
    ),
)
@click.option("--kills", default=200, show_default=True, type=click.IntRange(1, 10_000_000), help="Kill so often.")
@click.option("--jobs", default=2_000, show_default=True, type=click.IntRange(1, 10_000_000), help="Enqueue so many.")
@click.option(
    "--seconds",
    default=3_600.0,
    show_default=True,
    type=Finite(1, 10_000_000),
    help="End the storm after this time, however many kills are done.",
)
@click.option(
    "--stops",
    default=0.12,
    show_default=True,
    type=Finite(0, 0.95),
    metavar="SHARE",
    help="Of the strikes: stop processes past their lease, and let them go on, instead of killing.",
)
@click.option(
    "--slow",
    default=0.01,
    show_default=True,
    type=Finite(0, 1),
    metavar="SHARE",
    help="Of the waiting jobs: run for longer than their lease.",
)
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Workers at once.")
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes of each worker.")
@click.option("--seed", type=click.IntRange(0), help="Strike in the order of an earlier storm.")
@report_option
def command(report_file: str | None, seed: int | None, **given: Any) -> None:
    """Kill real workers on this machine, and count what was lost.

    Workers run jobs of every kind in a private folder while their processes are killed and stopped at random. A
    verdict follows, by witnesses outside the store. Your own jobs are not touched. Exit code 1 if anything was wrong.
    """
    from holdfast.cli.storms.processes import can_be_seen  # noqa: PLC0415
    from holdfast.cli.storms.storm import Storm, Weather  # noqa: PLC0415

    if not can_be_seen():
        raise click.UsageError("chaos needs a system that shows its processes under /proc, as Linux does")
    weather = Weather(seed=randbelow(2**32) if seed is None else seed, **given)
    folder = Path(tempfile.mkdtemp(prefix="holdfast-chaos-"))
    screen = console() if report_file != "-" else console(stderr=True)
    with _bars(screen) as tell:
        report = Storm(folder, weather, tell).run()
    _show(screen, report)
    if report_file is not None:
        write_report(report_file, report.as_json())
    if report.passed:
        shutil.rmtree(folder)
        return
    screen.print(f"The database and the logs are kept in {folder}")
    click.get_current_context().exit(1)


@contextmanager
def _bars(screen: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each thing that is counted."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        bars: dict[str, Any] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what, total=total)
            progress.update(bars[what], completed=done)

        yield tell


def _show(screen: Console, report: Report) -> None:
    strikes = ", ".join(f"{count} x {kind}" for kind, count in report.strikes.items() if count)
    screen.print(f"seed {report.weather['seed']}, {report.seconds:g} s; strikes: {strikes}")
    screen.print(", ".join(f"{count:,} {what}" for what, count in report.happened.items()))
    for what, count in report.wrong.items():
        style = "bold red" if count else "green"
        screen.print(f"  {'WRONG' if count else 'ok':>5}  {count} {what}", style=style)
    if report.passed:
        screen.print("Nothing was lost, nothing late was accepted, nothing is left running.", style="bold green")
    else:
        screen.print("This storm was not survived.", style="bold red")
