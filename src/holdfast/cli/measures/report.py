"""What was measured: figures for people and for programs, and one sentence for each."""

from __future__ import annotations

import os
import platform
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.measures.workloads import BARE, OURS, processes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.cli.measures.places import Place
    from holdfast.cli.measures.rounds import Result


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def as_json(result: Result) -> dict[str, Any]:
    """All samples of a workload, and its targets."""
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


def number(value: float | None) -> str:
    """With three digits that matter."""
    if value is None:
        return "-"
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"  # noqa: PLR2004


def cells(result: Result, side: str) -> tuple[str, str, str]:
    """A side's median rate, its lowest and highest, and its other figures or what went wrong."""
    rates = result.rates(side)
    names = dict.fromkeys(name for sample in result.samples[side] for name in sample.figures)
    figures = ", ".join(f"{name} {number(result.figure(side, name))}" for name in names)
    told = "; ".join(filter(None, (figures, result.fault(side))))
    if not rates:
        return "-", "", told
    spread = f"{number(min(rates))} to {number(max(rates))}" if len(rates) > 1 else ""
    return number(statistics.median(rates)), spread, told


def sentences(results: Mapping[str, Result], processes: int, place: Place) -> Iterator[tuple[str, str]]:
    """What each measurement means."""
    ground, title, side = place.ground
    enqueue, bulk, drain = (results[name] for name in ("enqueue", "bulk", "drain"))
    took, commits = results[ground].figure(side, "p50 ms"), _rate(results[ground], side)
    yield ground, f"{title} takes {number(took)} ms: {number(commits)} times a second at most"
    allows = f"of what {place.what} allows for {BARE}s"
    yield "enqueue", f"{_rates(enqueue)} durable jobs a second, {_ratio(enqueue)} {allows}"
    yield "bulk", f"{_rates(bulk)} durable jobs a second, {_ratio(bulk)} of bare rows in one transaction"
    one = _rate(drain, processes_of(1))
    each = number(_over(one, commits))
    yield "drain", f"{number(one)} jobs a second by 1 process, {each} for each commit that {place.what} allows"
    if processes > 1:
        name = processes_of(processes)
        times = number(drain.ratio(name, processes_of(1)))
        yield f"drain x{processes}", f"{number(_rate(drain, name))} jobs a second by {name}, {times} x of one"
    yield from _of_an_idle_worker(results["idle worker"])


def _of_an_idle_worker(result: Result) -> Iterator[tuple[str, str]]:
    half, most = (number(result.figure(OURS, name)) for name in ("p50 ms", "p99 ms"))
    yield "pick-up", f"an idle worker begins half of the jobs within {half} ms, 99 of 100 within {most} ms"
    idle = result.figure(OURS, "idle CPU %")
    told = "this system does not tell what it uses" if idle is None else f"it uses {number(idle)} % of a core"
    yield "idle", f"while there is nothing to do, {told}"


def _rates(result: Result) -> str:
    return number(_rate(result, OURS))


def _rate(result: Result, side: str) -> float | None:
    rates = result.rates(side)
    return statistics.median(rates) if rates else None


def _ratio(result: Result) -> str:
    return number(result.ratio(OURS, BARE))


def _over(value: float | None, other: float | None) -> float | None:
    return value / other if value and other else None


def _processor() -> str:
    """Its name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
