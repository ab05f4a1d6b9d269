"""`python -m bench engine | peers`; ends with 1 when a target is missed."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import engine, report
from bench.peers import workloads as peers
from bench.rounds import Result, Workload, measure


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for."""
    asked = _parser().parse_args(arguments)
    with work_folder() as folder:
        results = run(_groups(asked, folder), asked.rounds, Console(stderr=True))
    report.show(results, Console())
    if asked.json is not None:
        report.write(results, asked.json)
    return 1 if report.missed(results) else 0


def run(groups: list[list[Workload]], rounds: int, console: Console) -> list[Result]:
    """Measure the groups one after the other, behind a progress bar."""
    columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        total = rounds * sum(len(workload.sides) for group in groups for workload in group)
        bar = progress.add_task("", total=total, completed=-1)
        told = _teller(progress, bar)
        return [result for group in groups for result in measure(group, rounds, told)]


@contextmanager
def work_folder() -> Iterator[Path]:
    """A private folder on a real disk, gone afterwards: in BENCH_DIR, else in the working folder."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=os.environ.get("BENCH_DIR", ".")) as folder:
        yield Path(folder).resolve()


def _groups(asked: argparse.Namespace, folder: Path) -> list[list[Workload]]:
    only = frozenset(filter(None, asked.only.split(",")))
    if asked.part == "peers":
        named = frozenset(filter(None, asked.peers.split(",")))
        return peers.groups(folder, peers.TINY if asked.tiny else peers.Sizes(), only, named)
    return engine.groups(folder, engine.TINY if asked.tiny else engine.Sizes(), only)


def _teller(progress: Progress, bar: int) -> Callable[[str], None]:
    return lambda words: progress.update(bar, description=words, advance=1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("engine", "peers"), default="engine")
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is measured (5)")
    parser.add_argument("--only", default="", help="names of workloads, with commas between")
    parser.add_argument("--peers", default="", help=f"which of {', '.join(peers.PEERS)}; with commas between")
    parser.add_argument("--tiny", action="store_true", help="a few jobs of each: to see that it works")
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
