from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from holdfast.model import stamp
from holdfast.model.ids import is_id
from holdfast.model.request import Alike, NewJob
from holdfast.model.status import Status
from tests.store.given import HOUR, MINUTE, NOON, SECOND, enqueue, get, insert, news_of, write


def test_a_new_job_is_queued_and_due_at_once(store, clock):
    (answer,) = insert(store, NewJob("mail", '{"to":"a"}'))
    job = get(store, answer.id)
    assert answer.created
    assert is_id(job.id)
    assert job.status is Status.QUEUED
    assert job.scheduled_at == job.created_at == job.updated_at == stamp.to_datetime(clock.now)


def test_a_new_job_has_run_nothing_and_holds_nothing(store):
    job = get(store, enqueue(store))
    assert (job.attempts, job.failed, job.crashed, job.interrupted) == (0, 0, 0, 0)
    assert (job.lease_owner, job.lease_until, job.lease_token, job.held) == (None, None, 0, 0)
    assert (job.started_at, job.completed_at, job.cancel_requested_at) == (None, None, None)
    assert (job.result, job.error, job.progress) == (None, None, None)
    assert job.version == 1
    assert not job.ended


def test_a_new_job_without_options_takes_the_defaults(store):
    job = get(store, enqueue(store))
    assert (job.queue, job.tenant, job.group, job.priority) == ("default", "", None, 5)
    assert (job.max_attempts, job.payload_version, job.timeout_ms) == (3, 1, None)
    assert (job.idempotency_key, job.context) == (None, {})


def test_every_option_comes_back_as_it_was_given(store):
    job = get(
        store,
        enqueue(
            store,
            "résumé",
            '{"to":["å",1.5,null]}',
            queue="gpu",
            priority=1,
            key="k-1",
            group="g-1",
            tenant="t-1",
            max_attempts=7,
            timeout=1.5,
            context='{"user_id":"u"}',
            payload_version=2,
        ),
    )
    assert (job.type, job.queue, job.priority, job.group, job.tenant) == ("résumé", "gpu", 1, "g-1", "t-1")
    assert job.payload == {"to": ["å", 1.5, None]}
    assert (job.idempotency_key, job.max_attempts, job.timeout_ms) == ("k-1", 7, 1500)
    assert (job.context, job.payload_version) == ({"user_id": "u"}, 2)


@pytest.mark.parametrize(
    "text", ['"\\u0000"', "-0.0", "9223372036854775808", '"\U0001f600"', "[" * 64 + "]" * 64, '{"":""}']
)
def test_a_payload_comes_back_identical(store, text):
    job = get(store, enqueue(store, payload=text))
    assert repr(job.payload) == repr(json.loads(text))


def test_a_delay_counts_from_the_stores_clock(store, clock):
    job = get(store, enqueue(store, delay=90))
    assert job.scheduled_at == stamp.to_datetime(NOON + 90 * SECOND)


def test_a_job_can_be_scheduled_for_a_date(store):
    job = get(store, enqueue(store, scheduled_at=datetime(2030, 1, 1, tzinfo=UTC)))
    assert job.scheduled_at == datetime(2030, 1, 1, tzinfo=UTC)


def test_a_job_can_be_scheduled_for_a_date_that_has_passed(store):
    job = get(store, enqueue(store, scheduled_at=datetime(1970, 1, 1, tzinfo=UTC)))
    assert job.scheduled_at == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_delay_beyond_the_year_9999_ends_there(store):
    job = get(store, enqueue(store, delay=stamp.LAST / 1000))
    assert job.scheduled_at == stamp.to_datetime(stamp.LAST)


def test_many_jobs_are_stored_in_their_order(store):
    answers = insert(store, *(NewJob("mail", f"[{n}]") for n in range(100)))
    assert [get(store, answer.id).payload for answer in answers] == [[n] for n in range(100)]
    assert [a.id for a in answers] == sorted(a.id for a in answers)
    assert all(answer.created for answer in answers)


def test_no_jobs_are_no_jobs(store):
    assert insert(store) == []
    assert write(store, lambda tx: tx.insert(Alike(NewJob("mail", ""), []))) == []


def alike(store, count, **options):
    """Store so many requests that differ in their payloads alone."""
    many = Alike(NewJob("mail", "", **options), [f"[{number}]" for number in range(count)])
    return write(store, lambda tx: tx.insert(many))


@pytest.mark.parametrize("count", [1, 49, 50, 51, 120])
def test_jobs_that_are_alike_are_stored_in_their_order(store, count):
    answers = alike(store, count)
    assert [get(store, job_id).payload for job_id, _ in answers] == [[number] for number in range(count)]
    assert answers == sorted(answers)
    assert all(created for _, created in answers)


def test_jobs_that_are_alike_have_every_option_that_others_have(store):
    options = {
        "queue": "gpu", "priority": 1, "group": "g", "tenant": "t", "max_attempts": 7, "timeout": 1.5, "delay": 60,
        "context": '{"user_id":"u"}', "payload_version": 2,
    }  # fmt: skip
    (one,) = insert(store, NewJob("mail", "{}", **options))
    wanted = get(store, one.id)
    for job_id, _ in alike(store, 51, **options):
        assert replace(get(store, job_id), id=one.id, payload={}) == wanted


def test_jobs_that_are_alike_tell_their_queue_and_group(store):
    many = Alike(NewJob("mail", "", queue="x", group="g"), ["{}"] * 60)
    told = news_of(store, lambda tx: tx.insert(many))
    one = news_of(store, lambda tx: tx.insert([NewJob("mail", "{}", queue="x", group="g")]))
    assert (told.queues, told.groups) == ({"x"}, one.groups)


def test_a_key_is_taken_once_by_jobs_that_are_alike(store):
    many = Alike(NewJob("mail", "", key="k"), ["{}"] * 60)
    answers = write(store, lambda tx: tx.insert(many))
    assert [created for _, created in answers] == [True] + [False] * 59
    assert len({job_id for job_id, _ in answers}) == 1


def test_jobs_that_are_alike_are_folded_by_their_coalesce_key(store):
    many = Alike(NewJob("mail", "", coalesce_key="k"), [f"[{number}]" for number in range(60)])
    answers = write(store, lambda tx: tx.ask(many))
    assert [outcome for _, outcome in answers] == ["created"] + ["replaced"] * 59
    assert get(store, answers[0][0]).payload == [59]


def test_jobs_that_are_alike_count_against_their_limits(store):
    ids = [job_id for job_id, _ in alike(store, 60, limits=["a"])]
    assert {get(store, job_id).limits for job_id in ids} == {("a",)}


def test_jobs_that_are_alike_are_stored_all_or_none_even_if_the_transaction_goes_on(store):
    def twice(tx):
        with pytest.raises(UnicodeEncodeError):
            tx.insert(Alike(NewJob("mail", ""), ["{}"] * 70 + ['"\ud800"']))
        return tx.insert([NewJob("mail", "{}")])

    ((kept, _),) = write(store, twice)
    jobs, _ = store.read(lambda tx: tx.list_jobs({}, "~", 1000))
    assert [job.id for job in jobs] == [kept]


def test_ids_rise_even_when_the_clock_falls(store, clock):
    first = enqueue(store)
    clock.forward(-HOUR)
    assert enqueue(store) > first


def test_a_job_is_none_when_there_is_none(store):
    assert store.read(lambda tx: tx.get("0" * 26)) is None


def test_a_job_of_another_tenant_is_none(store):
    job_id = enqueue(store, tenant="mine")
    assert store.read(lambda tx: tx.get(job_id, "theirs")) is None
    assert store.read(lambda tx: tx.get(job_id, "mine")).id == job_id
    assert store.read(lambda tx: tx.get(job_id)).id == job_id


def test_the_same_statement_of_time_is_seen_by_all_jobs_of_one_call(store, clock):
    def slow(tx):
        clock.forward(MINUTE)
        return tx.insert([NewJob("mail", "{}")])

    (answer,) = write(store, slow)
    assert get(store, answer[0]).created_at == stamp.to_datetime(NOON)


def test_an_insert_tells_its_queues(store):
    news = news_of(store, lambda tx: tx.insert([NewJob("a", "{}", queue="x"), NewJob("b", "{}", queue="y")]))
    assert news
    assert news.queues == {"x", "y"}


def test_a_read_tells_nothing_and_changes_nothing(store):
    job_id = enqueue(store)
    before = get(store, job_id)
    assert get(store, job_id) == before


def test_versions_are_told_for_the_jobs_that_exist(store):
    job_id = enqueue(store)
    asked = [job_id, "0" * 26]
    assert store.read(lambda tx: tx.versions(asked)) == {job_id: (1, "queued")}


def test_what_one_store_wrote_another_reads(store, other):
    assert get(other, enqueue(store)).type == "mail"


def test_two_stores_may_write_at_the_same_time(open_store):
    def many(own):
        for _ in range(50):
            enqueue(own)

    stores = [open_store(lambda: NOON) for _ in range(3)]
    threads = [threading.Thread(target=many, args=(own,)) for own in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    jobs, _ = stores[0].read(lambda tx: tx.list_jobs({}, "~", 1000))
    assert len(jobs) == 150
