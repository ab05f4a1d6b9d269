"""Why a job does not run now: every reason, with a code for programs and a sentence for people."""

from __future__ import annotations

import json

import pytest

from holdfast.engine import jobs
from holdfast.engine.explain import explain
from holdfast.engine.takers import ALIVE_MS
from holdfast.model.errors import NotFound
from holdfast.model.failure import Failure
from holdfast.model.outcome import Abandoned, Raised, Unstarted
from tests.engine.given import (
    MINUTE,
    RAISED,
    REFUSED,
    claim,
    dead,
    ended,
    enqueue,
    finish,
    parked,
    running,
)  # fmt: skip


def beat(desk, *lanes, name="host:1:a"):
    """A worker says that it lives."""
    worker = {"id": name, "host": "host", "pid": 1, "lanes": json.dumps(lanes), "places": 10, "running": 0}
    desk.write(lambda tx: tx.beat(worker))


def with_worker(desk):
    beat(desk, ("default", "mail", 1))


def reasons(desk, job_id):
    return [(reason["code"], reason["text"]) for reason in desk.read(explain, job_id)["reasons"]]


def codes(desk, job_id):
    return [code for code, _ in reasons(desk, job_id)]


def no_worker(desk, clock):
    return enqueue(desk)


def worker_gone(desk, clock):
    with_worker(desk)
    clock.forward(ALIVE_MS + 1)
    return enqueue(desk)


def no_worker_for_queue(desk, clock):
    with_worker(desk)
    return enqueue(desk, queue="gpu")


def unknown_type(desk, clock):
    with_worker(desk)
    return enqueue(desk, "mial")


def unknown_version(desk, clock):
    with_worker(desk)
    return enqueue(desk, payload_version=2)


def not_due(desk, clock):
    with_worker(desk)
    return enqueue(desk, delay=600)


def not_due_after_a_failure(desk, clock):
    with_worker(desk)
    return ended(desk, RAISED)


def paused(desk, clock):
    with_worker(desk)
    desk.write(lambda tx: tx.pause("default", "ann"))
    return enqueue(desk)


def held(desk, clock):
    with_worker(desk)
    job_id = enqueue(desk)
    desk.write(lambda tx: tx.execute("update job_queue set held = 1 where id = :id", {"id": job_id}))
    return job_id


def in_line(desk, clock):
    with_worker(desk)
    enqueue(desk)
    enqueue(desk, priority=1)
    return enqueue(desk)


def claimed(desk, clock):
    return running(desk).id


def run_under_way(desk, clock):
    run = running(desk)
    clock.forward(10_000)
    return run.id


def known_elsewhere(desk, clock):
    beat(desk, ("images", "mail", 1), ("default", "other", 1))
    return enqueue(desk)


def delivery(desk, clock):
    beat(desk, ("orders", "ship", 1), ("orders", "webhook", 1))
    return enqueue(desk, "webhook", queue="webhooks")


def mistyped_queue(desk, clock):
    beat(desk, *((queue, kind, 1) for queue in ("orders", "mails", "webhooks") for kind in ("ship", "mail")))
    return enqueue(desk, "ship", queue="ordres")


def many_queues(desk, clock):
    beat(desk, *((queue, "mail", 1) for queue in ("a", "b", "c", "d", "e")))
    return enqueue(desk)


def unlike_any(desk, clock):
    with_worker(desk)
    return enqueue(desk, "thumbnail")


def lease_expired(desk, clock):
    run = running(desk)
    clock.forward(3 * MINUTE)
    return run.id


def stopping(desk, clock):
    run = running(desk)
    desk.write(jobs.cancel, run.id, mode="graceful")
    return run.id


TABLE = [
    (no_worker, "NO_WORKER", "no worker has been heard of lately: start one with `holdfast worker MODULE:APP`"),
    (worker_gone, "NO_WORKER", "no worker has been heard of lately: start one with `holdfast worker MODULE:APP`"),
    (
        no_worker_for_queue,
        "NO_WORKER_FOR_QUEUE",
        "(those that know its type draw from queue 'default'); if the queue is a slip, `holdfast job cancel ",
    ),
    (
        delivery,
        "NO_WORKER_FOR_QUEUE",
        "no worker draws from queue 'webhooks': add it to the --queues of a worker (those that know its type draw",
    ),
    (
        mistyped_queue,
        "NO_WORKER_FOR_QUEUE",
        "no worker draws from queue 'ordres': was 'orders' meant? then `holdfast job cancel ",
    ),
    (many_queues, "NO_WORKER_FOR_QUEUE", "(those that know its type draw from queues 'a', 'b', 'c' and 2 more)"),
    (
        unknown_type,
        "UNKNOWN_TYPE",
        "no live worker knows the type 'mial': was 'mail' meant? then `holdfast job cancel ",
    ),
    (unlike_any, "UNKNOWN_TYPE", "no live worker knows the type 'thumbnail': is it spelt right?"),
    (unknown_version, "UNKNOWN_VERSION", "workers know version 1 of its payload, not 2"),
    (not_due, "NOT_DUE", "due in 10 min"),
    (not_due_after_a_failure, "NOT_DUE", ", after runs: 1 failed, 0 crashed"),
    (paused, "PAUSED", "queue 'default' was paused by ann at 2025-01-16T12:00:00.000Z"),
    (held, "ALONE", "it runs next in a process of its own"),
    (in_line, "IN_LINE", "due; before it in line: 1 job of its type and priority"),
    (
        claimed,
        "CLAIMED",
        "claimed 0 ms ago by first: it runs, or begins at once; a claim that has not begun is handed back after 2.5 s",
    ),
    (run_under_way, "RUNNING", "attempt 1 of 3 runs at first, lease for 50 s"),
    (
        known_elsewhere,
        "UNKNOWN_TYPE",
        "knows the type 'mail'; those that know it draw from queue 'images': add 'default' to their --queues, or `hold",
    ),
    (lease_expired, "LEASE_EXPIRED", "first stopped renewing 2 min ago; the watchdog ends this run"),
    (stopping, "STOPPING", "a cancel was asked for; first may still complete it"),
    (lambda desk, _: parked(desk), "AWAITING_AUTH", "a person must act first; then `holdfast job resume "),
    (lambda desk, _: ended(desk), "ENDED", "completed"),
    (
        lambda desk, _: ended(desk, REFUSED),
        "ENDED",
        "failed after 1 attempt: 1 failed, 0 crashed, 0 interrupted; ValueError (HANDLER_ERROR): ",
    ),
    (lambda desk, _: dead(desk), "ENDED", "; when the cause is gone: `holdfast job retry "),
    (lambda desk, _: ended(desk, Abandoned()), "ENDED", "; Cancelled (CANCELLED): stopped on request"),
]


@pytest.mark.parametrize(("given", "code", "text"), TABLE, ids=[f"{n}-{row[1]}" for n, row in enumerate(TABLE)])
def test_every_reason_has_its_code_and_its_sentence(desk, clock, given, code, text):
    job_id = given(desk, clock)
    ((found, sentence),) = reasons(desk, job_id)
    assert found == code
    assert text in sentence


def test_the_answer_names_the_job_and_its_status(desk):
    job_id = enqueue(desk)
    answer = desk.read(explain, job_id)
    assert (answer["id"], answer["status"]) == (job_id, "queued")


def test_every_reason_is_told_the_most_decisive_first(desk, clock):
    desk.write(lambda tx: tx.pause("default", "ann"))
    job_id = enqueue(desk, delay=5)
    assert codes(desk, job_id) == ["NOT_DUE", "PAUSED", "NO_WORKER"]


def test_a_type_that_nobody_knows_is_told_before_its_queue(desk):
    beat(desk, ("orders", "ship", 1))
    first, second = reasons(desk, enqueue(desk, "shipp"))
    assert first[0] == "UNKNOWN_TYPE"
    assert "was 'ship' meant?" in first[1]
    assert second[0] == "NO_WORKER_FOR_QUEUE"
    assert "(those" not in second[1]


def test_a_pause_of_another_queue_is_no_reason(desk):
    with_worker(desk)
    desk.write(lambda tx: tx.pause("other", "ann"))
    assert codes(desk, enqueue(desk)) == ["IN_LINE"]


CHILD = "host:1:a/1-child"


def test_a_job_that_nobody_takes_though_it_is_due_names_what_its_workers_run(desk, clock):
    with_worker(desk)
    longest = running(desk, owner=CHILD)
    clock.forward(2_000)
    running(desk, owner=CHILD)
    job_id = enqueue(desk)
    clock.forward(8_000)
    (_, in_line), (code, text) = reasons(desk, job_id)
    assert in_line == "due; before it in line: 0 jobs of its type and priority"
    assert code == "HELD_UP"
    assert text == (
        f"the workers that take it have begun nothing for 8 s, and run 2 jobs, the longest {longest.id} (mail) for 10 s: "
        "all their places are taken, or a coroutine handler blocks its event loop, which the log of the worker then "
        'says: make that a plain function, or give it isolation="process"'
    )


def test_the_run_of_another_tenant_that_holds_a_job_up_is_not_named(desk, clock):
    with_worker(desk)
    running(desk, owner=CHILD, tenant="acme")
    job_id = enqueue(desk)
    clock.forward(8_000)
    assert "and run 1 job, the longest for 8 s: " in reasons(desk, job_id)[1][1]


def nothing_runs(desk, clock):
    return enqueue(desk)


def one_began_lately(desk, clock):
    running(desk, owner=CHILD)
    job_id = enqueue(desk)
    clock.forward(5_000)
    running(desk, owner=CHILD, priority=1)
    clock.forward(1_000)
    return job_id


def it_came_lately(desk, clock):
    running(desk, owner=CHILD)
    clock.forward(9_000)
    return enqueue(desk)


def it_was_handed_back_lately(desk, clock):
    running(desk, owner=CHILD)
    back = running(desk, owner=CHILD)
    clock.forward(9_000)
    finish(desk, back, Unstarted())
    return back.id


def others_are_busy(desk, clock):
    beat(desk, ("other", "mail", 1), name="host:2:b")
    running(desk, owner="host:2:b/1-child")
    job_id = enqueue(desk)
    clock.forward(9_000)
    return job_id


@pytest.mark.parametrize(
    "given", [nothing_runs, one_began_lately, it_came_lately, it_was_handed_back_lately, others_are_busy]
)
def test_a_job_is_not_held_up_where(desk, clock, given):
    with_worker(desk)
    assert codes(desk, given(desk, clock)) == ["IN_LINE"]


def test_a_job_that_was_waited_for_goes_before(desk):
    with_worker(desk)
    first, second = enqueue(desk), enqueue(desk)
    assert "in line: 0 jobs" in reasons(desk, first)[0][1]
    (run,) = claim(desk, limit=1)
    finish(desk, run, REFUSED)
    assert "in line: 0 jobs" in reasons(desk, second)[0][1]


@pytest.mark.parametrize(
    ("delay", "text"),
    [(0.5, "500 ms"), (45, "45 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (172_800, "2 d")],
)
def test_spans_are_told_in_the_unit_a_person_would_use(desk, delay, text):
    with_worker(desk)
    assert reasons(desk, enqueue(desk, delay=delay)) == [("NOT_DUE", f"due in {text}")]


def test_a_job_that_is_not_there_or_another_tenant_s_is_not_found(desk):
    job_id = enqueue(desk, tenant="her")
    for asked in (("no such job",), (job_id, "him")):
        with pytest.raises(NotFound):
            desk.read(explain, *asked)


def test_a_long_message_is_cut(desk):
    job_id = ended(desk, Raised(Failure("ValueError", "x" * 1_000), permanent=True))
    assert "x" * 499 + "…; when the cause" in reasons(desk, job_id)[0][1]
