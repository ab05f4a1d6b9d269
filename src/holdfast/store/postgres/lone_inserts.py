"""The shortest way of a new job into the store: one statement that commits by itself, and tells of the job as it does.

A word that goes out with the commit is heard half a millisecond sooner than one that is sent after it. Failure cases:
the answer is lost (the same job is sent once more on a new connection: its id makes that harmless); the server will not
pass words on, or another one's word is on its way to the disk (the job is stored without, and told of afterwards).
"""

from __future__ import annotations

from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError
from holdfast.model.news import News
from holdfast.store.postgres.base import array
from holdfast.store.postgres.crowd import stands_behind
from holdfast.store.postgres.lone import lone_row
from holdfast.store.postgres.transaction import PostgresTransaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from holdfast.model.request import NewJob
    from holdfast.store.postgres.connection import Connection
    from holdfast.store.postgres.crowd import Crowd
    from holdfast.store.postgres.location import Location
    from holdfast.store.sql import Queries

NOT_KNOWN = "and it is not known whether it was made: look before you repeat it"


class LoneInserts:
    """Part of the store; the promises stand in the port."""

    word: Callable[[News], str | None] | None = None

    if TYPE_CHECKING:
        location: Location
        queries: Queries
        _clock: Callable[[], int] | None
        _patience: float
        _ahead: float | None
        _writer: Connection | None
        _crowd: Crowd

        def _current(self, which: str) -> Connection | None: ...
        def _connect(self, which: str) -> Connection: ...
        def _tell_time(self, now: int) -> None: ...
        def _told_to_a_writer(self, error: Exception) -> Exception: ...
        def _telling(self, in_our_words: Callable[[Exception], Exception]) -> AbstractContextManager[None]: ...
        def _write_alone(self, call: Callable[[Any], Any]) -> tuple[list[Any], News]: ...

    def insert_alone(self, job: NewJob) -> tuple[tuple[str, bool], News]:
        begun = monotonic()
        news = News()
        news.queues.add(job.queue)
        news.of_group(job.tenant, job.group)
        with self._telling(self._told_to_a_writer):
            # What takes more than one statement. A connection that was lost is found out there, too.
            several = isinstance(job.key_window, int) or self.location.tenant or self._is_ruled(job)
            job_id = None if several else self._insert_at_once(job, news)
        if job_id is not None:
            look = partial(stands_behind, job)
            news.patient = self._crowd.waits(job, monotonic() - begun, lambda: self._write_alone(look)[0][0] is True)
            return (job_id, True), news
        (answer,), news = self._write_alone(lambda transaction: transaction.insert([job])[0])
        if isinstance(answer, Exception):
            raise answer
        return answer, news

    def _insert_at_once(self, job: NewJob, news: News) -> str | None:
        """One statement that commits by itself: one round trip instead of three. None if its key is taken.

        Should the answer be lost, the same job is sent once more on a new connection: its id makes that harmless.
        """
        connection = self._current("_writer") or self._connect("_writer")
        row = self._lone_row(job, connection)
        row["channel"], row["word"] = self.location.channel, self._word(job, news)
        try:
            told = self._sent(connection, row)
        except Exception:
            if not connection.is_lost():
                raise
            told = self._insert_again(row)
        news.told = told == [(True,)]
        return str(row["id"]) if told else None

    def _sent(self, connection: Connection, row: dict[str, object]) -> list[tuple[Any, ...]]:
        insert, keep = self.queries["insert_alone"], self.queries["keep_settings"]
        try:
            return connection.repeat(insert, row, keep)
        except Exception:
            if row["word"] is None or connection.is_lost():
                raise
        row["word"] = None  # a server that will not pass a word on may still store the job
        return connection.repeat(insert, row, keep)

    def _word(self, job: NewJob, news: News) -> str | None:
        """What to tell with the commit: nothing where it would hardly wake anybody."""
        return None if self.word is None or self._crowd.waited(job) else self.word(news)

    def _is_ruled(self, job: NewJob) -> bool:
        """Whether the job's queue has rules, by what was heard of them a moment ago."""
        connection = self._current("_writer") or self._connect("_writer")
        try:
            return PostgresTransaction(connection, self.queries, 0).ruled([job])[0] is not job
        except Exception:  # noqa: BLE001  # the long way meets it again, and knows what to do
            return True

    def _insert_again(self, row: dict[str, object]) -> list[tuple[Any, ...]]:
        give_up = monotonic() + self._patience
        while True:
            try:
                connection = self._connect("_writer")
                made = connection.run(self.queries["insert_alone"], row)
                return made or connection.run(self.queries["versions"], {"ids": array([row["id"]])})
            except Exception as error:
                self._writer = None
                if monotonic() > give_up:
                    raise StoreError(
                        "STORE_UNAVAILABLE", f"{self.location.shown}: the connection was lost, {NOT_KNOWN}"
                    ) from error
            sleep(0.05)

    def _lone_row(self, job: NewJob, connection: Connection) -> dict[str, object]:
        now = self._clock() if self._clock else None
        if now is None and self._ahead is None:
            self._tell_time(connection.run(self.queries["now"], {})[0][0])
        return lone_row(job, about=now if now is not None else int(monotonic() * 1000 + (self._ahead or 0)), now=now)
