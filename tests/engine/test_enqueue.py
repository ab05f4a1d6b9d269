"""Enqueue: stored whole, or refused with a reason; a full queue lets only high priorities in."""

from __future__ import annotations

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import KeyConflict, QueueFull
from tests.engine.given import DAY, claim, count, enqueue, get, new_job

FULL = {"default": 3}


def enqueue_many(desk, *new_jobs, max_depth=FULL):
    return desk.write(jobs.enqueue, new_jobs, max_depth)


def test_a_new_job_is_queued_and_due(desk):
    job = get(desk, enqueue(desk, payload='{"to":"x"}'))
    assert (job.status, job.type, job.queue, job.payload) == ("queued", "mail", "default", {"to": "x"})
    assert job.scheduled_at == job.created_at
    assert (job.attempts, job.max_attempts, job.priority, job.version) == (0, 3, 5, 1)


def test_enqueue_answers_ids_in_the_order_of_the_request(desk):
    answers = enqueue_many(desk, new_job(payload="[0]"), new_job(payload="[1]"), max_depth=None)
    assert [get(desk, job_id).payload for job_id, _ in answers] == [[0], [1]]
    assert [outcome for _, outcome in answers] == ["created", "created"]


def test_a_taken_key_answers_its_job(desk):
    first = enqueue(desk, key="k")
    assert desk.write(jobs.enqueue, [new_job(key="k")]) == [(first, "duplicate")]


def test_the_same_key_twice_in_one_request_is_one_job(desk):
    (first, second) = enqueue_many(desk, new_job(key="k"), new_job(key="k"))
    assert (first[1], second) == ("created", (first[0], "duplicate"))


def test_one_refused_job_refuses_the_whole_request(desk):
    enqueue(desk, payload="[1]", key="k")
    with pytest.raises(KeyConflict):
        enqueue_many(desk, new_job(key="free"), new_job(payload="[2]", key="k"))
    assert count(desk) == 1


def test_a_queue_takes_jobs_up_to_its_maximum_depth(desk):
    for _ in range(3):
        enqueue_many(desk, new_job())
    with pytest.raises(QueueFull, match="queue 'default' holds its maximum of 3") as caught:
        enqueue_many(desk, new_job())
    assert caught.value.code == "QUEUE_FULL"
    assert count(desk) == 3


@pytest.mark.parametrize(("priority", "let_in"), [(1, True), (3, True), (4, False), (10, False)])
def test_over_its_depth_a_queue_lets_in_high_priorities_only(desk, priority, let_in):
    enqueue_many(desk, new_job(), new_job(), new_job())
    if let_in:
        assert enqueue_many(desk, new_job(priority=priority))[0][1]
    else:
        with pytest.raises(QueueFull):
            enqueue_many(desk, new_job(priority=priority))


def test_a_bulk_that_does_not_fit_is_refused_whole(desk):
    enqueue_many(desk, new_job(), new_job())
    with pytest.raises(QueueFull):
        enqueue_many(desk, new_job(), new_job())
    assert count(desk) == 2


def test_other_queues_have_no_limit(desk):
    assert len(enqueue_many(desk, *(new_job(queue="other") for _ in range(10)))) == 10


def test_a_claimed_job_makes_room(desk):
    enqueue_many(desk, new_job(), new_job(), new_job())
    claim(desk, limit=1)
    assert enqueue_many(desk, new_job())[0][1]


def test_a_job_that_is_due_later_counts_as_waiting(desk):
    enqueue_many(desk, *(new_job(delay=DAY) for _ in range(3)))
    with pytest.raises(QueueFull):
        enqueue_many(desk, new_job())


def test_a_repeated_key_is_answered_even_when_the_queue_is_full(desk):
    first = enqueue_many(desk, new_job(key="k"), new_job(), new_job())[0][0]
    assert enqueue_many(desk, new_job(key="k")) == [(first, "duplicate")]
