"""`python -m bench [engine | peers]`: both without a word. Ends with 1 when a target is missed,
except with --tiny, which is too small to judge by.

The engine is measured against the bare database, and beside a million rows; then the whole, by real worker processes,
against the peers. A peer that cannot be installed here is told with the reason.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import engine, report
from bench.peers import environments
from bench.peers import workloads as peers
from holdfast.cli.measures.rounds import Result, Workload, measure, measurements


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for."""
    asked = _parser().parse_args(arguments)
    console = Console(stderr=True)
    facts: dict[str, Any] = {}
    with work_folder() as folder:
        groups = _groups(asked, folder, facts, lambda words: console.print(words, style="dim"))
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
    place = os.environ.get("BENCH_DIR", ".")
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _groups(
    asked: argparse.Namespace, folder: Path, facts: dict[str, Any], told: Callable[[str], None]
) -> list[list[Workload]]:
    only = frozenset(filter(None, asked.only.split(",")))
    groups = []
    if asked.part != "peers":
        groups += engine.groups(folder, engine.TINY if asked.tiny else engine.Sizes(), only)
    if asked.part != "engine":
        groups += _peers(asked, folder, facts, told)
    return groups


def _peers(
    asked: argparse.Namespace, folder: Path, facts: dict[str, Any], told: Callable[[str], None]
) -> list[list[Workload]]:
    only, named = (frozenset(filter(None, text.split(","))) for text in (asked.only, asked.peers))
    names = [name for name in peers.PEERS if not named or name in named]
    sizes = peers.TINY if asked.tiny else peers.Sizes()
    if asked.jobs is not None:
        sizes = replace(sizes, memory=asked.jobs)
    made, base = environments.prepare([peers.PEERS[name] for name in names], told)
    facts["peers and ours beside them on Python"] = base.words
    facts["peers"] = [
        f"{name}: {line}"
        for name in names
        for line in environments.requirements(peers.PEERS[name])
        if name != peers.OURS
    ]
    return peers.groups(peers.Setting(folder=folder, sizes=sizes, environments=made), names, only)


def _teller(progress: Progress, bar: Any) -> Callable[[str], None]:
    return lambda words: progress.update(bar, description=words, advance=1, refresh=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("all", "engine", "peers"), default="all")
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is measured (5)")
    parser.add_argument("--only", default="", help="names of workloads, with commas between")
    parser.add_argument("--peers", default="", help=f"which of {', '.join(peers.PEERS)}; with commas between")
    parser.add_argument("--jobs", type=int, help="jobs of the long drain whose memory is watched (1,000,000)")
    parser.add_argument("--tiny", action="store_true", help="a few jobs of each: to see that it works")
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
