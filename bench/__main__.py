"""`python -m bench [engine | peers]`: both without a word. Ends with 1 when a target is missed,
except with --tiny, which is too small to judge by.

The engine is measured against the bare database, and beside a million rows; then the whole, by real worker processes,
against the peers. A peer that cannot be installed here is told with the reason. With --store postgres the same is done
on a durable PostgreSQL server, which is started for it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import engine, report
from bench.peers import environments, on_postgres
from bench.peers import workloads as peers
from bench.postgres import decay, server
from bench.postgres import engine as postgres_engine
from holdfast.cli.measures.rounds import Result, Workload, measure, measurements


class Place(NamedTuple):
    """Where it is measured: in files of a folder, and in databases of a server, if there is one."""

    folder: Path
    databases: server.Databases | None


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for."""
    asked = _parser().parse_args(arguments)
    console = Console(stderr=True)
    facts: dict[str, Any] = {}
    with work_folder() as folder, _server(asked.store) as databases:
        if databases is not None:
            facts |= databases.facts()
        groups = _groups(asked, Place(folder, databases), facts, lambda words: console.print(words, style="dim"))
        results = run(groups, asked.rounds, console)
    report.show(results, Console(), facts)
    if asked.json is not None:
        report.write(results, asked.json, facts)
    if asked.tiny:
        console.print("These sizes are too small to judge by.", style="dim")
        return 0
    return 1 if report.missed(results) else 0


def run(groups: list[list[Workload]], rounds: int, console: Console) -> list[Result]:
    """Measure the groups one after the other, behind a progress bar that is drawn between measurements only."""
    columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        bar = progress.add_task("", total=sum(measurements(group, rounds) for group in groups), completed=-1)
        told = _teller(progress, bar)
        return [result for group in groups for result in measure(group, rounds, told)]


@contextmanager
def work_folder() -> Iterator[Path]:
    """A private folder on a real disk, gone afterwards: in BENCH_DIR, else in the working folder."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=_disk(), ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _disk() -> Path:
    return Path(os.environ.get("BENCH_DIR", "."))


def _server(store: str) -> AbstractContextManager[server.Databases | None]:
    return server.running(_disk()) if store == "postgres" else nullcontext()


def _groups(
    asked: argparse.Namespace, place: Place, facts: dict[str, Any], told: Callable[[str], None]
) -> list[list[Workload]]:
    groups = []
    if asked.part != "peers":
        groups += _engine(asked, place)
    if asked.part != "engine":
        groups += _peers(asked, place, facts, told)
    return _wanted(asked.only, groups)


def _wanted(only: str, groups: list[list[Workload]]) -> list[list[Workload]]:
    """Those that were asked for. A name that nothing bears would else be measured as nothing, without a word."""
    wanted = set(filter(None, only.split(",")))
    known = dict.fromkeys(workload.name for group in groups for workload in group)
    if unknown := wanted - set(known):
        sys.exit(f"--only: no workload {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    kept = [[workload for workload in group if not wanted or workload.name in wanted] for group in groups]
    return [group for group in kept if group]


def _engine(asked: argparse.Namespace, place: Place) -> list[list[Workload]]:
    sizes = engine.TINY if asked.tiny else engine.Sizes()
    if place.databases is None:
        return engine.groups(place.folder, sizes)
    held = decay.TINY if asked.tiny else decay.Sizes()
    if asked.hold is not None:
        held = replace(held, hold=asked.hold)
    return postgres_engine.groups(place.databases, place.folder, sizes, held)


def _peers(
    asked: argparse.Namespace, place: Place, facts: dict[str, Any], told: Callable[[str], None]
) -> list[list[Workload]]:
    named = frozenset(filter(None, asked.peers.split(",")))
    known = peers.PEERS if place.databases is None else on_postgres.PEERS
    names = [name for name in known if not named or name in named]
    sizes = peers.TINY if asked.tiny else peers.Sizes() if place.databases is None else on_postgres.SIZES
    if asked.jobs is not None:
        sizes = replace(sizes, memory=asked.jobs)
    made, base = environments.prepare([known[name] for name in names], told)
    facts["peers and ours beside them on Python"] = base.words
    facts["peers"] = [
        f"{name}: {line}" for name in names for line in environments.requirements(known[name]) if name != peers.OURS
    ]
    setting = peers.Setting(folder=place.folder, sizes=sizes, environments=made, peers=known)
    if place.databases is None:
        return peers.groups(setting, names, frozenset())
    return on_postgres.groups(replace(setting, database=place.databases.one, fast=on_postgres.FAST), names, frozenset())


def _teller(progress: Progress, bar: Any) -> Callable[[str], None]:
    return lambda words: progress.update(bar, description=words, advance=1, refresh=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("all", "engine", "peers"), default="all")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite", help="where the jobs lie (sqlite)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is measured (5)")
    parser.add_argument("--only", default="", help="names of workloads, with commas between")
    parser.add_argument("--peers", default="", help=f"which of {_names()}; with commas between")
    parser.add_argument("--jobs", type=int, help="jobs of the long drain whose memory is watched (1,000,000)")
    parser.add_argument("--hold", type=float, help="seconds that the decay's transaction stays open (120)")
    parser.add_argument("--tiny", action="store_true", help="a few jobs of each: to see that it works")
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    return parser


def _names() -> str:
    return ", ".join(dict.fromkeys([*peers.PEERS, *on_postgres.PEERS]))


if __name__ == "__main__":
    # A request to end cleans up like Ctrl-C does: a server and workers would stay behind.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
