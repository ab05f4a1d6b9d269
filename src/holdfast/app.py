"""The application: where handlers are registered and jobs are enqueued."""

from __future__ import annotations

from _collections_abc import Mapping  # `collections` around it would cost a cold hook a millisecond

from holdfast.alerting import AlertDoor
from holdfast.asked import checked, depths, is_plain, names, news_of, requests
from holdfast.batches import Maps
from holdfast.engine.asking import enqueue
from holdfast.engine.block import Block
from holdfast.engine.desk import Desk
from holdfast.handle import Handle
from holdfast.limits import LimitDoor
from holdfast.model.errors import BadInput
from holdfast.model.payload import SIZE_LIMIT, encode
from holdfast.model.request import OPTIONS, NewJob, check_count, check_name, check_options
from holdfast.wiring import named, open_signal, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from datetime import timedelta
    from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, overload

    from holdfast.deliveries import Webhooks
    from holdfast.engine.registry import Registry
    from holdfast.engine.watch import Watch
    from holdfast.groups import Group, Tenant
    from holdfast.handler import Call, Handler
    from holdfast.model.backoff import Backoff
    from holdfast.model.job import Job
    from holdfast.model.schedule import Plan
    from holdfast.schedules import Schedules
    from holdfast.worker.context import JobContext

    P = ParamSpec("P")
    R = TypeVar("R")

    class Registrar(Protocol):
        """`@app.job(...)`: type checkers fill in a JobContext that comes first. A handler of lists takes one job's
        arguments when it is enqueued.
        """

        @overload
        def __call__(self, function: Callable[[list[Any]], list[R] | Awaitable[list[R]]], /) -> Handler[..., R]: ...
        @overload
        def __call__(
            self, function: Callable[[list[Any], list[JobContext]], list[R] | Awaitable[list[R]]], /
        ) -> Handler[..., R]: ...
        @overload
        def __call__(self, function: Callable[Concatenate[JobContext, P], R], /) -> Handler[P, R]: ...
        @overload
        def __call__(self, function: Callable[P, R], /) -> Handler[P, R]: ...


_LARGEST_PAYLOAD = 1024 * 1024 * 1024  # what SQLite itself takes


class App(Maps, LimitDoor, AlertDoor):
    """One queue: its store, its handlers, and the way in.

    `url` is `sqlite:///jobs.db` (four slashes: an absolute path); by default HOLDFAST_URL, else what the nearest
    holdfast.toml or [tool.holdfast] says, else ./holdfast.db.
    `imports` names modules to import before work begins, for applications made by a factory.
    `signal` says how processes wake each other: `store` (default), `off`, `redis://...` or `amqp://...`; by default
    HOLDFAST_SIGNAL.
    `max_depth` bounds how many jobs may wait in a queue; over it, only priorities 1 to 3 are let in.
    `patience` is how many seconds to wait for another process's write lock (SQLite). With `migrate=False` a file that
    has tables of an older Holdfast is refused with SCHEMA_MISSING instead of being brought up to date, and one that
    holds nothing but others' tables with FOREIGN_TABLES.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        imports: Iterable[str] = (),
        payload_limit: int = SIZE_LIMIT,
        max_depth: Mapping[str, int] | None = None,
        signal: str | None = None,
        clock: Callable[[], int] | None = None,
        patience: float | None = None,
        migrate: bool = True,
    ) -> None:
        self._clock = clock
        self._ways = ({} if patience is None else {"patience": patience}) | ({} if migrate else {"migrates": False})
        self.imports = names(imports)
        self.payload_limit = check_count("payload_limit", payload_limit, _LARGEST_PAYLOAD)
        self.max_depth = depths(max_depth)
        self.in_use = False  # by a worker of this process
        self.declared: dict[str, Plan] = {}  # schedules of the code, for a worker to store
        self.declared_at: dict[str, int | None] = {}
        self.said = {}
        self.alarm = None
        self._registry: Registry | None = None
        self._webhooks: Webhooks | None = None
        address, self.signal_by = named(url, signal)
        self.use(address)

    def use(self, url: str) -> None:
        """Work with the store at this address instead of the one the code names: what `--url` does."""
        self.url = url
        self.desk = Desk(open_store(url, self._clock, **self._ways))
        self.signal = open_signal(url, self.signal_by)
        self.desk.store.word = self.signal.word
        self.desk.listeners.append(self.signal.tell)
        self._watch: Watch | None = None
        self.batch_watch: Watch | None = None

    # -- handlers

    if TYPE_CHECKING:

        @overload
        def job(self, function: Callable[Concatenate[JobContext, P], R], /) -> Handler[P, R]: ...
        @overload
        def job(self, function: Callable[P, R], /) -> Handler[P, R]: ...
        @overload
        def job(
            self,
            *,
            type: str | None = None,
            queue: str = "default",
            priority: int = 5,
            max_attempts: int = 3,
            timeout: float | timedelta | None = 900,
            lease: float | timedelta = 60,
            backoff: Backoff | None = None,
            max_crashes: int = 3,
            permanent: tuple[type[BaseException], ...] = (),
            version: int = 1,
            isolation: str | None = None,
            batch: int | None = None,
            batch_wait: float = 0,
            key_window: str | float | timedelta | None = None,
            limits: Sequence[str] | Callable[..., Sequence[str]] | None = None,
        ) -> Registrar: ...

    def job(self, function: Any = None, /, **settings: Any) -> Any:  # type: ignore[misc]
        """Register a handler: `@app.job` or `@app.job(queue="images", max_attempts=5, timeout=30)`."""
        from holdfast.handler import register  # noqa: PLC0415  # a process that only enqueues needs no schema library

        if function is not None:
            return register(self, function, {})
        return lambda function: register(self, function, settings)

    def sweeper(self, function: Any = None, /, *, every: float = 600, queue: str = "default") -> Any:
        """Register a function that finds rows which should have a job and have none, and answers the calls to enqueue.

        `@app.sweeper(every=600)` runs it every ten minutes, once in the whole cluster. Judge rows by their last
        activity, not by their creation: a healthy backlog is old, too.
        """
        from holdfast.handler import register_sweeper  # noqa: PLC0415

        if function is not None:
            return register_sweeper(self, function, every, queue)
        return lambda function: register_sweeper(self, function, every, queue)

    def schedule(
        self,
        name: str | Call | Handler[Any, Any],
        call: Call | Handler[Any, Any] | None = None,
        /,
        *,
        cron: str | None = None,
        every: float | timedelta | None = None,
        tz: str = "UTC",
        catch_up: str = "last",
        overlap: str = "skip",
    ) -> None:
        """Run a job again and again: `app.schedule("nightly", report.call(), cron="0 3 * * *", tz="Europe/Vienna")`.

        Once per tick in the whole cluster. `cron` goes by the clocks of `tz`, `every` (seconds) by elapsed time.
        `catch_up` says what becomes of ticks that nobody was there for: `last`, `none` or `all`. With `overlap="skip"`
        a tick is left out while the job before has not ended; with `allow` it is not. Without a name it has its type's.
        Stored when a worker starts; what a person changes at run time stays in force.
        """
        from holdfast.schedules import declared  # noqa: PLC0415

        when = {"cron": cron, "every": every, "tz": tz, "catch_up": catch_up, "overlap": overlap}
        name, plan = declared(self, name, call, when)
        self.declared[name] = plan
        self.declared_at[name] = None if self._clock is None else self._clock()

    @property
    def schedules(self) -> Schedules:
        """The schedules at run time: `app.schedules()` lists them; `.pause(name)`, `.trigger(name)` and so on act."""
        from holdfast.schedules import Schedules  # noqa: PLC0415

        return Schedules(self)

    @property
    def registry(self) -> Registry:
        """The handlers this process knows."""
        if self._registry is None:
            from holdfast.engine.registry import Registry  # noqa: PLC0415

            self._registry = Registry()
        return self._registry

    @property
    def webhooks(self) -> Webhooks:
        """Signed deliveries to addresses of others: `app.webhooks.add(...)`, `app.webhooks.deliver(...)`."""
        if self._webhooks is None:
            from holdfast.deliveries import Webhooks  # noqa: PLC0415

            self._webhooks = Webhooks(self)
        return self._webhooks

    # -- enqueue

    def enqueue(
        self, type: str, payload: Mapping[str, Any] | None = None, *, connection: Any = None, **options: Any
    ) -> Handle:
        """Enqueue by name; with `connection`, inside the caller's own transaction."""
        return self.store([self._named(type, payload, options)], connection)[0]

    async def aenqueue(
        self, type: str, payload: Mapping[str, Any] | None = None, *, connection: Any = None, **options: Any
    ) -> Handle:
        """Enqueue by name from a coroutine; with `connection`, inside the caller's own transaction."""
        return (await self.astore([self._named(type, payload, options)], connection))[0]

    def enqueue_many(self, calls: Iterable[Call], *, connection: Any = None) -> list[Handle]:
        """Enqueue many in one transaction: `app.enqueue_many([thumbnail.call(path="a.png"), ...])`."""
        return self.store(requests(calls), connection)

    def store(self, jobs: Sequence[NewJob], connection: Any = None) -> list[Handle]:
        """Store checked requests, all or none."""
        if not jobs:
            return []
        if connection is not None:
            return self._joined(jobs, self.desk.join(connection, enqueue, jobs, self.max_depth))
        if len(jobs) == 1 and not self.max_depth and is_plain(jobs[0]):
            job_id, created = self.desk.insert(jobs[0])
            return [Handle(self, job_id, outcome="created" if created else "duplicate")]
        return self._handles(self.desk.write(enqueue, jobs, self.max_depth))

    async def aenqueue_many(self, calls: Iterable[Call], *, connection: Any = None) -> list[Handle]:
        """Enqueue many in one transaction, from a coroutine."""
        return await self.astore(requests(calls), connection)

    async def astore(self, jobs: Sequence[NewJob], connection: Any = None) -> list[Handle]:
        """Store checked requests from a coroutine, all or none."""
        if not jobs:
            return []
        if connection is not None:
            return self._joined(jobs, await self.desk.ajoin(connection, enqueue, jobs, self.max_depth))
        return self._handles(await self.desk.awrite(enqueue, jobs, self.max_depth))

    def _named(self, type: str, payload: Mapping[str, Any] | None, options: Mapping[str, Any]) -> NewJob:
        """A request that Python code makes by name."""
        check_options(options, OPTIONS, of=type)
        job = self.new_job(type, {} if payload is None else payload, options)
        if self._registry is not None:
            self._registry.doubt(type, stacklevel=3)  # the line that enqueues
        return job

    def new_job(self, type: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> NewJob:
        """A checked request. A type that is known here is checked against its handler; any other before its run."""
        check_options(options, OPTIONS)
        if not isinstance(payload, Mapping):
            raise BadInput("PAYLOAD_INVALID", "a payload is an object: pass a dict of the handler's arguments")
        handler = None if self._registry is None else self._registry.door(check_name("type", type))
        if handler is not None:
            return handler.new_job(payload, options)  # type: ignore[no-any-return]
        return NewJob(type, encode(dict(payload), limit=self.payload_limit), **checked(options))

    def transaction(self) -> AbstractContextManager[Any]:
        """`with app.transaction() as tx: tx.execute(...); job.enqueue(...)`: all of it commits, or none."""
        return Block(self.desk.transaction())

    def checkpoint(self) -> bool:
        """Fold SQLite's log into the file and cut it to nothing; whether that could be done now.

        What was overwritten (`pragma secure_delete`) is gone from the disk only then. True on other stores.
        """
        from holdfast.engine.folding import fold  # noqa: PLC0415

        return fold(self.desk)

    def notify(self, *queues: str) -> None:
        """Tell workers that a transaction of the caller's own has committed new jobs."""
        self.desk.notify(news_of(*(queues or ("default",))))

    # -- look and act

    def handle(self, job_id: str) -> Handle:
        """A handle on a job that exists."""
        return Handle(self, job_id, outcome="found")

    def get(self, job_id: str, *, tenant: str | None = None) -> Job:
        """The job as it is now."""
        from holdfast.engine import jobs  # noqa: PLC0415

        return self.desk.read(jobs.get, job_id, tenant)

    def jobs(self, *, limit: int = 50, before: str | None = None, **where: str | None) -> list[Job]:
        """The newest jobs; narrowed by status, type, queue, group, tenant."""
        from holdfast.engine import jobs  # noqa: PLC0415

        check_options(where, frozenset({"status", "type", "queue", "group", "tenant"}))
        return self.desk.read(jobs.list_jobs, limit=limit, before=before, **where)[0]

    def group(self, key: str, *, tenant: str = "") -> Group:
        """The jobs that were enqueued with this `group`: how far they are, their results; cancel, pause, resume."""
        from holdfast.groups import Group  # noqa: PLC0415

        return Group(self, key, tenant)

    def tenant(self, name: str) -> Tenant:
        """All jobs of a tenant: pause, resume."""
        from holdfast.groups import Tenant  # noqa: PLC0415

        return Tenant(self, name)

    def cancel(self, job_id: str, *, mode: str = "immediate", actor: str | None = None) -> dict[str, Any]:
        """Stop a job; `graceful` lets a run that has begun complete, `full` waits until its handler has stopped."""
        from holdfast.engine.cancels import cancel_job  # noqa: PLC0415

        return cancel_job(self.desk, job_id, mode=mode, actor=actor)

    def retry(self, job_id: str, *, actor: str | None = None) -> Job:
        """Send a failed or dead-lettered job round again."""
        from holdfast.engine import jobs  # noqa: PLC0415

        return self.desk.write(jobs.retry, job_id, actor=actor)

    def resume(
        self, job_id: str | None = None, *, key: str | None = None, group: str | None = None, **more: Any
    ) -> list[str]:
        """Let parked jobs go on: one by id, or those that wait for a `key`, or of a `group`; answers which do.

        `data` (a dict) is kept encrypted and given to their handlers alone, as `JobContext.auth`.
        """
        from holdfast.engine.parking import resume_all  # noqa: PLC0415

        return resume_all(self.desk, job_id, key=key, group=group, **more)

    def explain(self, job_id: str) -> dict[str, Any]:
        """Why the job does not run now."""
        from holdfast.engine.explain import explain  # noqa: PLC0415

        return self.desk.read(explain, job_id)

    def statistics(self) -> dict[str, Any]:
        """Depth, age, runs, endings and durations by queue and type."""
        from holdfast.engine.figures import statistics  # noqa: PLC0415

        return self.desk.read(statistics)

    def worker(self, **settings: Any) -> AbstractAsyncContextManager[Any]:
        """`async with app.worker():` runs jobs in this process: for tests and small services.

        A handler that holds the interpreter for longer than its lease can lose it here; `holdfast worker` keeps it.
        """
        from holdfast.worker.inside import worker_inside  # noqa: PLC0415

        return worker_inside(self, **settings)

    @property
    def watch(self) -> Watch:
        """All waits of this process for a job's next change."""
        if self._watch is None:
            import os  # noqa: PLC0415
            from secrets import token_hex  # noqa: PLC0415

            from holdfast.engine.watch import Watch  # noqa: PLC0415

            self._watch = Watch(self.desk, lambda: self.signal.listen(f"watch-{os.getpid()}-{token_hex(4)}"))
        return self._watch

    def close(self) -> None:
        """Finish what is under way and let go of the database.

        While a worker of this process uses it, it stays open: a handler cannot close it under the others.
        """
        if self.in_use:
            return
        self.desk.close()
        self.signal.close()
        if self._watch is not None:
            self._watch.wake()  # who waits is told that there is nothing to wait for

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _joined(self, jobs: Sequence[NewJob], answers: list[tuple[str, str]]) -> list[Handle]:
        """Of what is stored on a caller's connection, whose commit nobody tells us."""
        self.signal.tell_early(news_of(*{job.queue for job in jobs}))
        return self._handles(answers)

    def _handles(self, answers: list[tuple[str, str]]) -> list[Handle]:
        return [Handle(self, job_id, outcome=outcome) for job_id, outcome in answers]
