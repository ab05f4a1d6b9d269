"""Limits as users touch them: `app.limit(...)` in the code, `app.limits` at run time, `app.limiter` inside handlers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta
    from typing import Any

    from holdfast.engine.desk import Desk
    from holdfast.model.limit import Limit

BY = "app"
_SOON = (0.0005, 0.003)  # seconds until a key is asked for again that another process had in its hands


class LimitDoor:
    """The part of an application that is about limits. On the cold path of a hook, so free of heavy imports."""

    desk: Desk
    said: dict[str, Limit]  # limits of the code, for a worker to store

    def limit(
        self,
        name: str,
        *,
        concurrency: int | None = None,
        rate: float | None = None,
        per: float | timedelta = 1,
        burst: float | None = None,
        scope: str = "cluster",
    ) -> None:
        """Limit the jobs with a key: `app.limit("domain", concurrency=1)`, `app.limit("api", rate=100, per=1)`.

        A job with `limits=["domain:example.org"]` counts against the limit of that name, else against `domain`, each
        key for itself. `concurrency` is how many run at once, in the whole cluster or with `scope="host"` on each host;
        `rate` is how many start in `per` seconds. Stored when a worker starts; what a person changes at run time stays
        in force.
        """
        from holdfast.model.limit import limit_of  # noqa: PLC0415

        self._say(limit_of(name, concurrency=concurrency, rate=rate, per=per, burst=burst, scope=scope))

    def fair(self, queue: str, *, weights: Mapping[str, int] | None = None) -> None:
        """Let the tenants of a queue take turns, by weight: `app.fair("images", weights={"acme": 2})`.

        Priority orders the jobs inside a tenant. Stored when a worker starts.
        """
        from holdfast.model.limit import fair  # noqa: PLC0415

        self._say(fair(queue, weights))

    def exclusive(self, *queues: str) -> None:
        """Of the jobs of these queues one runs at a time: `app.exclusive("gpu", "browser")`."""
        from holdfast.model.limit import exclusive  # noqa: PLC0415

        self._say(exclusive(*queues))

    @property
    def limits(self) -> Limits:
        """The limits at run time: `app.limits()` lists them; `.set(name, ...)`, `.drop(name)` and so on act."""
        return Limits(self.desk)

    def limiter(self, key: str) -> Limiter:
        """The pace of calls inside a handler: `app.limiter("wikidata").acquire()`, or `await ... .aacquire()`."""
        from holdfast.model.limit import check_limit_name  # noqa: PLC0415

        return Limiter(self.desk, check_limit_name(key))

    def _say(self, limit: Limit) -> None:
        self.said[limit.name] = limit


class Limits:
    """The limits of an application's store: call it to list them, or act on one by its name."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __call__(self) -> list[Limit]:
        """Every limit by name."""
        from holdfast.engine import limits as verbs  # noqa: PLC0415

        return self._desk.read(verbs.limits)

    def get(self, name: str) -> Limit:
        """One limit, as it is now."""
        from holdfast.engine import limits as verbs  # noqa: PLC0415

        return self._desk.read(verbs.get, name)

    def set(self, name: str, *, by: str = BY, **says: Any) -> Limit:
        """Say what holds from now on: `set("domain", concurrency=3)`. It beats the code until `reset`."""
        from holdfast.model.limit import limit_of  # noqa: PLC0415

        return self._set(limit_of(name, **says), by)

    def fair(self, queue: str, weights: Mapping[str, int] | None = None, *, by: str = BY) -> Limit:
        """Let the tenants of a queue take turns from now on."""
        from holdfast.model.limit import fair  # noqa: PLC0415

        return self._set(fair(queue, weights), by)

    def exclusive(self, *queues: str, by: str = BY) -> Limit:
        """Let these queues exclude each other from now on."""
        from holdfast.model.limit import exclusive  # noqa: PLC0415

        return self._set(exclusive(*queues), by)

    def drop(self, name: str, *, by: str = BY) -> Limit:
        """Limit no more, even if the code does; `reset` brings back what the code says."""
        from holdfast.engine import limits as verbs  # noqa: PLC0415

        return self._desk.write(verbs.drop, name, by=by)

    def reset(self, name: str) -> Limit:
        """Go back to what the code says."""
        from holdfast.engine import limits as verbs  # noqa: PLC0415

        return self._desk.write(verbs.reset, name)

    def _set(self, limit: Limit, by: str) -> Limit:
        from holdfast.engine import limits as verbs  # noqa: PLC0415

        return self._desk.write(verbs.set_limit, limit, by=by)


class Limiter:
    """The pace of one key, shared by all processes: whoever asks is given the next start, and sleeps until then."""

    def __init__(self, desk: Desk, key: str) -> None:
        self._desk = desk
        self._key = key

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the next start; False if it is further away than `timeout` seconds, and then none is taken."""
        from random import uniform  # noqa: PLC0415
        from time import sleep  # noqa: PLC0415

        from holdfast.engine import limits as verbs  # noqa: PLC0415

        while (wait := self._desk.write(verbs.pace, self._key, _ms(timeout))) == verbs.AGAIN:
            sleep(uniform(*_SOON))
        if wait:
            sleep(wait / 1000)
        return wait is not None

    async def aacquire(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109  # decides whether to take a start
        """The same from a coroutine."""
        import asyncio  # noqa: PLC0415
        from random import uniform  # noqa: PLC0415

        from holdfast.engine import limits as verbs  # noqa: PLC0415

        while (wait := await self._desk.awrite(verbs.pace, self._key, _ms(timeout))) == verbs.AGAIN:  # noqa: ASYNC110
            await asyncio.sleep(uniform(*_SOON))
        if wait:
            await asyncio.sleep(wait / 1000)
        return wait is not None

    def penalise(self, seconds: float) -> None:
        """Give out no starts for so long, to anybody: what to do after a 429."""
        from holdfast.engine import limits as verbs  # noqa: PLC0415
        from holdfast.model.request import check_delay  # noqa: PLC0415

        self._desk.write(verbs.penalise, self._key, check_delay(seconds, "seconds"))

    async def apenalise(self, seconds: float) -> None:
        """The same from a coroutine."""
        from holdfast.engine import limits as verbs  # noqa: PLC0415
        from holdfast.model.request import check_delay  # noqa: PLC0415

        await self._desk.awrite(verbs.penalise, self._key, check_delay(seconds, "seconds"))


def _ms(timeout: float | None) -> int | None:
    from holdfast.model.request import check_delay  # noqa: PLC0415

    return None if timeout is None else check_delay(timeout, "timeout")
