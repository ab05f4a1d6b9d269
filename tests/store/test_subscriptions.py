"""Who hears of ends: each end that fits stores its delivery in the same commit, and where nobody listens it costs nothing."""

from __future__ import annotations

from holdfast.model.decide import decide
from holdfast.model.lease import Lane
from holdfast.model.outcome import Parked
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.model.subscription import DELIVERY, QUEUE, subscription
from holdfast.store import subscriptions
from holdfast.store.port import Ending
from tests.store.given import (
    DONE,
    FAILED,
    HOUR,
    LEASE,
    RAISED,
    cancel,
    claim,
    claim_one,
    ended,
    enqueue,
    finish,
    get,
    listed,
    news_of,
    on_files,
    recover,
    running,
    status,
    write,
)  # fmt: skip
from tests.store.requests import ask

EVERY_END = ("cancelled", "completed", "dead_letter", "failed")


def subscribe(store, name="ops", endpoint="pager", ends=EVERY_END, **which):
    write(store, lambda tx: tx.subscribe(subscription(name, endpoint, ends=ends, **which), "ann"))


def told(store):
    """The bodies of the deliveries, oldest first."""
    jobs = [get(store, job_id) for job_id in reversed(listed(store, type=DELIVERY))]
    assert all((job.queue, job.payload_version) == (QUEUE, 1) for job in jobs)
    return [job.payload for job in jobs]


def test_each_end_is_told_with_what_it_was(store):
    subscribe(store)
    ids = [ended(store, DONE, kind="a"), ended(store, FAILED, kind="b"), ended(store, RAISED, kind="c", max_attempts=1)]
    stopped = enqueue(store, "d", tenant="acme", group="g")
    cancel(store, stopped)
    bodies = [one["body"] for one in told(store)]
    assert [body["data"]["id"] for body in bodies] == [*ids, stopped]
    assert [body["type"] for body in bodies] == ["job.completed", "job.failed", "job.dead_letter", "job.cancelled"]
    assert [(body["data"]["error"] or {}).get("code") for body in bodies] == [None, "HANDLER_ERROR", "HANDLER_ERROR", "CANCELLED"]  # fmt: skip
    assert (bodies[-1]["data"]["tenant"], bodies[-1]["data"]["group"]) == ("acme", "g")
    assert all(body["data"]["completed_at"] == body["timestamp"] for body in bodies)
    assert all("message" not in str(body) and "result" not in body["data"] for body in bodies)


def test_many_ends_of_one_commit_are_told_each(store):
    subscribe(store)
    write(store, lambda tx: tx.insert([NewJob("mail", f'{{"n":{number}}}') for number in range(20)]))
    runs = claim(store, limit=20)
    endings = [Ending(run, decide(run, DONE, DEFAULT_POLICY, spread=0)) for run in runs]
    news = news_of(store, lambda tx: tx.finish(endings))
    assert QUEUE in news.queues
    assert sorted(one["body"]["data"]["id"] for one in told(store)) == sorted(run.id for run in runs)
    assert len({one["id"] for one in told(store)}) == 20


def test_a_retry_is_no_end(store):
    subscribe(store)
    finish(store, running(store), RAISED)
    finish(store, running(store, kind="parked"), Parked("log in", None, None, HOUR))
    assert told(store) == []


def test_an_expired_run_and_a_park_that_nobody_answered_are_told(store, clock):
    subscribe(store, ends=["dead_letter"])
    crashed = running(store, max_attempts=1)
    asked = running(store, kind="parked")
    finish(store, asked, Parked("log in", None, None, HOUR))
    clock.forward(LEASE + 1)
    recover(store)
    clock.forward(HOUR)
    assert write(store, lambda tx: tx.expire_parked(10)) == 1
    assert [one["body"]["data"]["error"]["code"] for one in told(store)] == ["LEASE_EXPIRED", "AUTH_EXPIRED"]
    assert [one["body"]["data"]["id"] for one in told(store)] == [crashed.id, asked.id]


def test_an_ending_that_is_refused_is_told_to_nobody(store):
    subscribe(store, ends=["completed"])
    run = running(store)
    cancel(store, run.id)
    assert not finish(store, run, DONE)
    assert told(store) == []


def test_an_overtaken_run_is_told_as_cancelled(store):
    subscribe(store)
    first, _ = ask(store, sequence=1)
    run = claim_one(store)
    ask(store, sequence=2)
    finish(store, run, DONE)
    (one,) = told(store)
    assert (one["event"], one["body"]["data"]["id"], one["body"]["data"]["error"]["code"]) == (
        "job.cancelled", first, "SUPERSEDED",
    )  # fmt: skip


def test_the_end_of_a_delivery_is_told_to_nobody(store):
    subscribe(store)
    ended(store, DONE)
    assert finish(store, claim_one(store, Lane(QUEUE, DELIVERY)), DONE)
    assert len(told(store)) == 1


def test_a_subscription_of_another_process_is_in_force_after_a_few_seconds(store, other, monkeypatch):
    ended(store, DONE)  # nobody listens, and that is remembered
    subscribe(other)
    ended(store, DONE)
    assert told(store) == []
    now = subscriptions.monotonic()
    monkeypatch.setattr(subscriptions, "monotonic", lambda: now + subscriptions.REMEMBERED + 0.1)
    ended(store, DONE)
    assert len(told(store)) == 1
    assert write(other, lambda tx: tx.unsubscribe("ops"))
    monkeypatch.setattr(subscriptions, "monotonic", lambda: now + 2 * subscriptions.REMEMBERED + 0.2)
    ended(store, DONE)
    assert len(told(store)) == 1


def test_and_at_once_in_its_own(store):
    ended(store, DONE)  # nobody listens, and that is remembered
    subscribe(store)
    ended(store, DONE)
    assert len(told(store)) == 1
    write(store, lambda tx: tx.unsubscribe("ops"))
    ended(store, DONE)
    assert len(told(store)) == 1


def test_where_nobody_listens_an_end_asks_nothing(store, monkeypatch):
    ended(store, DONE)
    asked = []
    monkeypatch.setattr(type(store.begin()), "subscriptions", lambda self: asked.append(self) or [])
    store.roll_back()
    for _ in range(5):
        ended(store, DONE)
    assert asked == []


@on_files
def test_a_full_disk_does_not_keep_a_run_from_its_end(store):
    """A new job is refused there; what belongs to an end is not."""
    subscribe(store)
    run = running(store)
    store._floor = 1 << 60
    assert finish(store, run, DONE)
    assert (status(store, run.id).value, len(told(store))) == ("completed", 1)


def test_there_is_nothing_to_forget(store):
    assert not write(store, lambda tx: tx.unsubscribe("nobody"))
    assert write(store, lambda tx: tx.subscriptions()) == []
