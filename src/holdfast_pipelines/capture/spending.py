"""What asking a provider may cost: two caps, and a purse that many workers share without ever overspending.

Before a call the most that it can cost is set aside in one guarded statement; after it, what it did cost takes its
place. A worker that is killed in between leaves what it set aside: nobody knows whether the call was billed, so it
counts against the cap of its day until that day is over, and against that of its month.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import TYPE_CHECKING, Any

from holdfast_pipelines.capture.marks import new_id
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.record import ensure_tables
from holdfast_pipelines.providers.claude import Busy, Declined

if TYPE_CHECKING:
    from holdfast import App

NAME = "claude"
DOLLAR = 1_000_000
KEPT = timedelta(days=40)  # longer than a month and the longest call
Instant = Callable[[], int]  # in milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The most that may be spent, in millionths of a dollar."""

    day: int
    month: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What was spent, and beside it what is set aside, in millionths of a dollar."""

    day: int
    day_held: int
    month: int
    month_held: int


class Purse:
    """The money for one provider, in the capture database. Days and months are those of UTC."""

    def __init__(self, app: App, caps: Caps, instant: Instant | None = None) -> None:
        self._app = app
        self.caps = caps
        self._instant = instant or (lambda: time_ns() // 1_000_000)

    def reserve(self, most: int) -> str:
        """Set so much aside; Declined if a cap leaves no room for it, Busy while the provider wants a pause."""
        at = self._now()
        held, stamp = new_id(), _stamp(at)
        values = {"id": held, "micros": most, "at": stamp, "day_cap": self.caps.day, "month_cap": self.caps.month}
        with self._app.transaction() as tx:
            ensure_tables(tx)
            if tx.execute(query("spend_reserve"), values | _period(at)):
                return held
            totals, state = _totals(tx, at), _state(tx)
        if state and state[0] > stamp:
            raise Busy(state[1], max(1.0, (_instant_of(state[0]) - at).total_seconds()), known=True)
        if totals.month + totals.month_held + most > self.caps.month:
            raise Declined(f"is not asked: the cap of the month, {dollars(self.caps.month)}, is spent")
        raise Declined(f"is not asked: the cap of the day, {dollars(self.caps.day)}, is spent")

    def settle(self, held: str, spent: int) -> None:
        """Put in what was spent for what was set aside; a second time it changes nothing."""
        with self._app.transaction() as tx:
            ensure_tables(tx)
            for (day,) in tx.execute(query("spend_release"), {"id": held}):
                if spent:
                    tx.execute(query("spend_add"), {"day": day, "micros": spent})

    def totals(self) -> Totals:
        """What was spent today and in this month."""
        with self._app.transaction() as tx:
            ensure_tables(tx)
            return _totals(tx, self._now())

    def trouble(self, text: str, *, pause: float = 0.0) -> bool:
        """Write down what went wrong, and a pause for all workers; answers whether it is news."""
        at = self._now()
        until = _stamp(at + timedelta(seconds=pause)) if pause else ""
        with self._app.transaction() as tx:
            ensure_tables(tx)
            known = _state(tx)
            values = {"name": NAME, "not_before": until, "trouble": text, "at": _stamp(at)}
            tx.execute(query("provider_trouble"), values)
        return known is None or known[1] != text

    def well(self) -> None:
        """The provider answered."""
        with self._app.transaction() as tx:
            ensure_tables(tx)
            tx.execute(query("provider_well"), {"name": NAME, "at": _stamp(self._now())})

    def last_trouble(self) -> tuple[str, str] | None:
        """What is wrong, and since when; None if the last answer was good."""
        with self._app.transaction() as tx:
            ensure_tables(tx)
            state = _state(tx)
        return None if state is None or not state[1] else (state[1], state[2])

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._instant() / 1000, UTC)


def forget(tx: Any, at: datetime) -> None:
    """Let go of what killed workers set aside, when the month that it counted against is over."""
    tx.execute(query("spend_forget"), {"before": f"{at - KEPT:%Y-%m-%d}"})


def dollars(micros: int) -> str:
    """An amount for people."""
    text = f"{micros / DOLLAR:.4f}".rstrip("0")
    whole, _, rest = text.partition(".")
    return f"${whole}.{rest.ljust(2, '0')}"


def _period(at: datetime) -> dict[str, str]:
    return {"day": f"{at:%Y-%m-%d}", "month": f"{at:%Y-%m}"}


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _instant_of(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp)


def _totals(tx: Any, at: datetime) -> Totals:
    ((day, day_held, month, month_held),) = tx.execute(query("spend_totals"), _period(at))
    return Totals(day=day, day_held=day_held, month=month, month_held=month_held)


def _state(tx: Any) -> tuple[str, str, str] | None:
    rows = tx.execute(query("provider_state"), {"name": NAME})
    return rows[0] if rows else None
