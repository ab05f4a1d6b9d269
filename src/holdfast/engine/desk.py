"""Where every call to the store goes through, one at a time.

A verb is a function of an open transaction. A caller puts it on the desk; whoever has the turn runs everything that
lies there in one transaction and answers each. So a lone caller runs its own verb on its own thread at no extra cost,
callers that had to wait share one commit, and the same verb serves threads (`write`) and coroutines (`awrite`, through
one database thread). An answer is given only once it is durable.

Failure cases: a verb that raises takes nothing else with it (the store repeats the others alone). If the database
thread meets an error it cannot name, all who wait are told. Before a fork the turn is taken and every
connection closed; parent and child reopen when they next need one.
"""

from __future__ import annotations

import os
from _collections import deque  # type: ignore[import-not-found,unused-ignore]  # without the package's own classes
from _queue import SimpleQueue
from _thread import allocate_lock, get_ident
from _weakref import ref

from holdfast.engine.here import Here, here_on, open_transaction
from holdfast.model.errors import BadInput, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator, Sequence
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from holdfast.model.news import News
    from holdfast.model.request import NewJob
    from holdfast.store.port import Store, Transaction

    P = ParamSpec("P")
    R = TypeVar("R")
    Verb = Callable[Concatenate[Transaction, P], R]


class _Call:
    """A verb on the desk, and its answer."""

    __slots__ = ("answer", "done", "future", "hasty", "run")

    def __init__(self, run: Callable[[Any], Any], future: asyncio.Future[Any] | None = None) -> None:
        self.run = run
        self.future = future
        self.hasty = False
        self.done = False
        self.answer: Any = None


class Desk:
    """The one way to a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.listeners: list[Callable[[News], None]] = []  # called after each commit that changed something
        self._waiting: deque[_Call] = deque()
        self._turn = allocate_lock()
        self._turn_of = 0
        self._reading = allocate_lock()
        self._errands: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Any = None
        self._closed = self._orphaned = False
        _desks.append(ref(self))

    def write(self, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a verb and wait until it is durable."""
        here = self._transaction_here()
        if here is not None:
            return verb(here, *args, **kwargs)
        if not self._waiting and self._turn.acquire(blocking=False):
            return self._write_at_once(lambda transaction: verb(transaction, *args, **kwargs))  # type: ignore[no-any-return]
        (answer,) = self.write_all([lambda transaction: verb(transaction, *args, **kwargs)])
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]

    def write_all(self, verbs: Sequence[Callable[[Transaction], Any]]) -> list[Any]:
        """Run verbs in one transaction, outside of any other; for each its answer, or what it raised."""
        self._refuse_own_turn()  # before it lies on the desk, where it would be run all the same
        calls = [_Call(verb) for verb in verbs]
        for call in calls:
            self._put(call)
        self._take_turn()
        try:
            if not all(call.done for call in calls):
                self._clear_desk()
        finally:
            self._give_turn()
        return [call.answer for call in calls]

    def insert(self, job: NewJob) -> tuple[str, bool]:
        """Store one job: by the store's shortest way if nobody is before us, else together with the others."""
        if self._waiting or self._transaction_here() is not None or not self._turn.acquire(blocking=False):
            return self.write(_insert, job)
        self._turn_of = get_ident()
        try:
            self._check_open()
            answer, news = self.store.insert_alone(job)
            self._tell(news)
        finally:
            self._give_turn()
        return answer

    async def awrite(self, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a verb without blocking the event loop, and wait until it is durable."""
        here = here_on(self)
        if here is not None:
            return await here.arun(lambda transaction: verb(transaction, *args, **kwargs))  # type: ignore[no-any-return]
        return await self._laid(lambda transaction: verb(transaction, *args, **kwargs))  # type: ignore[no-any-return]

    async def ataken(self, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a verb that takes and promises nothing, as a claim does: a power cut may undo it."""
        return await self._laid(lambda tx: verb(tx, *args, **kwargs), hasty=True)  # type: ignore[no-any-return]

    def taken(self, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The same on this thread, of which nobody wants anything meanwhile; STORE_UNAVAILABLE if another writes."""
        self._take_turn()
        return self._write_at_once(lambda tx: verb(tx, *args, **kwargs), taken=True)  # type: ignore[no-any-return]

    def read(self, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a verb that changes nothing."""
        here = self._transaction_here()
        if here is not None:
            return verb(here, *args, **kwargs)
        with self._reading:
            self._check_open()
            return self.store.read(lambda transaction: verb(transaction, *args, **kwargs))  # type: ignore[no-any-return]

    async def aread(self, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a verb that changes nothing, without blocking the event loop."""
        here = here_on(self)
        if here is not None:
            return await here.arun(lambda transaction: verb(transaction, *args, **kwargs))  # type: ignore[no-any-return]
        call = _Call(lambda _: self.read(verb, *args, **kwargs), self._future())

        def errand() -> None:
            try:
                answer = call.run(None)
            except BaseException as error:  # noqa: BLE001  # the awaiting caller gets it
                answer = error
            _answer(call, answer)

        self._send(errand)
        return await call.future  # type: ignore[no-any-return,misc]

    def transaction(self, *, of: int = 0) -> Generator[Any, None, None]:
        """Hold one transaction open: what the block writes, and every enqueue in it, commit or vanish together.

        A generator for `engine.block`: contextlib is too slow for a cold path. `of`: the thread that waits for the
        block while this one works for it.
        """
        if self._transaction_here() is not None:
            raise BadInput("BAD_OPTION", "transactions do not nest: leave the open one first")
        self._take_turn(of)
        try:
            self._check_open()
            here = self.store.begin()
            mark = open_transaction.set(held := Here(self, here))
            try:
                yield here
            except BaseException:
                self.store.roll_back()
                raise
            else:
                self._check_open()  # a child forked inside the block ends here
                self._tell(self.store.commit())
            finally:
                held.transaction = None
                open_transaction.reset(mark)
        finally:
            self._give_turn()

    def join(self, connection: Any, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a verb in the transaction of the caller's own connection, which alone commits or rolls back."""
        self._check_open()
        return verb(self.store.join(connection), *args, **kwargs)

    async def ajoin(self, connection: Any, verb: Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The same from a coroutine, whose connection may be one that is awaited."""
        self._check_open()
        return await self.store.ajoin(connection, lambda transaction: verb(transaction, *args, **kwargs))  # type: ignore[no-any-return]

    def notify(self, news: News) -> None:
        """Tell the listeners of a change that was made on a caller's own connection."""
        self._tell(news)

    def close(self) -> None:
        """Finish what lies on the desk, stop the database thread and let go of the file."""
        self._take_turn()
        try:
            self._clear_desk()
            self._closed = True
            with self._reading:
                self.store.close()
        finally:
            self._give_turn()
        if self._thread is not None:
            self._errands.put(None)
            self._thread.join()
            self._thread = None

    def _write_at_once(self, run: Callable[[Any], Any], *, taken: bool = False) -> Any:
        """Nobody was before us, and we have the turn: no need to lay it on the desk."""
        self._turn_of = get_ident()
        try:
            self._check_open()
            (answer,), news = self.store.write([run], hastily=taken, briefly=taken)
            self._tell(news)
        finally:
            self._give_turn()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _laid(self, run: Callable[[Any], Any], *, hasty: bool = False) -> asyncio.Future[Any]:
        """A verb on the desk, for the database thread to run."""
        call = _Call(run, future := self._future())
        call.hasty = hasty
        self._put(call)
        self._send(self._clear_desk_in_turn)
        return future

    def _put(self, call: _Call) -> None:
        self._check_open()
        self._waiting.append(call)

    def _clear_desk(self) -> None:
        """Run all that waits in one transaction. Only ever called by whoever has the turn."""
        calls: list[_Call] = []
        while self._waiting:
            calls.append(self._waiting.popleft())
        if not calls:
            return
        try:
            answers, news = self.store.write([call.run for call in calls], hastily=all(call.hasty for call in calls))
        except BaseException as error:
            for call in calls:
                _answer(call, error)
            raise
        for call, answer in zip(calls, answers, strict=True):
            _answer(call, answer)
        self._tell(news)

    def _clear_desk_in_turn(self) -> None:
        self._take_turn()
        try:
            self._clear_desk()
        finally:
            self._give_turn()

    def _tell(self, news: News) -> None:
        if news:
            for listener in self.listeners:
                listener(news)

    def _take_turn(self, of: int = 0) -> None:
        self._refuse_own_turn()
        while not self._turn.acquire(timeout=1.0):
            self._refuse_own_turn()  # a coroutine of this thread may have come first
        self._turn_of = of or get_ident()

    def _refuse_own_turn(self) -> None:
        if self._turn_of == get_ident():
            self._check_open()  # in a child of a fork it is its parent's
            raise BadInput(
                "BAD_OPTION", "this thread holds a transaction open, and another task of it wants to write: do not "
                "await inside `with app.transaction()`; beside an `async with`, use the async forms, such as aenqueue"
            )  # fmt: skip

    def _give_turn(self) -> None:
        self._turn_of = 0
        self._turn.release()

    def _transaction_here(self) -> Any:
        here = here_on(self)
        return None if here is None else here.transaction

    def _check_open(self) -> None:
        if self._orphaned:
            # SQLite believes that this process holds the parent's locks: here the file can be used no more.
            raise StoreError(
                "FORKED_IN_TRANSACTION",
                "this process was forked inside `with app.transaction()`, which is its parent's: fork outside of it",
            )
        if self._closed:
            raise StoreError("STORE_CLOSED", "the application was closed: make a new App")

    def _future(self) -> asyncio.Future[Any]:
        import asyncio  # noqa: PLC0415  # a cold hook never awaits

        self._check_open()
        return asyncio.get_running_loop().create_future()

    def _send(self, errand: Callable[[], None]) -> None:
        if self._thread is None:
            import threading  # noqa: PLC0415

            self._thread = threading.Thread(target=self._run_errands, name="holdfast-database", daemon=True)
            self._thread.start()
        self._errands.put(errand)

    def _run_errands(self) -> None:
        errands = self._errands
        while (errand := errands.get()) is not None:
            try:
                errand()
            except BaseException:  # noqa: BLE001, S112  # its callers were told; this thread must live for the others
                continue

    def _before_fork(self) -> bool:
        """Come to rest; False when the forking thread itself holds a transaction open, which must stay as it is."""
        if self._turn_of == get_ident():
            return False
        self._turn.acquire()
        self._reading.acquire()
        self.store.close(keep_log=True)
        return True

    def _after_fork_in_parent(self) -> None:
        self._reading.release()
        self._turn.release()

    def _after_fork_in_child(self, *, rested: bool) -> None:
        """Calls of other threads, and a transaction of this one, stay with the parent."""
        self._waiting = deque()
        self._turn, self._turn_of = allocate_lock(), 0
        if not rested:
            self.store.abandon()
            open_transaction.set(None)
            self._orphaned = True
            self._turn.acquire()  # the block goes on here as well, and will give the turn when it is left
            self._turn_of = get_ident()
        self._reading = allocate_lock()
        self._errands, self._thread = SimpleQueue(), None


def _insert(transaction: Transaction, job: NewJob) -> tuple[str, bool]:
    return transaction.insert([job])[0]


def _answer(call: _Call, answer: Any) -> None:
    call.answer = answer
    call.done = True
    if call.future is not None:
        try:
            call.future.get_loop().call_soon_threadsafe(_resolve, call.future, answer)
        except RuntimeError:  # the loop was closed: nobody awaits this any more
            return


def _resolve(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():  # the awaiting task was cancelled
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


_desks: list[ref[Desk]] = []
_forking: list[tuple[Desk, bool]] = []
_fork_lock = allocate_lock()  # two threads may fork at once


def _before_fork() -> None:
    _fork_lock.acquire()
    living = [desk for desk in (one() for one in _desks) if desk is not None]
    _desks[:] = map(ref, living)
    _forking[:] = [(desk, desk._before_fork()) for desk in living]  # noqa: SLF001


def _after_fork_in_parent() -> None:
    for desk, rested in _forking:
        if rested:
            desk._after_fork_in_parent()  # noqa: SLF001
    _forking.clear()
    _fork_lock.release()


def _after_fork_in_child() -> None:
    for desk, rested in _forking:
        desk._after_fork_in_child(rested=rested)  # noqa: SLF001
    _forking.clear()
    _fork_lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
