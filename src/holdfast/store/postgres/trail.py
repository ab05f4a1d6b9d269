"""How far the claims of one connection have come, for the time in which the dead lie thick before the living.

A row that was claimed leaves a dead entry at the head of its lane. Usually the next claim clears it away in passing.
But while any transaction of the server stays open, nothing that died since may be cleared, and every claim from the
front would wade through all of it: the longer, the slower. So a claim counts the entries that it reads. If they are
many more than it takes, the next ones go on from where it came to, and the front is looked at again only after many
times as long as that look took.

What such claims cannot see is a job that appears behind them: handed back or resumed with its old time, or committed
long after its time. It waits for the next look at the front, 15 seconds at most. Those that leave the line of a limit
have their old time, too, and are found by their units. Where little is dead there is no such time.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.lease import Lane

FIRST, LAST = 1, 10  # priorities
MANY = 1_000  # entries read beside those that were taken: half a millisecond
REST = 50  # after a look at the front, so many times as long as it took
LONGEST_REST = 15.0  # seconds
MARGIN_MS = 500  # jobs whose commits overtook each other by less are not missed
_BEGINNING = "-infinity"
_QUEUE, _TYPE, _PAYLOAD_VERSION, _PRIORITY, _SCHEDULED_AT, _LIMITS = 3, 2, 5, 11, 17, 27  # of a claimed row


class Trail:
    """The claims of some lanes."""

    one_at = 0.0  # on the monotonic clock: from then on a claim may be for one job
    thick = False  # the dead, at the last look

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self.lanes = lanes
        self.front_at = 0.0  # on the monotonic clock: until then claims go on from the marks
        self._marks: dict[tuple[str, str, int, int], str] = {}
        self._read = 0

    @property
    def rest(self) -> float:
        """Seconds until a claim looks at the front again."""
        return max(0.0, self.front_at - monotonic())

    def looked(self, rows: list[tuple[Any, ...]], now: int, *, full: bool, read: int, took: float) -> None:
        """A claim from the front took these rows, best first; `full`: as many as it wanted.

        `read` counts the entries of the session, and begins anew whenever the server has noted it down. A claim that
        took nothing does not tell: then the dead lie as they did.
        """
        if rows:
            self.thick = self._read_since(read) >= MANY + 2 * len(rows)
        if not self.thick:
            self.front_at = 0.0
            return
        self.front_at = monotonic() + min(LONGEST_REST, REST * took)
        in_turn = _in_turn(rows)
        worst = (in_turn[-1][_PRIORITY] if in_turn else FIRST) if full else LAST + 1
        come_to = stamp.to_text(now - MARGIN_MS)
        # Of better priorities than the worst that was taken, nothing was left.
        self._marks = {(*lane, priority): come_to for lane in self.lanes for priority in range(FIRST, worst)}
        self._mark(rows)

    def went_on(self, rows: list[tuple[Any, ...]], read: int) -> None:
        """A claim from the marks took these rows, best first."""
        self._read_since(read)
        self._mark(rows)

    def starts(self, *, front: bool) -> list[tuple[str, str, int, int, str]]:
        """From where each lane is read, priority by priority: from the marks, or from the front."""
        places = [(*lane, priority) for priority in range(FIRST, LAST + 1) for lane in dict.fromkeys(self.lanes)]
        marks = {} if front else self._marks
        return [(*place, marks.get(place, _BEGINNING)) for place in places]

    def _read_since(self, read: int) -> int:
        """The entries since the last claim."""
        before, self._read = self._read, read
        return read - before if read >= before else read

    def _mark(self, rows: list[tuple[Any, ...]]) -> None:
        last = {
            (row[_QUEUE], row[_TYPE], row[_PAYLOAD_VERSION], row[_PRIORITY]): row[_SCHEDULED_AT]
            for row in _in_turn(rows)
        }
        for where, at in last.items():
            mark = stamp.to_text(stamp.from_text(at) - MARGIN_MS)
            self._marks[where] = max(mark, self._marks.get(where, mark))


def _in_turn(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Those that tell how far a claim has come: jobs with limits may be found by their units, past others that wait."""
    return [row for row in rows if row[_LIMITS] is None]
