"""Limits for each host, and other odds of who may be admitted."""

from __future__ import annotations

from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.store import limits as kept
from tests.store.given import DONE, MAIL, SECOND, enqueue, finish, get, insert, on_servers, status, write
from tests.store.limited import drop, limit, rule, take

OTHER = Lane("other", "mail")


def ids(claims):
    return [claim.id for claim in claims]


def test_each_host_has_units_of_its_own(store, clock):
    limit(store, "gpu", concurrency=1, scope="host")
    jobs = [enqueue(store, limits=["gpu"]) for _ in range(4)]
    here = take(store, owner="here:1:a")
    assert ids(here) == jobs[:1]
    assert take(store, owner="here:2:b") == []
    clock.forward(100)
    there = take(store, owner="there:1:a")
    assert ids(there) == jobs[1:2]
    clock.forward(100)
    assert take(store, owner="there:1:a") == []
    finish(store, here[0], DONE)
    clock.forward(100)
    assert ids(take(store, owner="here:1:a")) == jobs[2:3]


def test_a_host_admits_only_what_it_takes(store, clock):
    limit(store, "gpu", concurrency=1, scope="host")
    job = enqueue(store, queue="other", limits=["gpu"])
    assert take(store, owner="here:1:a") == []
    assert get(store, job).lane == "gpu"
    clock.forward(100)
    assert ids(take(store, OTHER, owner="there:1:a")) == [job]


def test_a_host_hands_back_what_is_too_much_for_it(store, clock):
    jobs = [enqueue(store, limits=["gpu"]) for _ in range(2)]
    write(store, lambda tx: tx.admit())  # without a limit both may be claimed
    limit(store, "gpu", concurrency=1, scope="host")
    (run,) = take(store, owner="here:1:a")
    assert run.id == jobs[0]
    assert (status(store, jobs[1]), get(store, jobs[1]).attempts) == ("queued", 0)
    finish(store, run, DONE)
    clock.forward(100)
    assert ids(take(store, owner="here:1:a")) == [jobs[1]]


def test_names_of_hosts_are_taken_as_they_are(store, clock):
    limit(store, "gpu", concurrency=1, scope="host")
    for _ in range(2):
        enqueue(store, limits=["gpu"])
    assert len(take(store, owner="a_c:1:a")) == 1
    clock.forward(100)
    assert len(take(store, owner="abc:1:a")) == 1


def test_many_lines_are_looked_at_when_a_limit_is_said_anew(store, clock):
    limit(store, "wall", concurrency=0)
    insert(store, *[NewJob("mail", "{}", limits=[f"wall:{number}"]) for number in range(450)])
    for _ in range(4):
        assert take(store) == []
    limit(store, "wall", concurrency=1)
    assert sum(len(take(store, limit=1000)) for _ in range(3)) == 450


def test_a_line_longer_than_one_step(store):
    limit(store, "wall", concurrency=1000)
    insert(store, *[NewJob("mail", "{}", limits=["wall"])] * 250)
    assert len(take(store, limit=1000)) == 250


def test_a_swap_that_has_nothing_to_swap_with(store):
    limit(store, "domain", concurrency=1)
    same = enqueue(store, queue="other", limits=["domain"], priority=2)
    assert take(store) == []
    enqueue(store, limits=["domain"], priority=2)
    assert take(store) == []
    assert ids(take(store, OTHER)) == [same]


def test_a_unit_that_nobody_claims_is_left_alone_if_nobody_waits(store, clock):
    limit(store, "domain", concurrency=1)
    job = enqueue(store, queue="other", limits=["domain"])
    assert take(store) == []
    clock.forward(6 * SECOND)
    assert take(store) == []
    assert get(store, job).lane is None
    clock.forward(6 * SECOND)
    assert ids(take(store, OTHER)) == [job]


def test_there_is_nothing_to_admit(store):
    assert write(store, lambda tx: tx.admit()) == 0
    write(store, lambda tx: tx.tie_limits([]))
    assert write(store, lambda tx: tx.resume("never paused")) is False
    assert write(store, lambda tx: tx.retry("nobody")) is False
    write(store, lambda tx: (tx.line_up([]), tx.look([]), tx.tell_lines([]), tx.free_units(["nobody"])))
    assert write(store, lambda tx: tx.drop_limit("nobody")) is False
    assert write(store, lambda tx: tx.over_host([])) == []


def test_a_line_that_has_no_room_for_a_rate_and_a_number(store, clock):
    limit(store, "a", concurrency=1)
    limit(store, "b", rate=1, per=10)
    first = enqueue(store, limits=["a", "b"])
    second = enqueue(store, limits=["a", "b"])
    third = enqueue(store, limits=["b"])
    (run,) = take(store)
    assert run.id == first
    finish(store, run, DONE)
    assert take(store) == []
    clock.forward(11 * SECOND)
    (run,) = take(store)
    assert run.id in (second, third)
    finish(store, run, DONE)
    clock.forward(11 * SECOND)
    assert len(take(store)) == 1


def test_units_of_nobody_are_dropped(store, clock):
    limit(store, "domain", concurrency=1)
    first, second = enqueue(store, limits=["domain"]), enqueue(store, limits=["domain"])
    (run,) = take(store)
    write(store, lambda tx: tx.run("units_take", units=f'[["domain","{second}"],["domain","gone"]]', now=tx.stamp))
    finish(store, run, DONE)
    assert take(store) == []
    clock.forward(kept.STRAY_MS + SECOND)
    write(store, lambda tx: tx.forget(workers_ms=10**9, figures_ms=10**9, audit_ms=10**9))
    assert ids(take(store)) == [second]
    assert first != second


def test_a_newest_job_stands_in_line_when_the_run_before_it_is_over(store):
    limit(store, "domain", concurrency=1)

    def ask():
        job = NewJob("mail", "{}", coalesce_key="k", limits=["domain"])
        return write(store, lambda tx: tx.coalesce(job))

    first, _ = ask()
    (run,) = take(store)
    second, outcome = ask()
    assert (run.id, outcome) == (first, "created")
    assert take(store) == []
    finish(store, run, DONE)
    assert ids(take(store)) == [second]


def test_a_newer_request_brings_a_job_in_line_forward(store):
    limit(store, "domain", concurrency=1)
    later = NewJob("mail", "{}", coalesce_key="k", limits=["domain"], delay=60)
    first, _ = write(store, lambda tx: tx.coalesce(later))
    assert take(store) == []
    now = NewJob("mail", "{}", coalesce_key="k", limits=["domain"])
    assert write(store, lambda tx: tx.coalesce(now)) == (first, "replaced")
    assert ids(take(store)) == [first]


@on_servers
def test_who_does_not_get_the_lock_leaves_it_to_the_one_that_has_it(open_store, clock):
    one, two = open_store(clock), open_store(clock)
    one.migrate()
    limit(one, "domain", concurrency=1)
    job = enqueue(one, limits=["domain"])
    tx = one.begin()
    assert tx.lock_limits()
    assert take(two) == []
    assert two.read(lambda tx: tx.next_due([MAIL])) > clock.now
    one.roll_back()
    assert ids(take(two)) == [job]


@on_servers
def test_what_another_transaction_has_in_its_hands_is_left_alone(open_store, clock):
    one, two = open_store(clock), open_store(clock)
    one.migrate()
    limit(one, "domain", concurrency=1)
    unknown = enqueue(one, "unknown", limits=["domain"])
    waits = enqueue(one, limits=["domain"])
    assert take(two) == []
    clock.forward(6 * SECOND)
    tx = one.begin()
    assert tx.cancel(unknown, tenant=None, graceful=False, error="{}") == "queued"
    assert take(two) == []
    one.commit()
    assert ids(take(two)) == [waits]


def test_a_rule_that_is_dropped_before_it_was_heard_of(store, clock):
    from holdfast.model.limit import exclusive

    rule(store, exclusive("default"))
    drop(store, "exclusive:default")
    clock.forward(10 * SECOND)
    job = enqueue(store)
    assert ids(take(store)) == [job]


@on_servers
def test_a_pace_that_another_has_in_its_hands_is_asked_for_again(open_store, clock):
    from holdfast.engine import limits

    one, two = open_store(clock), open_store(clock)
    one.migrate()
    limit(one, "api", rate=10)
    write(one, lambda tx: limits.pace(tx, "api", None))
    enqueue(one, limits=["api"])
    clock.forward(SECOND)
    tx = one.begin()
    limits.pace(tx, "api", None)
    assert write(two, lambda tx: limits.pace(tx, "api", None)) == limits.AGAIN
    assert take(two) == []
    one.roll_back()
    clock.forward(SECOND)
    assert len(take(two)) == 1
