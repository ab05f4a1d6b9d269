"""Queues with rules: tenants that take turns, and queues that exclude each other."""

from __future__ import annotations

import json

from holdfast.model.lease import Lane
from holdfast.model.limit import exclusive, fair
from holdfast.model.request import NewJob
from tests.store.given import DONE, MAIL, SECOND, enqueue, finish, get, insert, write
from tests.store.limited import drop, limit, rule, take

GPU, BROWSER = Lane("gpu", "mail"), Lane("browser", "mail")


def many(store, count, **options):
    job = NewJob("mail", "{}", **options)
    return [stored.id for stored in insert(store, *[job.with_payload("{}") for _ in range(count)])]


def taken(store, count, limit=1):
    """The tenants of the next jobs, in their order."""
    found = []
    while len(found) < count:
        runs = take(store, limit=limit)
        assert runs, "nothing to claim"
        found += [run.tenant for run in runs]
        for run in runs:
            finish(store, run, DONE)
    return found


def test_a_tenant_with_one_job_is_not_behind_all_of_another(store):
    rule(store, fair("default"))
    many(store, 200, tenant="big")
    taken(store, 10)
    enqueue(store, tenant="small")
    assert "small" in taken(store, 10)


def test_the_same_when_many_are_claimed_at_once(store):
    rule(store, fair("default"))
    many(store, 200, tenant="big")
    enqueue(store, tenant="small")
    assert "small" in [run.tenant for run in take(store, limit=10)]


def test_tenants_take_turns_by_weight(store):
    rule(store, fair("default", {"acme": 2}))
    many(store, 300, tenant="acme", priority=9)
    many(store, 300, tenant="other", priority=1)
    tenants = taken(store, 240, limit=24)
    assert abs(tenants.count("acme") - 160) <= 16


def test_priority_orders_inside_a_tenant(store):
    rule(store, fair("default"))
    many(store, 20, tenant="a", priority=9)
    (first,) = many(store, 1, tenant="a", priority=1)
    assert take(store, limit=1)[0].id == first


def test_everything_gets_its_turn(store):
    rule(store, fair("default"))
    for tenant in "abc":
        many(store, 15, tenant=tenant)
    assert sorted(taken(store, 45, limit=7)) == ["a"] * 15 + ["b"] * 15 + ["c"] * 15


def test_a_queue_that_is_no_longer_shared_goes_on(store):
    rule(store, fair("default"))
    many(store, 30, tenant="a")
    taken(store, 3)
    drop(store, "fair:default")
    assert len(take(store, limit=100)) == 27
    many(store, 1, tenant="a")
    assert get(store, many(store, 1, tenant="a")[0]).held == 0


def test_jobs_that_waited_before_the_rule_are_shared_soon(store, clock):
    many(store, 50, tenant="big")
    rule(store, fair("default"))
    clock.forward(7 * SECOND)
    take(store, Lane("nowhere", "mail"))
    clock.forward(7 * SECOND)
    enqueue(store, tenant="small")
    assert "small" in taken(store, 12)


def test_of_queues_that_exclude_each_other_one_job_runs(store):
    rule(store, exclusive("gpu", "browser"))
    first = enqueue(store, queue="gpu")
    second = enqueue(store, queue="browser", limits=["x"])
    (run,) = take(store, GPU, BROWSER)
    assert run.id == first
    assert take(store, GPU, BROWSER) == []
    plain = enqueue(store)
    assert take(store, GPU, BROWSER, MAIL)[0].id == plain
    finish(store, run, DONE)
    assert take(store, GPU, BROWSER)[0].id == second


def test_a_lone_job_of_such_a_queue_is_ruled_too(store):
    rule(store, exclusive("gpu"))
    store.insert_alone(NewJob("mail", "{}", queue="gpu"))
    store.insert_alone(NewJob("mail", "{}", queue="gpu"))
    assert len(take(store, GPU)) == 1


def test_what_nobody_claims_lets_others_go_before_it(store, clock):
    rule(store, exclusive("gpu", "browser"))
    paused = [enqueue(store, queue="gpu") for _ in range(3)]
    write(store, lambda tx: tx.pause("gpu", "test"))
    waits = enqueue(store, queue="browser")
    assert take(store, GPU, BROWSER) == []
    clock.forward(6 * SECOND)
    (run,) = take(store, GPU, BROWSER)
    assert run.id == waits
    write(store, lambda tx: tx.resume("gpu"))
    finish(store, run, DONE)
    assert take(store, GPU, BROWSER)[0].id == paused[0]


def test_those_who_stood_aside_come_back_after_a_while(store, clock):
    rule(store, exclusive("gpu", "browser"))
    unknown = enqueue(store, "unknown", queue="gpu")
    first, second = enqueue(store, queue="browser"), enqueue(store, queue="browser")
    assert take(store, BROWSER) == []
    clock.forward(6 * SECOND)
    (run,) = take(store, BROWSER)
    assert run.id == first
    clock.forward(61 * SECOND)
    finish(store, run, DONE)
    assert take(store, BROWSER) == []
    (known,) = take(store, Lane("gpu", "unknown"), BROWSER)
    assert known.id == unknown
    finish(store, known, DONE)
    assert take(store, BROWSER)[0].id == second


def test_what_a_busy_worker_would_take_does_not_stand_aside(store, clock):
    """Whoever hands in ends without asking for more, or asks for other types, knows nothing of what others take."""
    limit(store, "one", concurrency=1)
    first = enqueue(store, priority=1, limits=["one"])
    enqueue(store, "other", limits=["one"])
    beat(store, "busy", MAIL)
    take(store, Lane("default", "else"))
    clock.forward(6 * SECOND)
    write(store, lambda tx: tx.admit())
    assert take(store, Lane("default", "other")) == []
    assert take(store)[0].id == first


def test_those_who_stood_aside_come_back_when_a_worker_starts(store, clock):
    limit(store, "one", concurrency=2)
    unknown = [enqueue(store, "unknown", priority=1, limits=["one"]) for _ in range(3)]
    waits = enqueue(store, limits=["one"])
    take(store)
    clock.forward(6 * SECOND)
    assert take(store)[0].id == waits
    beat(store, "new", Lane("default", "unknown"))
    (known,) = take(store, Lane("default", "unknown"))
    assert known.id == unknown[0]


def beat(store, name, *lanes):
    told = json.dumps([list(lane) for lane in lanes])
    worker = {"id": name, "host": "host", "pid": 1, "lanes": told, "places": 1, "running": 0}
    write(store, lambda tx: tx.beat(worker))


def test_many_that_nobody_claims_do_not_take_turns_for_ever(store, clock):
    limit(store, "one", concurrency=1)
    for kind in ("unknown", "stranger", "nobody"):
        enqueue(store, kind, priority=1, limits=["one"])
    waits = [enqueue(store, limits=["one"]) for _ in range(3)]
    done = []
    for _ in range(90):
        done += [run.id for run in take(store) if finish(store, run, DONE)]
        clock.forward(SECOND)
    assert done == waits


def test_a_tenant_joins_a_round_that_has_begun_from_another_line(store):
    limit(store, "wall", concurrency=0)
    rule(store, fair("default"))
    enqueue(store, tenant="b", limits=["wall"])
    assert take(store) == []
    many(store, 6, tenant="a")
    assert len(take(store, limit=1)) == 1
    limit(store, "wall", concurrency=1000)
    assert "b" in taken(store, 6)


def test_a_share_is_asked_for_from_another_line(store):
    limit(store, "wall", concurrency=0)
    rule(store, fair("default"))
    many(store, 6, tenant="a", limits=["wall"])
    assert take(store, limit=100) == []
    limit(store, "wall", concurrency=1000)
    assert len(taken(store, 6, limit=100)) == 6


def test_a_share_counts_whichever_line_a_job_stands_in(store):
    limit(store, "wall", concurrency=0)
    rule(store, fair("default"))
    many(store, 20, tenant="big", limits=["wall"])
    assert take(store, limit=100) == []
    limit(store, "wall", concurrency=1000)
    enqueue(store, tenant="small")
    runs = take(store, limit=10)
    assert "small" in [run.tenant for run in runs]
    for run in runs:
        finish(store, run, DONE)
    assert len(taken(store, 21 - len(runs), limit=50)) == 21 - len(runs)


def test_a_share_that_nobody_claims_does_not_stop_the_turns(store, clock):
    rule(store, fair("default"))
    for _ in range(3):
        insert(store, NewJob("unknown", "{}", tenant="odd"))
    many(store, 40, tenant="good")
    for _ in range(40):
        for run in take(store, limit=10):
            finish(store, run, DONE)
        clock.forward(3 * SECOND)
    waiting = store.read(lambda tx: tx.list_jobs({"status": "queued"}, "~", 100)[0])
    assert {job.tenant for job in waiting} == {"odd"}
