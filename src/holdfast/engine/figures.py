"""The state of the house in numbers, for metrics, alerts and live views."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.figures import percentile
from holdfast.model.status import Status

if TYPE_CHECKING:
    from holdfast.store.port import Transaction

CAP = 100_000
HOUR_MS = 3_600_000


@dataclass(slots=True, kw_only=True)
class Line:
    """One type in one queue."""

    queue: str
    type: str
    waiting: int = 0
    limited: int = 0  # those of them that stand in line for a limit
    blocked: int = 0  # jobs that wait for others, beside those
    oldest_s: float = 0.0
    running: int = 0
    expired: int = 0
    dead: int = 0
    failed: int = 0
    awaiting_auth: int = 0
    completed_1h: int = 0
    ended_badly_1h: int = 0
    run_p50_ms: float | None = None
    run_p95_ms: float | None = None
    run_p99_ms: float | None = None
    total_p95_ms: float | None = None


def statistics(tx: Transaction, *, since_ms: int = HOUR_MS, cap: int = CAP) -> dict[str, Any]:
    """Depth, age, runs, endings and durations by queue and type. Counts stop at the cap."""
    lines: dict[tuple[str, str], Line] = {}

    def line(queue: str, kind: str) -> Line:
        return lines.setdefault((queue, kind), Line(queue=queue, type=kind))

    seen = tx.overview(cap)
    for queue, kind, _version, depth, oldest in seen["waiting"]:
        one = line(queue, kind)
        one.waiting += depth
        one.oldest_s = max(one.oldest_s, (tx.now - stamp.from_text(oldest)) / 1000)  # 0 when all are due later
    for queue, kind, _version, depth, _oldest in seen["limited"]:
        line(queue, kind).limited += depth
    for queue, kind, count in seen["blocked"]:
        line(queue, kind).blocked = count
    for queue, kind, count, expired in seen["running"]:
        one = line(queue, kind)
        one.running, one.expired = count, expired
    for queue, kind, status, count in seen["dead"]:
        setattr(line(queue, kind), {"dead_letter": "dead"}.get(status, status), count)
    _endings(tx, line, since_ms)
    return {
        "at": stamp.to_text(tx.now),
        "cap": cap,
        "paused": [name for name, _, _ in seen["paused"]],
        "lines": [asdict(lines[key]) for key in sorted(lines)],
    }


def _endings(tx: Transaction, line: Any, since_ms: int) -> None:
    histograms: dict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
    for queue, kind, status, measure, bucket, count in tx.figures(tx.now - since_ms):
        if measure == "run" and status == Status.COMPLETED:
            line(queue, kind).completed_1h += count
        elif measure == "run" and status != Status.CANCELLED:
            line(queue, kind).ended_badly_1h += count
        if status == Status.COMPLETED:
            histograms[queue, kind, measure][bucket] += count
    for (queue, kind, measure), histogram in histograms.items():
        one = line(queue, kind)
        if measure == "run":
            one.run_p50_ms, one.run_p95_ms, one.run_p99_ms = (percentile(histogram, p) for p in (0.5, 0.95, 0.99))
        else:
            one.total_p95_ms = percentile(histogram, 0.95)
