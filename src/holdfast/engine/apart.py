"""`async with` for a transaction: it is opened, used and ended in a thread of its own, so that no loop waits for it.

While it is open its desk is its own, as with a plain one. Other coroutines of the loop wait for the desk in their
`await`; a plain call of theirs would stop the loop, and with it the block that it waits for, so the desk refuses it.
Who is cancelled waits for the statement that is under way: the block is rolled back before the cancel goes on. A block
that waits for what waits for the desk would wait for ever, so each has a time to live.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import Token, copy_context
from threading import get_ident
from typing import TYPE_CHECKING, Any

from holdfast.engine.block import Block
from holdfast.engine.here import Here, here_on, open_transaction
from holdfast.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Executor

    from holdfast.engine.desk import Desk


class Apart:
    """Runs the steps of a plain block, which are given the desk's transaction, in a thread."""

    here: Here
    _mark: Token[Here | None]

    def __init__(self, desk: Desk, steps: Callable[[Generator[Any, None, None]], Generator[Any, None, None]]) -> None:
        self._desk = desk
        self._block = Block(steps(desk.transaction(of=get_ident())))
        self._context = copy_context()
        self._thread = ThreadPoolExecutor(1, "holdfast-transaction")

    async def enter(self, longest: float) -> Any:
        """Open it, for so many seconds at most; answers what the steps yield."""
        if here_on(self._desk) is not None:
            raise BadInput("BAD_OPTION", "transactions do not nest: leave the open one first")
        try:
            entered = await self._step(self._block.__enter__)
        except BaseException as error:
            await self._leave(error)  # a cancel comes when it is open already
            raise
        self._clock = asyncio.timeout(longest)
        await self._clock.__aenter__()
        opened = self._context[open_transaction]
        assert opened is not None, "the steps have opened it"
        self.here = Here(self._desk, opened.transaction, self._thread)
        self._mark = open_transaction.set(self.here)
        return entered

    async def execute(self, sql: str, parameters: Any) -> list[Any]:
        """Run a statement of the block's own; answers its rows."""
        if self.here.transaction is None:
            raise BadInput("BAD_OPTION", "this transaction is over: await its statements inside the block")
        return await self.here.arun(lambda tx: tx.execute(sql, parameters))  # type: ignore[no-any-return]

    async def leave(self, error: BaseException | None) -> None:
        """Commit, or roll back after an error. Raises TimeoutError if it was open for too long."""
        self.here.transaction = None
        open_transaction.reset(self._mark)
        if not self._clock.expired():
            self._clock.reschedule(None)  # what has come to its end may take its time to commit
        elif error is None:
            error = asyncio.CancelledError()  # the clock's, which no `await` has met
        met = error
        try:
            await self._leave(error)
        except BaseException as raised:  # noqa: BLE001  # raised below
            met = raised
        await self._clock.__aexit__(None if met is None else type(met), met, None)
        if met is not error:
            raise met  # type: ignore[misc]

    async def _leave(self, error: BaseException | None) -> None:
        try:
            await self._step(self._block.__exit__, type(error), error, None)
        finally:
            self._thread.shutdown(wait=False)

    async def _step(self, call: Callable[..., Any], *args: Any) -> Any:
        return await finished(self._thread, self._context.run, call, *args)


async def finished(thread: Executor, call: Callable[..., Any], *args: Any) -> Any:
    """What a call in a thread answers. A cancel waits for its end: nothing goes on behind the caller's back."""
    step = asyncio.get_running_loop().run_in_executor(thread, call, *args)
    cancelled = None
    while not step.done():
        try:
            await asyncio.wait([step])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return step.result()
    step.exception()  # it was met, and the cancel is told
    raise cancelled
