"""A registered handler: still the function it was, and the way to enqueue jobs for it."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from holdfast.asked import checked
from holdfast.engine.registry import Definition
from holdfast.model.backoff import Backoff
from holdfast.model.errors import BadInput
from holdfast.model.flow import check_flow
from holdfast.model.policy import Policy
from holdfast.model.request import (
    OPTIONS,
    Alike,
    NewJob,
    check_count,
    check_key_window,
    check_name,
    check_options,
    check_priority,
    check_timeout,
)  # fmt: skip
from holdfast.worker.context import JobContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.app import App
    from holdfast.handle import Handle

P = ParamSpec("P")
R = TypeVar("R")

SETTINGS = frozenset({
    "type", "queue", "priority", "max_attempts", "timeout", "lease", "backoff", "max_crashes", "permanent", "version",
    "isolation", "key_window", "batch", "batch_wait", "limits",
})  # fmt: skip
_SHORTEST_LEASE_MS = 100
_SHORTEST_SWEEP_MS = 1_000
_LARGEST_CALL = 500  # jobs of one call
_LONGEST_BATCH_WAIT = 0.5  # seconds


class Handler(Generic[P, R]):
    """Call it, and it runs here and now; `.enqueue(...)` it, and a worker runs it."""

    def __init__(self, app: App, definition: Definition, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, definition.function)
        self.app = app
        self.definition = definition
        self._options = options
        self._connection: Any = None
        self._alike = "key" not in options and not callable(options.get("limits"))  # all its jobs, but for the payload
        self._pattern: NewJob | None = None

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.definition.function(*args, **kwargs)  # type: ignore[no-any-return]

    def enqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Handle:
        """Store a job for this handler."""
        return self.app.store([self.new_job(kwargs, {}, args)], self._connection)[0]

    delay = enqueue

    async def aenqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Handle:
        """Store a job for this handler, from a coroutine."""
        return (await self.app.astore([self.new_job(kwargs, {}, args)], self._connection))[0]

    def call(self, /, *args: P.args, **kwargs: P.kwargs) -> Call:
        """What `enqueue` would store, for `app.enqueue_many`."""
        if self._connection is not None:
            raise BadInput(
                "BAD_OPTION",
                "many go on one connection: give it to app.enqueue_many(..., connection=...), not to `using`",
            )
        return Call(self, args, kwargs)

    def using(self, *, connection: Any = None, **options: Any) -> Handler[P, R]:
        """The same handler with options for its next jobs: `thumbnail.using(priority=1, delay=60).enqueue(...)`.

        With `connection` they are stored inside the caller's own transaction.
        """
        check_options(options, OPTIONS)
        handler: Handler[P, R] = Handler(self.app, self.definition, self._options | options)
        handler._connection = self._connection if connection is None else connection
        return handler

    def new_job(self, payload: Mapping[str, Any], options: Mapping[str, Any], args: tuple[Any, ...] = ()) -> NewJob:
        """A checked request for this handler."""
        definition = self.definition
        text = definition.signature.dump(args, payload, self.app.payload_limit)
        if self._alike and not options:
            return (self._pattern or self._common()).with_payload(text)
        merged = self._options | dict(options)
        if merged.get("key") is None:
            merged.pop("key_window", None)
        if callable(merged.get("limits")):
            merged["limits"] = self._keys(merged["limits"], args, payload)
        return NewJob(definition.type, text, payload_version=definition.version, **checked(merged))

    def new_jobs(self, calls: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> Sequence[NewJob]:
        """Checked requests for this handler, one for the arguments of each call."""
        if not self._alike:
            return [self.new_job(kwargs, {}, args) for args, kwargs in calls]
        texts = self.definition.signature.dump_all(calls, self.app.payload_limit)
        return Alike(self._common(), texts)

    def _common(self) -> NewJob:
        self._pattern = self._pattern or self.pattern()
        return self._pattern

    def _keys(self, of: Callable[..., Any], args: tuple[Any, ...], payload: Mapping[str, Any]) -> Any:
        """The keys of limits that a function of the caller's makes of the arguments."""
        try:
            return of(*args, **payload)
        except Exception as error:
            raise BadInput(
                "BAD_OPTION",
                f"limits of {self.definition.type}: its function raised {type(error).__name__} for these arguments: "
                "let it answer a list of keys for all that the handler takes",
            ) from error

    def pattern(self) -> NewJob:
        """A checked request without a payload: what its jobs have in common."""
        options = {name: value for name, value in self._options.items() if name != "key_window"}
        return NewJob(self.definition.type, "", payload_version=self.definition.version, **checked(options))

    def __repr__(self) -> str:
        return f"<Handler {self.definition.type}>"


class Call:
    """A handler with the arguments of one job."""

    __slots__ = ("args", "handler", "kwargs")

    def __init__(self, handler: Handler[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.handler = handler
        self.args = args
        self.kwargs = kwargs

    def new_job(self, more: Mapping[str, Any] | None = None) -> NewJob:
        """The checked request; of `more` arguments it takes those that are the handler's and missing."""
        kwargs = self.kwargs
        if more:
            asked = self.handler.definition.signature.missing(self.args, kwargs)
            kwargs = {**kwargs, **{name: value for name, value in more.items() if name in asked}}
        return self.handler.new_job(kwargs, {}, self.args)

    @staticmethod
    def new_jobs(calls: Sequence[Call]) -> Sequence[NewJob]:
        """The checked requests of many; those of one handler are checked together."""
        handlers = {call.handler for call in calls}
        if len(handlers) != 1:
            return [call.new_job() for call in calls]
        return handlers.pop().new_jobs([(call.args, call.kwargs) for call in calls])

    def handle(self, job_id: str, outcome: str) -> Handle:
        """A handle on the job that it became."""
        from holdfast.handle import Handle  # noqa: PLC0415

        return Handle(self.handler.app, job_id, outcome=outcome)


def register(app: App, function: Callable[..., Any], settings: Mapping[str, Any]) -> Handler[Any, Any]:
    """Make a function a handler of the application."""
    check_options(settings, SETTINGS)
    _check_function("@app.job", function)
    kind = check_name("type", settings.get("type") or function.__name__)
    definition = Definition(
        type=kind,
        function=function,
        context_type=JobContext,
        queue=check_name("queue", settings.get("queue", "default")),
        policy=_policy(settings),
        version=check_count("version", settings.get("version", 1), 1_000),
        isolation=_isolation(settings.get("isolation")),
        **_many(settings),
    )
    options: dict[str, Any] = {
        "queue": definition.queue,
        "priority": check_priority(settings.get("priority", 5)),
        "max_attempts": check_count("max_attempts", settings.get("max_attempts", 3), 10_000),
    }
    if settings.get("key_window") is not None:
        check_key_window(settings["key_window"], "any")
        options["key_window"] = settings["key_window"]
    if settings.get("limits") is not None:
        if not callable(settings["limits"]):
            check_flow(None, None, settings["limits"])
        options["limits"] = settings["limits"]
    handler: Handler[Any, Any] = Handler(app, definition, options)
    app.registry.add(definition, handler)
    return handler


def register_sweeper(app: App, function: Callable[[], Any], every: float, queue: str) -> Callable[[], Any]:
    """Make a function a sweeper of the application: a job that enqueues what the function answers."""
    _check_function("@app.sweeper", function)

    async def sweep() -> int:
        found = function()
        if inspect.isawaitable(found):
            found = await found
        calls = list(found or ())
        await app.aenqueue_many(calls)
        return len(calls)

    handler = register(app, sweep, {"type": f"sweep:{function.__name__}", "queue": queue, "max_attempts": 1})
    handler.definition.sweep_ms = check_timeout(every, "every")
    if handler.definition.sweep_ms < _SHORTEST_SWEEP_MS:
        raise BadInput("BAD_OPTION", "a sweep more often than once a second would only burden the store")
    return function


def _check_function(where: str, function: object) -> None:
    if inspect.isroutine(function):
        return
    if isinstance(function, type):
        given, advice = f"the class {function.__qualname__}", "register a function that makes one and uses it"
    else:
        given, advice = f"a {type(function).__name__}", 'options are named, as in @app.job(type="thumbnail")'
    raise BadInput("BAD_OPTION", f"{where} goes on a function, not on {given}: {advice}")


def _policy(settings: Mapping[str, Any]) -> Policy:
    chosen: dict[str, Any] = {"max_crashes": check_count("max_crashes", settings.get("max_crashes", 3), 1_000)}
    backoff, permanent = settings.get("backoff"), settings.get("permanent", ())
    if not isinstance(backoff, Backoff | None):
        raise BadInput("BAD_OPTION", f"backoff is a holdfast.Backoff, not a {type(backoff).__name__}")
    if not isinstance(permanent, tuple) or not all(_is_error(kind) for kind in permanent):
        raise BadInput("BAD_OPTION", "permanent is a tuple of error classes, as in permanent=(ValueError,)")
    if backoff is not None:
        chosen["backoff"] = backoff
    if "timeout" in settings:
        chosen["timeout_ms"] = None if settings["timeout"] is None else check_timeout(settings["timeout"])
    if "lease" in settings:
        chosen["lease_ms"] = check_timeout(settings["lease"], "lease")
        if chosen["lease_ms"] < _SHORTEST_LEASE_MS:
            raise BadInput("BAD_OPTION", "a lease under 0.1 s would run out between two renewals: give more")
    return Policy(permanent=permanent, **chosen)


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _many(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of a handler that takes many jobs at a time: how many, and how long a call may wait for them."""
    batch, wait = settings.get("batch"), settings.get("batch_wait")
    if batch is None:
        if wait is not None:
            raise BadInput("BAD_OPTION", "batch_wait says how long a call waits for more jobs: give batch, too")
        return {}
    if settings.get("isolation") is not None:
        raise BadInput("BAD_OPTION", "a batch handler shares its process: leave out isolation, or leave out batch")
    seconds = 0.0 if wait in (None, 0) else check_timeout(wait, "batch_wait") / 1000
    if seconds > _LONGEST_BATCH_WAIT:
        raise BadInput("BAD_OPTION", f"batch_wait is at most {_LONGEST_BATCH_WAIT} s: the jobs are under lease by then")
    return {"batch": check_count("batch", batch, _LARGEST_CALL), "batch_wait": seconds}


def _isolation(isolation: object) -> str | None:
    if isolation in (None, "process"):
        return isolation
    raise BadInput("BAD_OPTION", f"isolation is 'process' or nothing, not {isolation!r:.50}")
