"""What was measured: a table for people, JSON for machines, and whether every target was met."""

from __future__ import annotations

import json
import os
import platform
import statistics
from pathlib import Path
from typing import Any

import apsw
from rich.console import Console
from rich.table import Table

from bench.rounds import AtLeast, Result, Verdict


def show(results: list[Result], console: Console) -> None:
    """Print the table."""
    table = Table(title=f"{_machine()['python']}, SQLite {apsw.sqlite_lib_version()}, {os.cpu_count()} cores")
    table.add_column("workload")
    table.add_column("side")
    table.add_column("per second", justify="right")
    table.add_column("lowest to highest", justify="right")
    table.add_column("other figures")
    for result in results:
        for number, side in enumerate(result.workload.sides):
            table.add_row(result.workload.title if number == 0 else "", side, *_cells(result, side))
        table.add_section()
    console.print(table)
    for result in results:
        for verdict in result.verdicts():
            console.print(_line(result, verdict), highlight=False)


def missed(results: list[Result]) -> int:
    """How many targets were missed; those that could not be judged do not count."""
    return sum(verdict.met is False for result in results for verdict in result.verdicts())


def write(results: list[Result], path: Path) -> None:
    """Write everything that was measured."""
    said = {"machine": _machine(), "workloads": [_as_json(result) for result in results]}
    path.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


def _cells(result: Result, side: str) -> tuple[str, str, str]:
    rates = result.rates(side)
    samples = result.samples[side]
    faults = [sample.fault for sample in samples if sample.fault]
    names = dict.fromkeys(name for sample in samples for name in sample.figures)
    figures = ", ".join(f"{name} {_number(result.figure(side, name))}" for name in names)
    if not rates:
        return "-", "", faults[0] if faults else figures
    return _number(statistics.median(rates)), f"{_number(min(rates))} to {_number(max(rates))}", figures


def _line(result: Result, verdict: Verdict) -> str:
    colour, word = {True: ("green", "met   "), False: ("red", "MISSED"), None: ("yellow", "open  ")}[verdict.met]
    value = "not measured" if verdict.value is None else f"{verdict.value:.2f}"
    spread = ""
    if isinstance(verdict.target, AtLeast) and verdict.value is not None:
        found = _ratios(result, verdict.target)
        spread = f" ({min(found):.2f} to {max(found):.2f})"
    return f"[{colour}]{word}[/] {result.workload.name}: {verdict.target}: {value}{spread}"


def _ratios(result: Result, target: AtLeast) -> list[float]:
    pairs = zip(result.samples[target.side], result.samples[target.over], strict=True)
    return [mine.rate / other.rate for mine, other in pairs if mine.rate and other.rate]


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "name": result.workload.name,
        "title": result.workload.title,
        "sides": {
            side: [{"rate": one.rate, "figures": one.figures, "fault": one.fault} for one in samples]
            for side, samples in result.samples.items()
        },
        "targets": [
            {"target": str(verdict.target), "value": verdict.value, "met": verdict.met} for verdict in result.verdicts()
        ],
    }


def _machine() -> dict[str, Any]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "sqlite": apsw.sqlite_lib_version(),
    }


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
