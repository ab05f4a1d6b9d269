"""What `explain` says of a job that stands in line for a limit."""

from __future__ import annotations

from holdfast.engine import limits
from holdfast.engine.explain import explain
from holdfast.engine.leases import exchange
from holdfast.model.lease import Lane
from holdfast.model.limit import fair, limit_of
from holdfast.store.port import Order
from tests.engine.given import enqueue


def says(desk, job_id):
    (reason, *_) = desk.read(explain, job_id)["reasons"]
    assert reason["code"] == "LIMITED"
    return reason["text"]


def put(desk, name, **what):
    desk.write(limits.set_limit, limit_of(name, **what), by="test")


def take(desk):
    return desk.write(exchange, [], [Order("here:1:a", [Lane("default", "mail")], 10, 60_000)]).claims[0]


def test_it_names_the_limit_the_key_and_the_holders(desk):
    put(desk, "domain", concurrency=1)
    first, second = enqueue(desk, limits=["domain:a"]), enqueue(desk, limits=["domain:a"])
    assert "in line for limit 'domain'" in says(desk, first)
    take(desk)
    text = says(desk, second)
    assert "over limit 'domain' (1 at once), key 'domain:a'" in text
    assert first in text


def test_it_names_some_holders_of_many(desk):
    put(desk, "domain", concurrency=5)
    jobs = [enqueue(desk, limits=["domain"]) for _ in range(6)]
    take(desk)
    assert "and others" in says(desk, jobs[5])


def test_it_tells_when_the_next_start_is(desk):
    put(desk, "api", rate=1, per=60)
    first, second = enqueue(desk, limits=["api"]), enqueue(desk, limits=["api"])
    assert "the next at once" in says(desk, first)
    take(desk)
    assert "the next in 60." in says(desk, second)
    put(desk, "api", rate=0)
    assert "lets nothing start" in says(desk, second)


def test_it_tells_of_turns(desk):
    desk.write(limits.set_limit, fair("default"), by="test")
    job = enqueue(desk, tenant="acme")
    assert "tenant 'acme' waits" in says(desk, job)


def test_a_key_whose_limit_is_gone(desk):
    put(desk, "domain", concurrency=0)
    job = enqueue(desk, limits=["domain"])
    desk.write(limits.drop, "domain", by="test")
    assert "no limit" in says(desk, job)


def test_a_job_that_is_not_due_is_not_over_a_limit(desk):
    put(desk, "domain", concurrency=0)
    job = enqueue(desk, limits=["domain"], delay=60)
    assert desk.read(explain, job)["reasons"][0]["code"] == "NOT_DUE"
    assert "LIMITED" not in [reason["code"] for reason in desk.read(explain, job)["reasons"]]


def test_it_tells_when_one_that_stood_aside_is_back_in_line(desk, clock):
    put(desk, "one", concurrency=1)
    job = enqueue(desk, "unknown", priority=1, limits=["one"])
    enqueue(desk, limits=["one"])
    take(desk)
    clock.forward(6_000)
    assert len(take(desk)) == 1
    (reason,) = [one for one in desk.read(explain, job)["reasons"] if one["code"] == "STOOD_ASIDE"]
    assert "no live worker knew a type; back in line for key 'one' in 60 s, or when a worker starts" in reason["text"]
