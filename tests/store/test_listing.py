from __future__ import annotations

import pytest

from holdfast.model.request import NewJob
from holdfast.store.sqlite import jobs as sqlite_jobs
from tests.store.given import (
    DONE,
    FAILED,
    MINUTE,
    NEWEST,
    claim,
    dead,
    ended,
    enqueue,
    get,
    insert,
    listed,
    running,
)  # fmt: skip


def page(store, before=NEWEST, limit=100, **where):
    jobs, cursor = store.read(lambda tx: tx.list_jobs(where, before, limit))
    return [job.id for job in jobs], cursor


@pytest.fixture
def small_windows(monkeypatch):
    """A listing reads the table in windows; small ones show their seams."""
    monkeypatch.setattr(sqlite_jobs, "WINDOW", 3)


def test_the_newest_come_first(store):
    ids = [enqueue(store) for _ in range(3)]
    assert page(store) == (ids[::-1], None)


def test_an_empty_store_has_an_empty_list(store):
    assert page(store) == ([], None)


def test_a_page_ends_with_a_cursor_that_leads_on(store):
    ids = [enqueue(store) for _ in range(5)][::-1]
    assert page(store, limit=2) == (ids[:2], ids[1])
    assert page(store, ids[1], limit=2) == (ids[2:4], ids[3])
    assert page(store, ids[3], limit=2) == (ids[4:], None)


def test_a_full_last_page_is_followed_by_an_empty_one(store):
    ids = [enqueue(store) for _ in range(2)][::-1]
    assert page(store, limit=2) == (ids, ids[1])
    assert page(store, ids[1], limit=2) == ([], None)


def test_a_page_of_none_stays_where_it_is(store):
    enqueue(store)
    assert page(store, limit=0) == ([], NEWEST)


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("count", range(9))
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 100])
def test_pages_meet_without_gap_or_overlap(store, count, limit):
    ids = [answer.id for answer in insert(store, *(NewJob("mail", "{}") for _ in range(count)))]
    seen, before = [], NEWEST
    while before is not None:
        found, before = page(store, before, limit)
        seen += found
    assert seen == ids[::-1]


@pytest.mark.usefixtures("small_windows")
def test_a_rare_job_is_found_behind_many_others(store):
    rare = [enqueue(store, "rare") for _ in range(2)]
    insert(store, *(NewJob("mail", "{}") for _ in range(20)))
    assert page(store, type="rare") == (rare[::-1], None)
    assert page(store, type="rare", limit=1) == ([rare[1]], rare[1])


def test_a_list_can_be_narrowed(store):
    job_id = enqueue(store, "rare", queue="gpu", group="g", tenant="t")
    enqueue(store)
    narrow = [{"type": "rare"}, {"queue": "gpu"}, {"group": "g"}, {"tenant": "t"}]
    assert [listed(store, **where) for where in narrow] == [[job_id]] * 4
    assert listed(store, type="rare", queue="default") == []
    assert len(listed(store, tenant=None)) == 2


def test_a_list_can_be_narrowed_to_a_status(store):
    done = ended(store, DONE)
    waiting = enqueue(store)
    assert listed(store, status="completed") == [done]
    assert listed(store, status="queued") == [waiting]


def test_a_tenant_sees_its_own_jobs_only(store):
    enqueue(store, tenant="theirs")
    enqueue(store)
    mine = enqueue(store, tenant="mine")
    assert listed(store, tenant="mine") == [mine]


def attention(store, status, before=NEWEST, limit=100, **where):
    return [job.id for job in store.read(lambda tx: tx.attention(status, before, limit, where))]


def test_what_needs_attention_is_listed_newest_first(store):
    letters = [dead(store) for _ in range(3)]
    failed = ended(store, FAILED)
    ended(store, DONE)
    running(store)
    assert attention(store, "dead_letter") == letters[::-1]
    assert attention(store, "failed") == [failed]
    assert attention(store, "awaiting_auth") == []
    assert attention(store, "completed") == []


def test_what_needs_attention_comes_in_pages(store):
    letters = [dead(store) for _ in range(3)]
    assert attention(store, "dead_letter", limit=2) == [letters[2], letters[1]]
    assert attention(store, "dead_letter", before=letters[1]) == [letters[0]]


def test_what_needs_attention_can_be_narrowed(store):
    mine = dead(store, tenant="mine")
    dead(store)
    odd = dead(store, kind="odd")
    assert attention(store, "dead_letter", tenant="mine") == [mine]
    assert attention(store, "dead_letter", type="odd") == [odd]
    assert attention(store, "dead_letter", type="odd", tenant="mine") == []


def ahead(store, job_id, cap=100):
    job = get(store, job_id)
    return store.read(lambda tx: tx.ahead(job, cap))


def test_a_job_knows_how_many_of_its_lane_go_before_it(store, clock):
    first, second, third = (enqueue(store) for _ in range(3))
    enqueue(store, "print")
    enqueue(store, queue="gpu")
    enqueue(store, payload_version=2)
    enqueue(store, priority=1)
    assert [ahead(store, job_id) for job_id in (first, second, third)] == [0, 1, 2]
    claim(store, limit=2)
    assert ahead(store, third) == 1
    clock.forward(MINUTE)
    assert ahead(store, enqueue(store, delay=60)) == 2


def test_those_ahead_are_counted_up_to_a_cap(store):
    insert(store, *(NewJob("mail", "{}") for _ in range(10)))
    assert ahead(store, enqueue(store), cap=4) == 4
