"""Tasks whose work is one transaction: those that are due together share it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction


class Turn(ABC):
    """A task in two steps: what it asks of the store, and what it makes of the answer."""

    name: str
    leader_only: bool
    interval: float
    shares = True  # its transaction with other tasks
    _desk: Desk

    @property
    def slack(self) -> float:
        """Seconds that it may wait, once due, for a transaction that is made anyway."""
        return 0.0

    @abstractmethod
    def turn(self, tx: Transaction) -> Any:
        """The first step; it may be run again, if the transaction has to be."""

    @abstractmethod
    def conclude(self, answer: Any) -> dict[str, int]:
        """The second step, when the first is durable; answers what was done as counts."""

    def run_once(self) -> dict[str, int]:
        """Both, in a transaction of its own."""
        return self.conclude(self._desk.write(self.turn))
