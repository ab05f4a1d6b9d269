"""One of the two stores of a move: its mark, its tables as plain rows, and the switch that opens and closes it.

A closed store's tables bear other names. So every statement of every process fails at once, old connections and reading
ones too, and an open store pays nothing for the check. Whoever moves sees them under their own names inside a
transaction that is then undone: they are open to that transaction alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError
from holdfast.model.moving import Mark, is_remnant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BY = "holdfast promote"  # who paused a queue so that its runs come to an end
TABLES = {
    # The tables that move, each in the order of its key. Workers and the leader are about processes, which stay.
    "job_queue": "queue",
    "job_history": "history",
    "job_figures": "figures",
    "job_pauses": "pauses",
    "job_audit": "audit",
    "job_sequences": "sequences",
    "job_subscriptions": "subscriptions",
    "job_schedules": "schedules",
    "job_parents": "parents",
    "job_batches": "batches",
    "job_items": "items",
    "job_limits": "limits",
    "job_lanes": "lanes",
    "job_units": "units",
    "job_looks": "looks",
}


class Busy(StoreError):
    """Other transactions were in the way: the same step may succeed a moment later."""


class Side(ABC):
    """A store seen as one end of a move. All but `begin` is called inside the transaction that it opened."""

    shown: str
    package: str  # of the store's own files
    turn: int  # whose transaction is opened first where both are: a fixed order, so that two moves cannot deadlock

    @abstractmethod
    def begin(self) -> None:
        """Open a transaction that no other move of this store and no other writer of its mark can overlap."""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable."""

    @abstractmethod
    def roll_back(self) -> None:
        """Undo it, if it is still open."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def fill(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Store rows in bulk."""

    @abstractmethod
    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table in the order of its key, as SQLite keeps them; never all in memory."""

    @abstractmethod
    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Run one of our queries."""

    @abstractmethod
    def run_script(self, text: str) -> None:
        """Run the statements of a file."""

    def script(self, name: str) -> None:
        """Run a file in the store's own `moves`, or in those that are the same on every store."""
        own = files(self.package) / "moves" / f"{name}.sql"
        shared = files("holdfast.store") / "moves" / f"{name}.sql"
        self.run_script((own if own.is_file() else shared).read_text(encoding="utf-8"))

    @abstractmethod
    def stamp(self) -> str:
        """The store's time."""

    @abstractmethod
    def keep_still(self) -> None:
        """Let nobody else write to the tables until the transaction ends."""

    @abstractmethod
    def keep_out(self) -> None:
        """Let nobody else do anything with the tables until the transaction ends."""

    @abstractmethod
    def lend(self) -> None:
        """Show the tables of a closed store to this transaction alone, which must be rolled back."""

    def mark(self) -> Mark:
        """What this store remembers of moves."""
        if "holdfast_move" not in {row[0] for row in self.run("tables")}:
            return Mark()
        (is_open, *names), *_ = self.run("move_look") or [(True, "", "", "")]
        return Mark(bool(is_open), *names)

    def remember(self, mark: Mark) -> None:
        """Set the mark."""
        self.run("move_table")
        self.run("move_mark", now=self.stamp(), **mark._asdict() | {"is_open": int(mark.is_open)})

    def leases(self) -> int:
        """How many runs are under way; one whose lease ran out counts no more, and moves as it is."""
        return int(self.run("move_leases", now=self.stamp())[0][0])

    def pause(self) -> None:
        """Stop claims, so that runs come to an end."""
        self.run("move_pause", by=BY, now=self.stamp())

    def resume(self) -> None:
        """Lift the pauses that were set for the move, and no others."""
        self.run("move_resume", by=BY)

    def shut(self, mark: Mark) -> None:
        """Close the store."""
        self.resume()
        self.script("close")
        self.remember(mark)

    def reopen(self) -> None:
        """Open a store whose jobs never left."""
        self.script("open")
        self.remember(self.mark()._replace(is_open=True, closed_by=""))

    def sizes(self) -> dict[str, int]:
        """How many rows each table that moves has."""
        return dict(zip(TABLES, self.run("move_sizes")[0], strict=True))

    def make_room(self, source: Mark) -> None:
        """Open the tables to this transaction, empty."""
        if is_remnant(self.mark(), source):
            self.script("open")
            self.script("clear")
            return
        self.keep_still()
        self.check_room(source)

    def check_room(self, source: Mark) -> None:
        """Jobs that are nowhere else are never thrown away, and two queues are never merged."""
        mark = self.mark()
        if is_remnant(mark, source):
            return
        if not mark.is_open:
            raise StoreError(
                "STORE_MOVED", f"{self.shown} is closed: its jobs were moved to {mark.peer}; give another target"
            )
        full = [f"{count:,} row{'s' * (count > 1)} in {name}" for name, count in self.sizes().items() if count]
        if full:
            raise StoreError(
                "TARGET_NOT_EMPTY",
                f"{self.shown} is in use: {', '.join(full)}. Two queues cannot be merged: give an empty database",
            )
