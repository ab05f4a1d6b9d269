"""`app.webhooks`: deliveries are jobs, so they are durable, retried, seen and cancelled like any other.

A job holds the name of its endpoint, the event, the id and the body. Address and secrets are looked up when it runs:
neither is ever stored, and a changed one counts from the next attempt on. Each attempt is recorded in the progress.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import re
from datetime import datetime
from ipaddress import ip_network
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast import __version__
from holdfast.engine import jobs
from holdfast.handler import register
from holdfast.model import stamp
from holdfast.model.errors import BadInput, Conflict, Permanent, Retry
from holdfast.model.ids import new_ids
from holdfast.model.request import check_count, check_name, check_options, shown
from holdfast.model.subscription import ATTEMPTS, DELIVERY, QUEUE, Subscription, subscription
from holdfast.webhooks.endpoint import PATIENT, Endpoint
from holdfast.webhooks.target import Rules, check_url
from holdfast.webhooks.verdict import asked_wait, curable, delivered, explanation
from holdfast.wiring import needs
from holdfast.worker.context import JobContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.app import App
    from holdfast.handle import Handle
    from holdfast.model.job import Job
    from holdfast.model.request import NewJob
    from holdfast.store.port import Transaction
    from holdfast.webhooks.courier import Courier

TYPE = DELIVERY
_WHICH = frozenset({"types", "queues", "groups", "tenant", "with_result", "max_attempts"})
_RUN_SECONDS = 120  # an attempt has its own, shorter limit; this one is for a finder that hangs
_MOST_RECORDED = 50
_CURABLE = {"WEBHOOK_ENDPOINT", "WEBHOOK_SECRET"}  # another worker may know more, or this one after a deploy
_LAST_PORT = 65_535
_EVENT = re.compile(r"[A-Za-z0-9._-]{1,100}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")  # no full stop: it separates what is signed


class Webhooks:
    """Endpoints, and deliveries to them."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._rules = Rules()
        self._endpoints: dict[str, Endpoint] = {}
        self._finder: Callable[[str, str], Any] | None = None
        self._courier: Courier | None = None
        _register(app, self)

    # -- who receives

    def allow(self, *, http: bool = False, private: Iterable[str] = (), ports: Iterable[int] = ()) -> None:
        """Widen where deliveries may go: plain http, networks that are not public, ports beside the usual one."""
        try:
            networks = tuple(ip_network(network) for network in private)
        except ValueError as error:
            raise BadInput("BAD_OPTION", f"private is a list of networks, such as 10.1.2.0/24: {error}") from None
        more = frozenset(check_count("a port", port, _LAST_PORT) for port in ports)
        rules = self._rules
        self._rules = Rules(http=rules.http or http, private=rules.private + networks, ports=rules.ports | more)

    def add(self, name: str, url: str, **settings: Any) -> Endpoint:
        """Name an endpoint: `add("billing", "https://example.com/hook", secrets=["env:BILLING_WEBHOOK_SECRET"])`."""
        _check_extra()
        endpoint = Endpoint(url=url, **settings)
        check_url(url, self._rules)
        self._endpoints[check_name("endpoint", name)] = endpoint
        return endpoint

    def find(self, function: Callable[[str, str], Any]) -> Callable[[str, str], Any]:
        """Register a function (or coroutine) that answers the Endpoint of a name and tenant, or None.

        For endpoints that live in the application's own tables; it is asked at each attempt.
        """
        _check_extra()
        self._finder = function
        return function

    # -- what is sent

    def deliver(self, endpoint: str, event: str, data: Any = None, *, connection: Any = None, **more: Any) -> Handle:
        """Enqueue a delivery. Its body is `{"type": event, "timestamp": ..., "data": data}`, or `body` as it is.

        `id` names the event: the same one is delivered to an endpoint once. Beside it say when it happened
        (`occurred_at`). Everything else is an option of the job, such as `group`, `tenant`, `delay`.
        """
        return self._app.store([self.request(endpoint, event, data, **more)], connection)[0]

    async def adeliver(
        self, endpoint: str, event: str, data: Any = None, *, connection: Any = None, **more: Any
    ) -> Handle:
        """Enqueue a delivery from a coroutine."""
        return (await self._app.astore([self.request(endpoint, event, data, **more)], connection))[0]

    def request(
        self,
        endpoint: str,
        event: str,
        data: Any = None,
        *,
        id: str | None = None,
        occurred_at: datetime | None = None,
        body: dict[str, Any] | None = None,
        **options: Any,
    ) -> NewJob:
        """The job of a delivery, checked but not stored."""
        known = self._endpoints.get(check_name("endpoint", endpoint))
        if known is None and self._finder is None:
            names = ", ".join(sorted(self._endpoints)) or "none"
            raise BadInput("WEBHOOK_ENDPOINT", f"no endpoint {endpoint!r:.50}; there are: {names}")
        _check_text("event", event, _EVENT)
        if body is None:
            body = {"type": event, "timestamp": _timestamp(id, occurred_at), "data": data}
        elif data is not None:
            raise BadInput("BAD_OPTION", "give data, which is wrapped, or body, which is sent as it is; not both")
        if id is not None:
            _check_text("id", id, _ID)
            options.setdefault("key", f"webhook:{endpoint}:{id}")
        options.setdefault("max_attempts", ATTEMPTS if known is None else known.max_attempts)
        payload = {"endpoint": endpoint, "event": event, "id": id or f"msg_{new_ids(_now_ms(), 1)[0]}", "body": body}
        return self._app.new_job(TYPE, payload, options)

    def replay(self, job_id: str) -> Handle:
        """Deliver once more what an ended delivery held: a new job, the same `webhook-id`."""
        job = self._app.get(job_id)
        if job.type != TYPE:
            raise BadInput("BAD_OPTION", f"job {job_id} is of type {job.type!r:.50}, not a delivery: `job retry` it")
        if not job.ended:
            raise Conflict("WRONG_STATUS", f"delivery {job_id} is {job.status.value}: it has not ended, let it go on")
        options = {name: getattr(job, name) for name in ("queue", "priority", "tenant", "group", "max_attempts")}
        return self._app.enqueue(TYPE, job.payload, context=job.context or None, **options)

    # -- ends of jobs

    def subscribe(
        self, name: str, endpoint: str, *, ends: Iterable[str], actor: str | None = None, **which: Any
    ) -> Subscription:
        """Tell an endpoint when jobs end: `subscribe("ops", "pager", ends=["dead_letter"], types=["charge"])`.

        `types`, `queues`, `groups` and `tenant` narrow it; `with_result=True` tells the job's result, too. Stored: one
        of the same name is changed. In force everywhere within five seconds.
        """
        check_options(which, _WHICH)
        one = subscription(name, endpoint, ends=ends, **which)
        self._app.desk.write(_subscribe, one, actor or "code")
        return one

    def unsubscribe(self, name: str) -> bool:
        """Tell it no more; False if there is no subscription of that name. What is under way is delivered."""
        return self._app.desk.write(_unsubscribe, name)

    def subscriptions(self) -> list[Subscription]:
        """Who hears of the ends of which jobs."""
        return self._app.desk.read(_subscriptions)

    # -- the run

    async def run(self, job: JobContext, name: str, *, event: str, id: str, body: dict[str, Any]) -> dict[str, Any]:
        """One attempt: sent, recorded, and judged."""
        began, now = monotonic(), time()
        backoff = PATIENT
        trouble: _Trouble | None
        record: dict[str, Any] = {"attempt": job.attempt, "at": stamp.to_text(int(now * 1000))}
        from holdfast.webhooks.courier import Unreachable  # noqa: PLC0415  # needs the extra

        try:
            _check_text("event", event, _EVENT)  # a job can be enqueued by name, past `deliver`
            _check_text("id", id, _ID)
            endpoint = await self._endpoint(name, job.tenant)
            backoff = endpoint.backoff
            answer = await self._carry(endpoint, event=event, id=id, body=_bytes(body), now=now)
        except BadInput as error:
            trouble = _Trouble(error.code, str(error), again=error.code in _CURABLE)
            record["error"] = error.code
        except Unreachable as error:
            trouble = _Trouble("WEBHOOK_UNREACHABLE", str(error))
            record["error"] = error.what
        else:
            record |= {"status": answer.status, "bytes": answer.bytes} | ({"cut": True} if answer.cut else {})
            trouble = _judged(answer.status, asked_wait(answer.retry_after, now))
        record["seconds"] = round(monotonic() - began, 3)
        await self._record(job, record)
        if trouble is None:
            return {"id": id, **record}
        raise trouble.ending(backoff.delay_ms(job.attempt, random.random()) / 1000)

    async def _endpoint(self, name: str, tenant: str) -> Endpoint:
        if (known := self._endpoints.get(name)) is not None:
            return known
        found = None
        if self._finder is not None:
            found = await asyncio.to_thread(self._finder, name, tenant)
            if inspect.isawaitable(found):
                found = await found
        if isinstance(found, Endpoint):
            return found
        raise BadInput("WEBHOOK_ENDPOINT", f"this worker knows no endpoint {name!r:.50}: was it deployed with it?")

    async def _carry(self, endpoint: Endpoint, **what: Any) -> Any:
        if self._courier is None:
            from holdfast.webhooks.courier import Courier  # noqa: PLC0415

            self._courier = Courier(f"Holdfast/{__version__}")
        return await self._courier.carry(endpoint, self._rules, **what)

    async def _record(self, job: JobContext, record: dict[str, Any]) -> None:
        """Add the attempt to those before it; the job's row is the delivery's record."""
        made = attempts_of(await self._app.desk.aread(jobs.get, job.id))
        job.partial({"attempts": [*made, record][-_MOST_RECORDED:]})
        await job.aflush()


class _Trouble(NamedTuple):
    """Why an attempt did not deliver, and whether another one may."""

    code: str
    text: str
    again: bool = True
    wait: float = 0.0

    def ending(self, delay: float) -> Permanent | Retry:
        error = Retry(self.text, after=max(delay, self.wait)) if self.again else Permanent(self.text)
        error.code = self.code
        return error


def _subscribe(tx: Transaction, one: Subscription, by: str) -> None:
    tx.subscribe(one, by)


def _unsubscribe(tx: Transaction, name: str) -> bool:
    return tx.unsubscribe(name)


def _subscriptions(tx: Transaction) -> list[Subscription]:
    return tx.subscriptions()


def attempts_of(job: Job) -> list[dict[str, Any]]:
    """The recorded attempts of a delivery."""
    made = ((job.progress or {}).get("partial") or {}).get("attempts")
    return made if isinstance(made, list) else []


def _register(app: App, webhooks: Webhooks) -> None:
    async def webhook(job: JobContext, endpoint: str, event: str, id: str, body: dict[str, Any]) -> dict[str, Any]:
        return await webhooks.run(job, endpoint, event=event, id=id, body=body)

    settings = {"type": TYPE, "queue": QUEUE, "max_attempts": ATTEMPTS, "timeout": _RUN_SECONDS, "backoff": PATIENT}
    register(app, webhook, settings)


def _check_extra() -> None:
    """Tell what is missing where endpoints are named, not when the first delivery fails."""
    with needs("webhooks"):
        import holdfast.webhooks.courier  # noqa: F401, PLC0415


def _judged(status: int, wait: float) -> _Trouble | None:
    if delivered(status):
        return None
    return _Trouble("WEBHOOK_ANSWER", f"the receiver answered {explanation(status)}", again=curable(status), wait=wait)


def _timestamp(id: str | None, occurred_at: object) -> str:
    if occurred_at is None:
        if id is not None:
            raise BadInput("BAD_OPTION", "an event with an id of its own has a time of its own, too: give occurred_at")
        return stamp.to_text(_now_ms())
    if not isinstance(occurred_at, datetime) or occurred_at.tzinfo is None:
        raise BadInput("BAD_OPTION", f"occurred_at is a datetime with a time zone, not {shown(occurred_at)}")
    return stamp.to_text(stamp.from_datetime(occurred_at))


def _check_text(what: str, text: object, form: re.Pattern[str]) -> None:
    if not isinstance(text, str) or not form.fullmatch(text):
        also = ", full stops" if form is _EVENT else ""
        raise BadInput("BAD_OPTION", f"{what} is up to 100 letters, digits, _, -{also}; not {shown(text)}")


def _bytes(body: dict[str, Any]) -> bytes:
    """What goes over the wire: the same at every attempt."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _now_ms() -> int:
    return int(time() * 1000)
