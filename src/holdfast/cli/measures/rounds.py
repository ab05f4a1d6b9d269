"""Measures sides of a workload turn by turn, so that a machine that drifts is unfair to nobody.

Only ratios within one round mean anything: the same code can be twice as slow an hour later. So a ratio is the median
of the rounds' own ratios, and the order of the sides turns round by round.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never


@dataclass(frozen=True, slots=True)
class Sample:
    """What one side did in one round: jobs a second, and other figures by name."""

    rate: float | None = None
    figures: dict[str, float] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A target: one side's rate is at least so many times another's."""

    side: str
    over: str
    times: float

    def __str__(self) -> str:
        return f"{self.side} >= {self.times:g} x {self.over}"


@dataclass(frozen=True, slots=True)
class Below:
    """A target: a figure of one side stays under a limit."""

    side: str
    figure: str
    limit: float

    def __str__(self) -> str:
        return f"{self.side}: {self.figure} < {self.limit:g}"


@dataclass(frozen=True, slots=True)
class AtMost:
    """A target: a figure of one side is at most so many times another side's."""

    side: str
    figure: str
    over: str
    times: float

    def __str__(self) -> str:
        return f"{self.side}: {self.figure} <= {self.times:g} x {self.over}"


Target = AtLeast | AtMost | Below


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Sides that do the same work, and what is asked of them."""

    name: str
    title: str
    sides: Mapping[str, Callable[[], Sample]]
    targets: tuple[Target, ...] = ()
    rounds: int | None = None  # at most so many, for what takes long; else as many as are asked for
    clean_up: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target and what was measured; `value` is None where one of its sides gave nothing."""

    target: Target
    value: float | None

    @property
    def met(self) -> bool | None:
        """Whether the target was met; None when it could not be judged."""
        if self.value is None:
            return None
        match self.target:
            case AtLeast(times=times):
                return self.value >= times
            case AtMost(times=times):
                return self.value <= times
            case Below(limit=limit):
                return self.value < limit
            case never:
                assert_never(never)


@dataclass(frozen=True, slots=True)
class Result:
    """All samples of a workload, side by side."""

    workload: Workload
    samples: dict[str, list[Sample]]

    def rates(self, side: str) -> list[float]:
        """The side's rates, round by round."""
        return [sample.rate for sample in self.samples.get(side, ()) if sample.rate is not None]

    def figure(self, side: str, name: str) -> float | None:
        """The median of one of the side's figures."""
        found = [sample.figures[name] for sample in self.samples.get(side, ()) if name in sample.figures]
        return statistics.median(found) if found else None

    def ratios(self, side: str, over: str) -> list[float]:
        """One side's rate over the other's, round by round."""
        pairs = zip(self.samples.get(side, ()), self.samples.get(over, ()), strict=False)
        return [mine.rate / other.rate for mine, other in pairs if mine.rate and other.rate]

    def ratio(self, side: str, over: str) -> float | None:
        """The median of the rounds' ratios."""
        found = self.ratios(side, over)
        return statistics.median(found) if found else None

    def fault(self, side: str) -> str:
        """What went wrong with the side, the first time that something did."""
        return next((sample.fault for sample in self.samples.get(side, ()) if sample.fault), "")

    def verdicts(self) -> list[Verdict]:
        """Every target of the workload, judged."""
        return [Verdict(target, self._value(target)) for target in self.workload.targets]

    def found(self, target: Target) -> list[float]:
        """What a target is judged by, round by round."""
        match target:
            case AtLeast(side=side, over=over):
                return self.ratios(side, over)
            case AtMost(side=side, figure=figure, over=over):
                pairs = zip(self.samples.get(side, ()), self.samples.get(over, ()), strict=False)
                known = ((mine.figures.get(figure), other.figures.get(figure)) for mine, other in pairs)
                return [mine / other for mine, other in known if mine is not None and other]
            case Below(side=side, figure=figure):
                return [one.figures[figure] for one in self.samples.get(side, ()) if figure in one.figures]
            case never:
                assert_never(never)

    def _value(self, target: Target) -> float | None:
        found = self.found(target)
        return statistics.median(found) if found else None


def measure(group: list[Workload], rounds: int, told: Callable[[str], None]) -> list[Result]:
    """Every side of every workload, once a round; `told` hears of each measurement before it begins."""
    results = [Result(workload, {side: [] for side in workload.sides}) for workload in group]
    try:
        for number in range(rounds):
            for result in results:
                if result.workload.rounds is None or number < result.workload.rounds:
                    _measure_once(result, number, told)
    finally:
        for workload in group:
            workload.clean_up()
    return results


def measurements(group: list[Workload], rounds: int) -> int:
    """How often `told` will be called."""
    return sum(min(rounds, workload.rounds or rounds) * len(workload.sides) for workload in group)


def _measure_once(result: Result, number: int, told: Callable[[str], None]) -> None:
    sides = list(result.workload.sides.items())
    for side, work in sides if number % 2 == 0 else reversed(sides):
        told(f"{result.workload.name}: {side}")
        result.samples[side].append(work())
