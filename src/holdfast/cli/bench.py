"""`holdfast bench`: the speed test, as a command."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import FAILED, tell
from holdfast.cli.opening import chosen_url, report_option, url_option
from holdfast.cli.render import console, write_report
from holdfast.cli.tree import Command
from holdfast.model.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from holdfast.cli.measures.places import Place
    from holdfast.cli.measures.rounds import Result
    from holdfast.cli.measures.workloads import Plan

_FULL = {"jobs": 20_000, "seconds": 5.0, "rounds": 3}
_SAID_AGAIN = 0.5  # seconds
_QUICK = {"jobs": 5_000, "seconds": 1.0, "rounds": 1}


@click.command(
    cls=Command,
    examples=(
        ("holdfast bench", "about a minute, on the disk of the store that the other commands use"),
        ("holdfast bench --quick", "a rough idea in ten seconds"),
        ("holdfast bench --url 'sqlite:////var/lib/jobs.db?synchronous=normal'", "another disk, and other settings"),
        ("holdfast bench --url postgresql://user@host/jobs", "in a throw-away schema of that database"),
        ("holdfast bench --jobs 200000 --processes 4 --json report.json", "more of it, with a report for programs"),
    ),
)
@url_option
@click.option(
    "--jobs",
    type=click.IntRange(10, 10_000_000),
    help=f"Enqueue in bulk and drain so many at a time.  [default: {_FULL['jobs']}]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3_600),
    help=f"Measure the disk, single enqueues, pick-up and an idle worker for so long each.  "
    f"[default: {_FULL['seconds']}]",
)
@click.option(
    "--processes",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Drain with one process, and then with so many.",
)
@click.option("--quick", is_flag=True, help=f"One round instead of {_FULL['rounds']}, and less of everything.")
@report_option
def command(*, url: str | None, quick: bool, report_file: str | None, processes: int, **given: Any) -> None:
    """Measure how fast Holdfast is on this machine, beside what its disk allows.

    Real workers run a small typed job on throw-away databases, in a private folder beside the store's file, or in a
    throw-away schema of a PostgreSQL database: that disk or server is measured, your own jobs are not touched. A bare
    INSERT is measured in turn with each enqueue. Machines are noisy, so the ratio tells more than the rate. Stop other
    work first, or measure what is left of the machine.
    """
    from holdfast.cli.measures.workloads import Plan  # noqa: PLC0415

    address, beside, query = _where(url)
    sizes = (_QUICK if quick else _FULL) | {name: value for name, value in given.items() if value is not None}
    plan = Plan(processes=processes, query=query, **sizes)
    screen = console() if report_file != "-" else console(stderr=True)
    with _ended_by_signal(), _folder(beside) as folder:
        place = _place(address, folder, query)
        results = _measured(place, plan, screen)
        said = _said(results, plan, place)
    _show(screen, results, said)
    if report_file is not None:
        write_report(report_file, said)


def _where(url: str | None) -> tuple[str, Path, str]:
    """The store's address, the folder beside which it is measured, and a file's settings."""
    from holdfast.store.sqlite.location import Location  # noqa: PLC0415
    from holdfast.wiring import open_store, store_url  # noqa: PLC0415

    address = store_url(chosen_url(url))
    if not address.startswith("sqlite:"):
        open_store(address)  # says what is wrong with the address, or that the driver is missing
        return address, Path(tempfile.gettempdir()), ""
    folder = Path(Location(address).path).parent
    if not folder.is_dir():
        raise click.UsageError(f"the folder {folder} does not exist: make it, or give another path with --url")
    return address, folder, address.partition("?")[2]


def _place(address: str, folder: Path, query: str) -> Place:
    from holdfast.cli.measures.places import Files, Schema  # noqa: PLC0415

    return Files(folder, query) if address.startswith("sqlite:") else Schema(folder, address)


def _measured(place: Place, plan: Plan, screen: Console) -> dict[str, Result]:
    """Everything, on databases that are gone afterwards, whatever happens."""
    from holdfast.cli.measures.rounds import measure, measurements  # noqa: PLC0415
    from holdfast.cli.measures.trials import Failed  # noqa: PLC0415
    from holdfast.cli.measures.workloads import workloads  # noqa: PLC0415

    group = workloads(place, plan)
    try:
        with _bar(screen, measurements(group, plan.rounds)) as told:
            return {result.workload.name: result for result in measure(group, plan.rounds, told)}
    except Failed as error:
        tell("UNEXPECTED", f"{error}; run `holdfast doctor` on the same store")
        raise click.exceptions.Exit(FAILED) from None


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """A request to end cleans up like Ctrl-C does."""

    def end(*_: object) -> None:
        if isinstance(sys.exc_info()[1], SystemExit):
            return  # it is on its way out
        # Raised in a callback of the interpreter's own, as in mid-import, it would be lost: it is said again then.
        signal.setitimer(signal.ITIMER_REAL, _SAID_AGAIN)
        sys.exit(128 + signal.SIGTERM)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGALRM)}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _folder(beside: Path) -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix=".holdfast-bench-", dir=beside)).resolve()
    except OSError as error:
        raise StoreError("STORE_CANNOT_OPEN", f"{beside}: {error.strerror}; check that it is writable") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _bar(screen: Console, total: int) -> Iterator[Callable[[str], None]]:
    """Drawn between measurements only: a thread that draws would be measured, too."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, auto_refresh=False) as progress:
        bar = progress.add_task("", total=total, completed=-1)

        def told(words: str) -> None:
            progress.update(bar, description=words, advance=1, refresh=True)

        yield told


def _said(results: dict[str, Result], plan: Plan, place: Place) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415

    import holdfast  # noqa: PLC0415
    from holdfast.cli.measures import report  # noqa: PLC0415

    return {
        "version": holdfast.__version__,
        "machine": report.machine() | place.facts(),
        "settings": asdict(plan),
        "workloads": [report.as_json(result) for result in results.values()],
        "verdicts": dict(report.sentences(results, plan.processes, place)),
    }


def _show(screen: Console, results: dict[str, Result], said: dict[str, Any]) -> None:
    from rich.table import Table  # noqa: PLC0415

    from holdfast.cli.measures.report import cells  # noqa: PLC0415

    facts = said["machine"]
    store = f"PostgreSQL {facts['postgresql']}" if "postgresql" in facts else f"SQLite {facts['sqlite']}"
    title = f"{facts['python']}, {store}, {facts['cores']} cores, {facts.get('file system') or 'some disk'}"
    table = Table(title=f"holdfast {said['version']} on {title}")
    for name in ("measured", "side", "per second", "lowest to highest", "other figures"):
        table.add_column(name, justify="right" if name in ("per second", "lowest to highest") else "left")
    for result in results.values():
        for number, side in enumerate(result.workload.sides):
            table.add_row("" if number else result.workload.title, side, *cells(result, side))
        table.add_section()
    screen.print(table)
    for name, sentence in said["verdicts"].items():
        screen.print(f"{name}: {sentence}", soft_wrap=True)
