"""The transaction that is open where a call is made."""

from __future__ import annotations

import sys
from _contextvars import ContextVar
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from typing import Any

open_transaction: ContextVar[Here | None] = ContextVar("holdfast_transaction", default=None)


class Here:
    """A transaction that is open, and where: other tasks and threads may carry a copy of the context, not the right.

    `thread` is the one that works on a coroutine's transaction, so that its loop does not wait for the store.
    """

    __slots__ = ("desk", "place", "thread", "transaction")

    def __init__(self, desk: object, transaction: Any, thread: Executor | None = None) -> None:
        self.desk = desk
        self.transaction = transaction
        self.thread = thread
        self.place = _place()

    async def arun(self, call: Callable[[Any], Any]) -> Any:
        """Run a call on it, from a coroutine."""
        if self.thread is None:
            return call(self.transaction)
        from holdfast.engine.apart import finished  # noqa: PLC0415  # a cold hook never awaits

        return await finished(self.thread, call, self.transaction)


def here_on(desk: object) -> Here | None:
    """The transaction of this desk that is open here."""
    here = open_transaction.get()
    if here is None or here.desk is not desk or here.transaction is None or here.place != _place():
        return None
    return here


def _place() -> tuple[int, object]:
    """The thread, and the task if one runs."""
    asyncio = sys.modules.get("asyncio")
    loop = None if asyncio is None else asyncio._get_running_loop()  # noqa: SLF001
    return get_ident(), None if asyncio is None or loop is None else asyncio.current_task(loop)
