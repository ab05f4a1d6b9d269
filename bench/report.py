"""What was measured: a table for people, JSON for machines, and whether every target was met."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from holdfast.cli.measures.report import as_json, cells, machine, number
from holdfast.cli.measures.rounds import Below, Result, Verdict

OURS = "Holdfast"
WORDS = {True: "[green]met[/]", False: "[bold red]MISSED[/]", None: "[yellow]not judged[/]"}


def show(results: list[Result], console: Console, facts: dict[str, Any] | None = None) -> None:
    """Print what was measured, and what was asked for."""
    known = machine() | (facts or {})
    title = ", ".join(f"{name} {value}" for name, value in known.items() if isinstance(value, str | int) and value)
    table = Table("workload", "side", title=title)
    for name in ("per second", "lowest to highest", f"{OURS} is"):
        table.add_column(name, justify="right")
    table.add_column("other figures")
    for result in results:
        for count, side in enumerate(result.workload.sides):
            rate, spread, told = cells(result, side)
            words = "" if count else f"{result.workload.name}: {result.workload.title}"
            table.add_row(*map(escape, (words, side, rate, spread, _times(result, side), told)))
        table.add_section()
    console.print(table)
    console.print(_targets(results))


def missed(results: list[Result]) -> int:
    """How many targets were missed; those that could not be judged do not count."""
    return sum(verdict.met is False for result in results for verdict in result.verdicts())


def write(results: list[Result], path: Path, facts: dict[str, Any] | None = None) -> None:
    """Write everything that was measured."""
    said = {"machine": machine() | (facts or {}), "workloads": [as_json(result) for result in results]}
    path.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


def _targets(results: list[Result]) -> Table:
    table = Table("workload", "target", title="Targets")
    for name in ("measured", "lowest to highest"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for result in results:
        for verdict in result.verdicts():
            spread = _spread(result, verdict)
            row = (result.workload.name, str(verdict.target), number(verdict.value), spread)
            table.add_row(*map(escape, row), WORDS[verdict.met] + escape(_why(result, verdict)))
    return table


def _spread(result: Result, verdict: Verdict) -> str:
    found = result.found(verdict.target)
    return f"{number(min(found))} to {number(max(found))}" if len(found) > 1 else ""


def _why(result: Result, verdict: Verdict) -> str:
    """Why a target was not judged."""
    if verdict.met is not None:
        return ""
    target = verdict.target
    sides = (target.side,) if isinstance(target, Below) else (target.side, target.over)
    absent = [f"{side} was left out" for side in sides if side not in result.samples]
    reasons = absent or [f"{side}: {fault}" for side in sides if (fault := result.fault(side))]
    return f" ({'; '.join(reasons) or 'too few jobs'})"


def _times(result: Result, side: str) -> str:
    """How many times as fast as this side ours is, under the same conditions."""
    endings = [name.removeprefix(OURS) for name in result.workload.sides if name.startswith(OURS)]
    fitting = max((ending for ending in endings if side.endswith(ending)), key=len, default=None)
    if fitting is None or side.startswith(OURS):
        return ""
    ratio = result.ratio(OURS + fitting, side)
    return "" if ratio is None else f"{number(ratio)} x"
