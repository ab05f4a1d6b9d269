"""Batches: many items for one handler, stored at once, that end as one. `app.map(...)` makes them.

On the cold path of a hook, which makes none: so the imports stand where they are needed.
"""

from __future__ import annotations

import sys
from _collections_abc import Iterable, Mapping  # `collections` around it would cost a cold hook a millisecond
from time import monotonic

from holdfast.asked import news_of
from holdfast.model.errors import BadInput, HoldfastError, PayloadError, ResultTimeout
from holdfast.model.request import check_count, check_name, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Iterator
    from typing import Any

    from holdfast.app import App
    from holdfast.engine.desk import Desk
    from holdfast.engine.watch import Watch
    from holdfast.handler import Call, Handler
    from holdfast.model.batch import Batch as Stored
    from holdfast.model.request import NewJob
    from holdfast.signals.port import Signal

CHUNK = 100
_PAGE = 1_000
_LONGEST_WAIT = 3600.0


class Maps:
    """The part of an application that makes batches."""

    if TYPE_CHECKING:
        desk: Desk
        signal: Signal
        max_depth: dict[str, int]
        payload_limit: int
        _clock: Callable[[], int] | None

    batch_watch: Watch | None

    def map(
        self,
        handler: Handler[Any, Any] | str,
        items: Iterable[Mapping[str, Any]],
        *,
        chunk: int | None = None,
        callback: Call | Handler[Any, Any] | None = None,
        key: str | None = None,
        connection: Any = None,
        **options: Any,
    ) -> Batch:
        """Run a handler over many items: `batch = app.map(match, [{"entry": 1}, ...], callback=report.call())`.

        All are checked, then stored at once. A job takes `chunk` items (100) one after the other; one that fails is
        tried again as a job of its own. `callback` is enqueued once, when every item has ended. With `key` the same
        request again answers the same batch.
        """
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        asked = Request(self, handler, items, chunk=chunk, callback=callback, key=key, options=options)  # type: ignore[arg-type]
        if connection is None:
            answer = self.desk.write(verbs.create, *asked.told, self.max_depth)
        else:
            answer = self.desk.join(connection, verbs.create, *asked.told, self.max_depth)
            self.signal.tell_early(news_of(asked.batch.pattern.queue))
        return Batch(self, *answer)  # type: ignore[arg-type]

    async def amap(
        self,
        handler: Handler[Any, Any] | str,
        items: Iterable[Mapping[str, Any]],
        *,
        chunk: int | None = None,
        callback: Call | Handler[Any, Any] | None = None,
        key: str | None = None,
        connection: Any = None,
        **options: Any,
    ) -> Batch:
        """The same from a coroutine."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        asked = Request(self, handler, items, chunk=chunk, callback=callback, key=key, options=options)  # type: ignore[arg-type]
        if connection is None:
            answer = await self.desk.awrite(verbs.create, *asked.told, self.max_depth)
        else:
            answer = await self.desk.ajoin(connection, verbs.create, *asked.told, self.max_depth)
        return Batch(self, *answer)  # type: ignore[arg-type]

    def batch(self, batch_id: str) -> Batch:
        """A handle on a batch that exists."""
        return Batch(self, batch_id, created=False)  # type: ignore[arg-type]

    def now(self) -> int:
        """The time of this process, in milliseconds; or of the clock that was handed in."""
        from time import time_ns  # noqa: PLC0415

        return time_ns() // 1_000_000 if self._clock is None else self._clock()


class Batch:
    """A handle on a batch. `created` is false where the idempotency key answered one that was there before."""

    __slots__ = ("_app", "created", "id")

    def __init__(self, app: App, batch_id: str, created: bool) -> None:  # noqa: FBT001  # as the store answers
        self._app = app
        self.id = batch_id
        self.created = created

    def progress(self) -> dict[str, Any]:
        """How far it is: total, done, failed, cancelled, running, percent."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        return _progress(self._app.desk.read(verbs.get, self.id))

    async def aprogress(self) -> dict[str, Any]:
        """The same in a coroutine."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        return _progress(await self._app.desk.aread(verbs.get, self.id))

    def results(self, *, after: int | None = None) -> Iterator[tuple[int, str, Any]]:
        """(number, `done`, result) or (number, `failed` or `cancelled`, error) of each ended item, by number."""
        return self._items(after, failed=False)

    def errors(self, *, after: int | None = None) -> Iterator[tuple[int, str, Any]]:
        """Those of the items that failed or were cancelled."""
        return self._items(after, failed=True)

    async def aresults(self, *, after: int | None = None, failed: bool = False) -> AsyncIterator[tuple[int, str, Any]]:
        """The same in a coroutine; `failed` leaves out what is done."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        more = True
        while more:
            found, after = await self._app.desk.aread(verbs.items, self.id, after=after, limit=_PAGE, failed=failed)
            for item in found:
                yield _outcome(item)
            more = after is not None

    def wait(self, timeout: float | None = None) -> dict[str, Any]:
        """Wait until every item has ended; answers the progress, or raises ResultTimeout."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        if "asyncio" in sys.modules and sys.modules["asyncio"]._get_running_loop() is not None:  # noqa: SLF001
            raise HoldfastError("USE_AWAIT", "wait() would block the running event loop: use `await batch`")
        deadline = _deadline(timeout)
        while (batch := self._app.desk.read(verbs.get, self.id)).ended_at is None:
            _watch(self._app).wait(self.id, batch.version, self._left(batch, deadline, timeout))
        return _progress(batch)

    async def await_end(self, timeout: float | None = None) -> dict[str, Any]:  # noqa: ASYNC109
        """Wait for the same in a coroutine; `await batch` waits for ever."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        deadline = _deadline(timeout)
        while (batch := await self._app.desk.aread(verbs.get, self.id)).ended_at is None:
            await _watch(self._app).await_change(self.id, batch.version, self._left(batch, deadline, timeout))
        return _progress(batch)

    def __await__(self) -> Generator[Any, Any, dict[str, Any]]:
        return self.await_end().__await__()

    def cancel(self) -> int:
        """Cancel what has not ended; answers how many jobs were. Their items count as cancelled; the batch ends."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        cancelled, left = 0, True
        while left:
            some, left = self._app.desk.write(verbs.cancel, self.id)
            cancelled += some
        return cancelled

    async def acancel(self) -> int:
        """The same in a coroutine."""
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        cancelled, left = 0, True
        while left:
            some, left = await self._app.desk.awrite(verbs.cancel, self.id)
            cancelled += some
        return cancelled

    def __repr__(self) -> str:
        return f"<Batch {self.id}>"

    def _items(self, after: int | None, *, failed: bool) -> Iterator[tuple[int, str, Any]]:
        from holdfast.engine import batches as verbs  # noqa: PLC0415

        more = True
        while more:
            found, after = self._app.desk.read(verbs.items, self.id, after=after, limit=_PAGE, failed=failed)
            yield from map(_outcome, found)
            more = after is not None

    def _left(self, batch: Stored, deadline: float, timeout: float | None) -> float:
        left = deadline - monotonic()
        if left <= 0:
            raise ResultTimeout(
                "RESULT_TIMEOUT",
                f"batch {self.id} has not ended within {timeout} s: {batch.running} of {batch.total} items are left",
            )
        return min(left, _LONGEST_WAIT)


class Request:
    """What `app.map` was asked for, checked to the last item before anything is stored."""

    def __init__(
        self, app: App, handler: object, items: object, *, chunk: object, callback: object, key: object, options: Any
    ) -> None:
        from hashlib import sha256  # noqa: PLC0415

        from holdfast.model.batch import MOST_AT_ONCE, NewBatch, callback_text  # noqa: PLC0415
        from holdfast.model.ids import new_ids  # noqa: PLC0415

        door = _door(app, handler).using(**options)
        size = check_count("chunk", _default_chunk(door) if chunk is None else chunk, MOST_AT_ONCE)
        if door.definition.batch is not None and size > 1:
            raise BadInput("BAD_OPTION", f"{door!r} takes many jobs at a time as it is: leave chunk out")
        pattern = _pattern(door)
        self.jobs: list[NewJob] = []
        self.items: list[int | None] = []
        batch_id = new_ids(app.now(), 1)[0]
        digest = sha256()
        total = 0
        for number, texts in _chunks(door, items, size, app.payload_limit):
            total += len(texts)
            if size == 1:
                text, item = texts[0], number
            else:
                text, item = _chunk_text(number, texts), None
            if key is not None:
                digest.update(f"{number} {text}\n".encode())
            self.jobs.append(pattern.with_payload(text))
            self.items.append(item)
        self.batch = NewBatch(
            id=batch_id,
            pattern=pattern,
            total=total,
            digest=digest.hexdigest(),
            key=None if key is None else check_name("key", key),
            callback=None if callback is None else callback_text(_called(callback, batch_id)),
        )
        self.told = self.batch, self.jobs, self.items


def _door(app: App, handler: object) -> Handler[Any, Any]:
    from holdfast.handler import Handler  # noqa: PLC0415

    if isinstance(handler, str):
        handler = app.registry.door(handler) or handler
    if isinstance(handler, Handler):
        return handler
    raise BadInput(
        "UNKNOWN_TYPE" if isinstance(handler, str) else "BAD_OPTION",
        f"app.map goes over a handler, as in app.map(match, items), not {shown(handler)}",
    )


def _default_chunk(door: Handler[Any, Any]) -> int:
    return CHUNK if door.definition.batch is None else 1


def _pattern(door: Handler[Any, Any]) -> NewJob:
    pattern = door.pattern()
    if pattern.coalesce_key is not None or pattern.key is not None:
        raise BadInput("BAD_OPTION", "a batch takes a key of its own, app.map(..., key=...); its jobs take none")
    return pattern


def _chunks(door: Handler[Any, Any], items: object, size: int, limit: int) -> Iterator[tuple[int, list[str]]]:
    """The number of each chunk's first item, and the texts of all: as many as asked for, unless they grow too long."""
    from holdfast.model.batch import LARGEST_BATCH, LARGEST_CHUNK, MOST_ITEMS  # noqa: PLC0415

    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        raise BadInput(
            "BAD_OPTION", f"items is a list or generator of payloads, each a dict of arguments, not {shown(items)}"
        )
    texts: list[str] = []
    length = whole = number = 0
    for number, item in enumerate(items):
        text = _payload(door, number, item, limit)
        whole += len(text)
        if number >= MOST_ITEMS or whole > LARGEST_BATCH:
            raise BadInput(
                "BAD_OPTION",
                f"a batch takes at most {MOST_ITEMS:,} items, and {LARGEST_BATCH >> 20} MiB of payloads: make several",
            )
        if texts and (len(texts) == size or length + len(text) > LARGEST_CHUNK):
            yield number - len(texts), texts
            texts, length = [], 0
        texts.append(text)
        length += len(text)
    if texts:
        yield number + 1 - len(texts), texts


def _payload(door: Handler[Any, Any], number: int, item: object, limit: int) -> str:
    if not isinstance(item, Mapping):
        raise PayloadError(
            "PAYLOAD_INVALID", f"item {number} is a {type(item).__name__}: pass a dict of the handler's arguments"
        )
    try:
        return door.definition.signature.dump((), item, limit)
    except PayloadError as error:
        raise PayloadError(error.code, f"item {number}: {error}") from None


def _chunk_text(first: int, texts: list[str]) -> str:
    return '{"items":[' + ",".join([f"[{first + place},{text}]" for place, text in enumerate(texts)]) + "]}"


def _called(callback: object, batch_id: str) -> NewJob:
    """The callback's request; a handler with a parameter `batch` gets the id of the batch there, unless it is given."""
    from holdfast.handler import Call, Handler  # noqa: PLC0415

    if isinstance(callback, Handler):
        callback = callback.call()
    if not isinstance(callback, Call):
        raise BadInput("BAD_OPTION", f"a callback is a handler or a call, as in report.call(), not {shown(callback)}")
    return callback.new_job({"batch": batch_id})


def _watch(app: App) -> Watch:
    from holdfast.engine import batches as verbs  # noqa: PLC0415

    watch = app.batch_watch
    if watch is None:
        import os  # noqa: PLC0415
        from secrets import token_hex  # noqa: PLC0415

        from holdfast.engine.watch import Watch  # noqa: PLC0415

        desk, signal = app.desk, app.signal
        watch = app.batch_watch = Watch(
            desk, lambda: signal.listen(f"batches-{os.getpid()}-{token_hex(4)}"), verbs.versions
        )
    return watch


def _progress(batch: Stored) -> dict[str, Any]:
    told = batch.as_json()
    return {name: told[name] for name in ("total", "done", "failed", "cancelled", "running", "percent")}


def _outcome(item: dict[str, Any]) -> tuple[int, str, Any]:
    return item["number"], item["status"], item["result"] if item["status"] == "done" else item["error"]


def _deadline(timeout: object) -> float:
    from math import isnan  # noqa: PLC0415

    if timeout is None:
        return float("inf")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or isnan(timeout):
        raise BadInput("BAD_OPTION", f"timeout is a number of seconds, or None to wait for ever, not {shown(timeout)}")
    return monotonic() + timeout
