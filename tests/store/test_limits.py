"""Limits: at most so many at once per key, wherever they run; what is over a limit waits and is in nobody's way."""

from __future__ import annotations

import pytest

from holdfast.model.lease import Lane
from holdfast.model.outcome import Snoozed
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from tests.store.given import (
    CRASHED,
    DONE,
    FAILED,
    LEASE,
    MAIL,
    RAISED,
    SECOND,
    cancel,
    dead,
    enqueue,
    finish,
    get,
    insert,
    recover,
    retry,
    status,
)
from tests.store.limited import drop, limit, take

OTHER = Lane("other", "mail")


def ids(claims):
    return [claim.id for claim in claims]


def test_at_most_so_many_run_at_once(store):
    limit(store, "domain", concurrency=2)
    jobs = [enqueue(store, limits=["domain:a"]) for _ in range(5)]
    first = take(store)
    assert ids(first) == jobs[:2]
    assert take(store) == []
    assert finish(store, first[0], DONE)
    (third,) = take(store)
    assert third.id == jobs[2]
    assert take(store) == []


def test_each_key_of_a_family_counts_for_itself(store):
    limit(store, "domain", concurrency=1)
    a, _ = enqueue(store, limits=["domain:a"]), enqueue(store, limits=["domain:a"])
    b = enqueue(store, limits=["domain:b"])
    assert ids(take(store)) == [a, b]


def test_a_limit_of_its_own_name_beats_that_of_the_family(store):
    limit(store, "domain", concurrency=1)
    limit(store, "domain:big", concurrency=3)
    jobs = [enqueue(store, limits=["domain:big"]) for _ in range(4)]
    assert ids(take(store)) == jobs[:3]


def test_a_key_without_a_limit_is_unlimited(store):
    jobs = [enqueue(store, limits="nobody:knows") for _ in range(5)]
    assert ids(take(store)) == jobs


def test_jobs_over_a_limit_are_in_nobodys_way(store):
    limit(store, "domain", concurrency=1)
    held = [enqueue(store, limits=["domain:a"], priority=1) for _ in range(3)]
    plain = enqueue(store, priority=9)
    assert ids(take(store)) == [held[0], plain]


def test_the_best_priority_goes_first_within_a_line(store):
    limit(store, "domain", concurrency=1)
    enqueue(store, limits=["domain:a"], priority=7)
    better = enqueue(store, limits=["domain:a"], priority=2)
    (run,) = take(store)
    assert run.id == better


def test_a_better_job_takes_the_place_of_one_that_nobody_has_claimed(store):
    limit(store, "domain", concurrency=1)
    worse = enqueue(store, queue="other", limits=["domain:a"], priority=7)
    assert take(store) == []  # admitted, by a worker that does not draw from its queue
    assert get(store, worse).held == 0
    better = enqueue(store, limits=["domain:a"], priority=2)
    (run,) = take(store)
    assert run.id == better
    assert take(store, OTHER) == []
    finish(store, run, DONE)
    assert ids(take(store, OTHER)) == [worse]


def test_a_job_waits_for_all_its_keys(store):
    limit(store, "domain", concurrency=1)
    limit(store, "tenant", concurrency=1)
    first = enqueue(store, limits=["domain:a", "tenant:x"])
    second = enqueue(store, limits=["domain:b", "tenant:x"])
    third = enqueue(store, limits=["domain:a", "tenant:y"])
    (run,) = take(store)
    assert run.id == first
    fourth = enqueue(store, limits=["domain:b", "tenant:y"])
    assert ids(take(store)) == [fourth]
    finish(store, run, DONE)
    assert take(store) == []  # b and y are taken by the fourth
    assert {status(store, second), status(store, third)} == {Status.QUEUED}


@pytest.mark.parametrize("outcome", [DONE, FAILED, RAISED, Snoozed(5), CRASHED], ids=repr)
def test_every_ending_frees_the_unit(store, clock, outcome):
    limit(store, "domain", concurrency=1)
    enqueue(store, limits=["domain:a"])
    second = enqueue(store, limits=["domain:a"])
    (run,) = take(store)
    finish(store, run, outcome)
    assert second in ids(take(store)) or outcome == CRASHED
    clock.forward(10 * SECOND)


def test_a_job_that_is_tried_again_stands_in_line_again(store, clock):
    limit(store, "domain", concurrency=1)
    first, second = enqueue(store, limits=["domain:a"]), enqueue(store, limits=["domain:a"])
    (run,) = take(store)
    finish(store, run, RAISED)
    (other,) = take(store)
    assert other.id == second
    clock.forward(10 * SECOND)
    assert take(store) == []
    finish(store, other, DONE)
    assert ids(take(store)) == [first]


def test_a_lease_that_ran_out_frees_the_unit(store, clock):
    limit(store, "domain", concurrency=1)
    first, second = enqueue(store, limits=["domain:a"]), enqueue(store, limits=["domain:a"])
    assert ids(take(store)) == [first]
    clock.forward(LEASE + 1)
    assert recover(store) == [True]
    again = take(store)
    assert len(again) == 1
    finish(store, again[0], DONE)
    assert ids([*again, *take(store)]) in ([first, second], [second, first])


def test_a_job_that_is_not_due_yet_holds_nothing(store, clock):
    limit(store, "domain", concurrency=1)
    later = enqueue(store, limits=["domain:a"], delay=60, priority=1)
    now = enqueue(store, limits=["domain:a"])
    (run,) = take(store)
    assert run.id == now
    finish(store, run, DONE)
    clock.forward(60 * SECOND)
    assert ids(take(store)) == [later]


def test_a_waiting_job_that_is_cancelled_leaves_its_place_to_the_next(store):
    limit(store, "domain", concurrency=1)
    first = enqueue(store, queue="other", limits=["domain:a"])
    second = enqueue(store, limits=["domain:a"])
    assert take(store) == []  # the first is admitted
    cancel(store, first)
    assert ids(take(store)) == [second]


def test_a_run_that_is_cancelled_holds_its_unit_until_its_handler_stops_or_its_lease_is_over(store, clock):
    limit(store, "domain", concurrency=1)
    jobs = [enqueue(store, limits=["domain:a"]) for _ in range(3)]
    (run,) = take(store)
    cancel(store, run.id)
    assert take(store) == []
    clock.forward(LEASE + 1)
    (second,) = take(store)
    assert second.id == jobs[1]
    cancel(store, second.id)
    assert take(store) == []
    store.write([lambda tx: tx.free_units([second.id])])
    assert ids(take(store)) == [jobs[2]]


def test_a_graceful_cancel_frees_the_unit_when_the_run_ends(store):
    limit(store, "domain", concurrency=1)
    _, second = enqueue(store, limits=["domain:a"]), enqueue(store, limits=["domain:a"])
    (run,) = take(store)
    cancel(store, run.id, graceful=True)
    assert take(store) == []
    finish(store, run, DONE)
    assert ids(take(store)) == [second]


def test_a_retry_by_hand_stands_in_line(store):
    limit(store, "domain", concurrency=1)
    enqueue(store, limits=["domain:a"], max_attempts=1)
    (run,) = take(store)
    finish(store, run, RAISED)
    (other,) = [enqueue(store, limits=["domain:a"])]
    assert ids(take(store)) == [other]
    assert retry(store, run.id)
    assert take(store) == []
    plain = dead(store)
    assert retry(store, plain)
    assert ids(take(store)) == [plain]


def test_a_higher_limit_lets_more_run_and_a_lower_one_drains(store):
    limit(store, "domain", concurrency=1)
    jobs = [enqueue(store, limits=["domain:a"]) for _ in range(6)]
    runs = take(store)
    limit(store, "domain", concurrency=3)
    runs += take(store)
    assert ids(runs) == jobs[:3]
    limit(store, "domain", concurrency=1)
    for run in runs[:2]:
        finish(store, run, DONE)
        assert take(store) == []
    finish(store, runs[2], DONE)
    assert len(take(store)) == 1


def test_without_its_limit_everything_in_line_goes_on(store):
    limit(store, "domain", concurrency=0)
    jobs = [enqueue(store, limits=["domain:a"]) for _ in range(5)]
    assert take(store) == []
    drop(store, "domain")
    assert ids(take(store)) == jobs


def test_a_worker_that_sleeps_knows_when_to_look_again(store, clock):
    limit(store, "api", rate=1, per=10)
    for _ in range(2):
        enqueue(store, limits=["api"])
    assert len(take(store)) == 1
    assert take(store) == []
    due = store.read(lambda tx: tx.next_due([MAIL]))
    assert clock.now < due <= clock.now + 11 * SECOND
    clock.forward(11 * SECOND)
    assert len(take(store)) == 1


def lines_are_left(store):
    look = store.read(lambda tx: tx.next_look())
    return look is not None and look <= store.now() + SECOND


def test_whoever_finds_work_leaves_a_crowd_of_lines_for_later(store):
    limit(store, "wall", concurrency=0)
    take(store)
    insert(store, *[NewJob("mail", "{}", priority=1, limits=[f"wall:{number}"]) for number in range(900)])
    plain = [enqueue(store) for _ in range(2)]
    assert [ids(take(store, limit=1)) for _ in plain] == [[job] for job in plain]
    assert lines_are_left(store)


def test_whoever_finds_no_work_looks_at_a_crowd_of_lines(store):
    limit(store, "wall", concurrency=0)
    take(store)
    insert(store, *[NewJob("mail", "{}", priority=1, limits=[f"wall:{number}"]) for number in range(900)])
    behind = enqueue(store, limits=["yard"])
    assert ids(take(store)) == [behind]
    assert take(store) == []
    assert not lines_are_left(store)


def test_all_lines_of_a_limit_that_was_said_anew_are_looked_at_while_others_run(store):
    limit(store, "wall", concurrency=0)
    insert(store, *[NewJob("mail", "{}", limits=[f"wall:{number}"]) for number in range(300)])
    assert take(store) == []
    insert(store, *[NewJob("mail", "{}", priority=1)] * 300)
    limit(store, "wall", concurrency=1)
    assert sum(len(take(store, limit=30)) for _ in range(20)) == 600


def test_a_better_job_does_not_wait_for_looks_at_a_crowd_that_came_before_it(store):
    limit(store, "site", concurrency=1)
    take(store)
    insert(store, *[NewJob("mail", "{}", limits=[f"site:{number}"]) for number in range(900)])
    later = enqueue(store, priority=1, delay=SECOND / 1000, limits=["site:later"])
    better = enqueue(store, priority=1, limits=["site:better"])
    assert ids(take(store, limit=1)) == [better]
    assert status(store, later) is Status.QUEUED


def test_a_better_job_that_comes_due_later_is_not_looked_at_before(store, clock):
    limit(store, "site", concurrency=1)
    later = enqueue(store, priority=1, delay=SECOND / 1000, limits=["site:later"])
    assert take(store) == []
    clock.now += 2 * SECOND
    assert ids(take(store)) == [later]
