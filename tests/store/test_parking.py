"""Parked jobs: they wait for a person and hold nothing, go on when told to, and end when nobody comes."""

from __future__ import annotations

import threading

import pytest

from holdfast.engine import parking
from holdfast.model import stamp
from holdfast.model.decide import decide
from holdfast.model.errors import NotFound
from holdfast.model.lease import Lane
from holdfast.model.outcome import Parked, Snoozed
from holdfast.model.parking import MOST_PARKS
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.status import Status
from holdfast.store.port import Ending
from tests.store.given import (
    DONE,
    HOUR,
    MAIL,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim,
    claim_one,
    dead,
    enqueue,
    finish,
    get,
    news_of,
    retry,
    running,
    status,
    write,
)  # fmt: skip
from tests.store.requests import ask

LOGIN = Parked("log in at example.org", "https://example.org/login", "example.org", 3 * HOUR)
BARE = Parked("approve it", None, None, HOUR)


def parked(store, outcome=LOGIN, **options):
    """The id of a job whose run asked for a person."""
    run = running(store, **options)
    assert finish(store, run, outcome)
    return run.id


def unpark(store, *ids, data=None, actor=None):
    return write(store, lambda tx: tx.unpark([(job_id, data) for job_id in ids], actor))


def found(store, *, tenant="", key=None, group=None, after="", limit=100):
    return write(store, lambda tx: tx.parked(tenant=tenant, key=key, group=group, after=after, limit=limit))


def expire(store, limit=100):
    return write(store, lambda tx: tx.expire_parked(limit))


def answer_in_store(store, job_id):
    return write(store, lambda tx: tx.execute("select auth_data from job_queue where id = '" + job_id + "'"))[0][0]


def history(store, job_id):
    lines = store.read(lambda tx: tx.history(job_id))
    return [(line["from_status"], line["to_status"], line["why"]) for line in lines]


# -- parking


def test_a_parked_job_holds_nothing_and_says_what_it_waits_for(store):
    job_id = parked(store)
    job = get(store, job_id)
    assert job.status is Status.AWAITING_AUTH
    assert (job.attempts, job.failed, job.parks) == (0, 0, 1)
    assert (job.lease_owner, job.completed_at, job.error) == (None, None, None)
    assert job.as_json()["auth"] == {
        "reason": "log in at example.org",
        "url": "https://example.org/login",
        "key": "example.org",
        "until": stamp.to_text(NOON + 3 * HOUR),
    }
    assert claim(store) == []
    assert history(store, job_id)[-1] == ("in_progress", "awaiting_auth", "parked")


def test_nothing_need_be_said_but_the_reason(store):
    job = get(store, parked(store, BARE))
    assert job.as_json()["auth"] == {
        "reason": "approve it",
        "url": None,
        "key": None,
        "until": stamp.to_text(NOON + HOUR),
    }


def test_a_job_that_is_not_parked_says_nothing(store):
    assert get(store, enqueue(store)).as_json()["auth"] is None


def test_parking_is_no_end(store):
    """Neither for the figures nor for a key that is kept until the end."""
    job_id = parked(store, key="a", key_window="active")
    assert write(store, lambda tx: tx.figures(0)) == []
    assert get(store, job_id).idempotency_key == "a"


def test_after_ten_times_it_is_a_dead_letter(store):
    run = running(store)
    for _ in range(MOST_PARKS):
        assert finish(store, run, LOGIN)
        assert unpark(store, run.id) == [run.id]
        run = claim_one(store)
    assert run.parks == MOST_PARKS
    assert finish(store, run, LOGIN)
    job = get(store, run.id)
    assert (job.status, job.error["code"]) == (Status.DEAD_LETTER, "TOO_MANY_PARKS")
    assert job.as_json()["auth"] is None


def test_a_run_that_lost_its_lease_parks_nothing(store):
    run = running(store)
    cancel(store, run.id)
    assert not finish(store, run, LOGIN)
    assert get(store, run.id).auth is None


def test_a_run_that_was_asked_to_stop_is_cancelled_instead(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    assert finish(store, run, LOGIN)
    job = get(store, run.id)
    assert (job.status, job.auth, job.parks) == (Status.CANCELLED, None, 0)


def test_parked_and_other_endings_share_a_commit(store):
    runs = [running(store, kind=f"kind{n}") for n in range(4)]
    outcomes = [LOGIN, DONE, BARE, RAISED]
    endings = [Ending(run, decide(run, one, DEFAULT_POLICY, spread=0)) for run, one in zip(runs, outcomes, strict=True)]
    assert write(store, lambda tx: tx.finish(endings)) == [True] * 4
    jobs = [get(store, run.id) for run in runs]
    assert [job.status.value for job in jobs] == ["awaiting_auth", "completed", "awaiting_auth", "queued"]
    assert [job.auth_key for job in jobs] == ["example.org", None, None, None]
    assert [(job.auth or {}).get("reason") for job in jobs] == ["log in at example.org", None, "approve it", None]


# -- resuming


def test_a_resumed_job_is_due_now_and_asks_no_more(store, clock):
    job_id = parked(store)
    clock.forward(HOUR)
    news = news_of(store, lambda tx: tx.unpark([(job_id, None)], "ann"))
    assert (news.jobs, news.queues) == ([job_id], {"default"})
    job = get(store, job_id)
    assert (job.status, stamp.from_datetime(job.scheduled_at)) == (Status.QUEUED, NOON + HOUR)
    assert (job.auth, job.auth_key, job.auth_until) == (None, None, None)
    assert history(store, job_id)[-1] == ("awaiting_auth", "queued", "resumed")
    run = claim_one(store)
    assert (run.id, run.attempts, run.parks, run.auth_data) == (job_id, 1, 1, None)


def test_only_parked_jobs_are_resumed(store):
    waiting = enqueue(store, delay=60)
    letter = dead(store, kind="other")
    here = parked(store, kind="third")
    assert unpark(store, waiting, letter, here, "01JHQ8Y3M0G5V7T2K4N6P8R0SD") == [here]
    assert unpark(store, here) == []
    assert (status(store, waiting), status(store, letter)) == (Status.QUEUED, Status.DEAD_LETTER)


def test_those_who_wait_for_a_key_are_found_within_their_tenant(store):
    mine = [parked(store, tenant="acme", kind=f"a{n}") for n in range(3)]
    parked(store, tenant="umbrella")
    parked(store, BARE, tenant="acme", kind="bare")
    resumed = parked(store, tenant="acme", kind="gone")
    unpark(store, resumed)
    assert found(store, tenant="acme", key="example.org") == mine
    assert found(store, tenant="acme", key="example.org", limit=2) == mine[:2]
    assert found(store, tenant="acme", key="example.org", after=mine[1]) == mine[2:]
    assert found(store, tenant="acme", key="other.org") == []
    assert found(store, key="example.org") == []


def test_a_parked_job_of_another_tenant_is_not_there(store):
    job_id = parked(store, tenant="umbrella")
    with pytest.raises(NotFound):
        write(store, lambda tx: parking.resume(tx, job_id, tenant="acme"))
    assert write(store, lambda tx: parking.parked(tx, tenant="acme")) == []
    assert write(store, lambda tx: parking.resume_page(tx, key="example.org", tenant="acme")) == ([], None)
    assert status(store, job_id) is Status.AWAITING_AUTH
    assert write(store, lambda tx: parking.resume(tx, job_id, tenant="umbrella")).status is Status.QUEUED


def test_and_those_of_a_group(store):
    mine = [parked(store, group="g", kind="a"), parked(store, BARE, group="g", kind="b")]
    parked(store, group="h", kind="c")
    enqueue(store, group="g", kind="d")
    assert found(store, group="g") == mine


def test_two_who_resume_at_once_resume_it_once(store, other):
    job_id = parked(store)
    answers = []
    threads = [threading.Thread(target=lambda one=one: answers.append(unpark(one, job_id))) for one in (store, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers, key=len) == [[], [job_id]]


# -- the answer


def test_an_answer_reaches_the_next_run_and_nobody_else(store):
    job_id = parked(store)
    unpark(store, job_id, data="1.k.sealed")
    assert claim_one(store).auth_data == "1.k.sealed"
    job = get(store, job_id)
    assert not hasattr(job, "auth_data")
    assert "sealed" not in str(job.as_json()) + str(write(store, lambda tx: tx.history(job_id)))


def test_it_is_kept_for_a_retry_and_forgotten_at_the_end(store, clock):
    job_id = parked(store)
    unpark(store, job_id, data="sealed")
    assert finish(store, claim_one(store), Snoozed(SECOND))
    clock.forward(SECOND)
    run = claim_one(store)
    assert run.auth_data == "sealed"
    assert finish(store, run, DONE)
    assert answer_in_store(store, job_id) is None


def test_and_forgotten_when_the_job_asks_again(store):
    job_id = parked(store)
    unpark(store, job_id, data="sealed")
    assert finish(store, claim_one(store), LOGIN)
    assert answer_in_store(store, job_id) is None
    assert get(store, job_id).parks == 2


@pytest.mark.parametrize("when", ["waiting", "running", "gracefully"])
def test_and_forgotten_when_it_is_cancelled(store, when):
    job_id = parked(store)
    unpark(store, job_id, data="sealed")
    run = claim_one(store) if when != "waiting" else None
    cancel(store, job_id, graceful=when == "gracefully")
    if when == "gracefully":
        finish(store, run, RAISED)
    assert status(store, job_id) is Status.CANCELLED
    assert answer_in_store(store, job_id) is None


# -- nobody comes


def test_nobody_in_time_is_a_dead_letter(store, clock):
    late, other = parked(store, BARE, key="k", key_window="active"), parked(store, kind="patient")
    clock.forward(HOUR - 1)
    assert expire(store) == 0
    clock.forward(1)
    news = news_of(store, lambda tx: tx.expire_parked(100))
    assert news.jobs == [late]
    job = get(store, late)
    assert (job.status, job.error["code"]) == (Status.DEAD_LETTER, "AUTH_EXPIRED")
    assert "approve it" in job.error["message"]
    assert (job.auth, job.auth_until, job.idempotency_key) == (None, None, None)
    assert history(store, late)[-1] == ("awaiting_auth", "dead_letter", "expired")
    assert status(store, other) is Status.AWAITING_AUTH
    assert expire(store) == 0
    assert {line[2] for line in write(store, lambda tx: tx.figures(0))} == {"dead_letter"}


def test_a_person_sends_it_round_again_as_any_other(store, clock):
    job_id = parked(store)
    clock.forward(4 * HOUR)
    assert expire(store) == 1
    assert retry(store, job_id)
    job = get(store, job_id)
    assert (job.status, job.parks, job.error) == (Status.QUEUED, 0, None)
    assert claim_one(store).id == job_id


def test_they_are_ended_in_small_batches_the_oldest_first(store, clock):
    ids = []
    for number in range(3):
        ids.append(parked(store, kind=f"kind{number}"))
        clock.forward(SECOND)
    clock.forward(4 * HOUR)
    assert [expire(store, 2), expire(store, 2)] == [2, 1]
    assert {status(store, job_id) for job_id in ids} == {Status.DEAD_LETTER}


def test_one_that_is_resumed_in_time_does_not_expire(store, clock):
    job_id = parked(store)
    unpark(store, job_id)
    clock.forward(4 * HOUR)
    assert expire(store) == 0
    assert status(store, job_id) is Status.QUEUED


# -- with others of its kind


def test_a_newer_request_has_asked_nobody_yet(store):
    """It takes the place of a parked one, and runs: perhaps there is nothing to wait for any more."""
    first, _ = ask(store, '{"v":1}')
    finish(store, claim_one(store), LOGIN)
    assert ask(store, '{"v":2}') == (first, "replaced")
    job = get(store, first)
    assert (job.status, job.payload, job.parks, job.auth, job.auth_until) == (Status.QUEUED, {"v": 2}, 0, None, None)
    assert claim_one(store).id == first


def test_an_answer_to_an_older_request_is_not_given_to_a_newer_one(store):
    first, _ = ask(store, '{"v":1}')
    finish(store, claim_one(store), LOGIN)
    unpark(store, first, data="sealed")
    ask(store, '{"v":2}')
    assert claim_one(store).auth_data is None


def test_a_run_that_was_overtaken_parks_no_more(store):
    first, _ = ask(store, '{"v":1}')
    run = claim_one(store)
    second, _ = ask(store, '{"v":2}')
    finish(store, run, LOGIN)
    assert (status(store, first), get(store, first).auth) == (Status.CANCELLED, None)
    assert [one.id for one in claim(store, MAIL, Lane("default", "other"))] == [second]
