"""Groups in numbers, their jobs, and the cancel of many at once."""

from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.lease import Lane
from holdfast.model.news import group_mark
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from tests.store.given import (
    DAY,
    DONE,
    FAILED,
    LEASE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim,
    ended,
    enqueue,
    finish,
    get,
    insert,
    is_postgres,
    news_of,
    running,
    status,
    write,
)  # fmt: skip

ERROR = '{"class":"Cancelled","message":"stopped on request","code":"CANCELLED"}'


def counts(store, key="g", tenant=""):
    return store.read(lambda tx: tx.group_counts([(tenant, key)]))[tenant, key]


def cancel_many(store, ids, *, graceful=False):
    return write(store, lambda tx: tx.cancel_many(ids, graceful=graceful, error=ERROR, actor="ann"))


def still_running(store, *ids):
    return store.read(lambda tx: tx.still_running(ids))


def coalesce(store, payload="{}", **options):
    return write(store, lambda tx: tx.coalesce(NewJob("mail", payload, coalesce_key="k", **options)))[0]


def test_a_group_is_counted_by_status(store):
    ended(store, DONE, group="g")
    ended(store, FAILED, group="g")
    running(store, group="g")
    enqueue(store, group="g")
    enqueue(store, group="other")
    enqueue(store, group="g", tenant="acme")
    found = {name: number for name, (number, _) in counts(store).items()}
    assert found == {"completed": 1, "failed": 1, "in_progress": 1, "queued": 1}
    assert counts(store, tenant="acme") == {"queued": (1, 1)}
    assert counts(store, "none") == {}


def test_every_visible_change_of_a_job_shows_in_the_versions_of_its_group(store):
    run = running(store, group="g")
    before = counts(store)
    write(store, lambda tx: tx.progress(run.id, run.token, '{"done":1}'))
    assert counts(store)["in_progress"][1] == before["in_progress"][1] + 1


def test_the_jobs_of_a_group_are_listed_oldest_first_page_by_page(store, clock):
    ids = []
    for number in range(5):
        clock.forward(SECOND)
        ids.append(enqueue(store, payload=f"{number}", group="g"))
    enqueue(store, group="other")
    cancel(store, ids[1])

    def page(after="", status=None, limit=3):
        return [
            job.id for job in store.read(lambda tx: tx.group_jobs("", "g", status=status, after=after, limit=limit))
        ]

    assert page() == ids[:3]
    assert page(after=ids[2]) == ids[3:]
    assert page(status="cancelled") == [ids[1]]


def test_the_open_jobs_of_a_group_are_found_part_by_part(store, clock):
    ids = []
    for _ in range(5):
        clock.forward(SECOND)
        ids.append(enqueue(store, group="g"))
    cancel(store, ids[0])
    rows, edge = store.read(lambda tx: tx.group_open("", "g", after="", window=3))
    assert [tuple(row) for row in rows] == [(ids[1], "mail"), (ids[2], "mail")]
    assert edge == ids[2]
    rows, edge = store.read(lambda tx: tx.group_open("", "g", after=edge, window=3))
    assert ([row[0] for row in rows], edge) == (ids[3:], None)


@pytest.mark.parametrize("graceful", [False, True])
def test_many_are_cancelled_as_one_is(store, clock, graceful):
    run = running(store, group="g")
    waiting, over = enqueue(store, "other", group="g"), ended(store, DONE, group="g")
    before = get(store, over)
    clock.forward(SECOND)
    changed = cancel_many(store, [run.id, waiting, over], graceful=graceful)
    assert sorted(changed) == sorted([(run.id, "mail", "in_progress"), (waiting, "other", "queued")])
    assert get(store, over) == before
    job = get(store, waiting)
    assert (job.status, job.error["code"], job.version) == (Status.CANCELLED, "CANCELLED", 2)
    assert job.completed_at == stamp.to_datetime(NOON + SECOND)
    assert job.cancel_requested_at is None
    assert store.read(lambda tx: tx.history(waiting))[-1]["actor"] == "ann"
    job = get(store, run.id)
    assert job.cancel_requested_at == stamp.to_datetime(NOON + SECOND)
    if graceful:
        assert (job.status, job.lease_token) == (Status.IN_PROGRESS, run.token)
        assert cancel_many(store, [run.id], graceful=True) == [], "asked once is enough"
        assert finish(store, run, DONE)
    else:
        assert (job.status, job.lease_token, job.lease_owner) == (Status.CANCELLED, run.token + 1, None)
        assert not finish(store, run, DONE)


def test_a_cancel_of_many_frees_their_active_keys_and_those_behind_them(store):
    keyed = enqueue(store, key="k", key_window="active")
    assert cancel_many(store, [keyed])
    assert insert(store, NewJob("mail", "{}", key="k"))[0].created
    cancel_many(store, [job.id for job in store.read(lambda tx: tx.list_jobs({"status": "queued"}, "~", 9))[0]])
    first = coalesce(store)
    (run,) = claim(store)
    second = coalesce(store)
    assert claim(store) == []
    assert cancel_many(store, [first]) == [(run.id, "mail", "in_progress")]
    assert [one.id for one in claim(store)] == [second]


def test_a_cancel_of_many_tells_watchers_of_jobs_and_groups(store):
    job_id = enqueue(store, group="g", tenant="acme")
    news = news_of(store, lambda tx: tx.cancel_many([job_id], graceful=False, error=ERROR, actor=None))
    assert news.jobs == [job_id]
    assert news.groups == {group_mark("acme", "g")}
    lone = enqueue(store)
    assert not news_of(store, lambda tx: tx.cancel_many([lone], graceful=False, error=ERROR, actor=None)).groups


def test_whatever_changes_a_job_tells_the_watchers_of_its_group(store):
    mark = {group_mark("", "g")}
    jobs = [NewJob("mail", "{}", group="g")]
    assert news_of(store, lambda tx: tx.insert(jobs)).groups == mark
    assert news_of(store, lambda tx: tx.insert(jobs * 2)).groups == mark
    assert store.insert_alone(jobs[0])[1].groups == mark
    assert news_of(store, lambda tx: tx.insert([NewJob("mail", "{}")])).groups == set()
    job_id = ended(store, FAILED, kind="post", group="g")
    assert news_of(store, lambda tx: tx.retry(job_id)).groups == mark
    assert news_of(store, lambda tx: tx.cancel(job_id, tenant=None, graceful=False, error=ERROR)).groups == mark


def test_a_cancelled_run_is_stopping_until_its_worker_says_so(store):
    one, two = running(store), running(store)
    cancel(store, one.id)
    cancel_many(store, [two.id])
    assert still_running(store, one.id, two.id) == sorted([one.id, two.id])
    assert write(store, lambda tx: tx.stopped([(one.id, one.token), ("nobody", 1)])) == 1
    assert still_running(store, one.id, two.id) == [two.id]


def test_a_cancelled_run_counts_as_stopped_when_its_lease_would_have_ended(store, clock):
    run = running(store)
    cancel(store, run.id)
    clock.forward(LEASE)
    assert still_running(store, run.id) == []
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY))
    assert write(store, lambda tx: tx.stopped([(run.id, run.token)])) == 0


def test_what_waits_or_belongs_to_another_tenant_is_not_stopping(store):
    waiting, run = enqueue(store, "post"), running(store, tenant="acme")
    cancel(store, waiting)
    assert cancel(store, run.id, tenant="other") is None
    assert still_running(store, waiting, run.id) == []
    cancel(store, run.id, graceful=True)
    assert still_running(store, run.id) == []


def marked(store, started_at, kind="mail", tenant="", key="g"):
    return write(store, lambda tx: tx.cancel_mark(tenant, key, kind, started_at))


def note(store, types=None, tenant=""):
    write(store, lambda tx: tx.cancel_note(tenant, "g", types=types, mode="immediate", by="ann"))


def test_what_a_run_enqueues_after_its_group_was_cancelled_is_born_cancelled(store, clock):
    early = running(store, group="g")
    clock.forward(SECOND)
    assert not marked(store, early.started_at)
    note(store)
    assert marked(store, early.started_at)
    clock.forward(SECOND)
    assert not marked(store, running(store, group="g").started_at), "begun after the cancel"
    assert not marked(store, early.started_at, key="other")
    assert not marked(store, early.started_at, tenant="acme")


def test_a_cancel_of_some_types_leaves_the_others_alone(store, clock):
    run = running(store)
    clock.forward(SECOND)
    note(store, types=["mail", "post"])
    assert marked(store, run.started_at)
    assert not marked(store, run.started_at, kind="thumbnail")


def test_old_marks_are_forgotten(store, clock):
    run = running(store)
    note(store)
    clock.forward(8 * DAY)
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY))
    assert not marked(store, run.started_at)


def test_the_numbers_of_a_group_are_read_through_its_index(store):
    insert(store, *(NewJob("mail", "{}", group=f"g{number % 50}") for number in range(2_000)))
    query = store.queries["group_counts"]
    if is_postgres(store):
        write(store, lambda tx: tx.execute("analyze job_queue"))
        text = query.replace("%(groups)s", """'[["","g1"]]'""")
        plan = "\n".join(row[0] for row in write(store, lambda tx: tx.execute(f"explain {text}")))
    else:
        rows = store.read(lambda tx: tx.execute(f"explain query plan {query}", {"groups": '[["","g1"]]'}))
        plan = "\n".join(str(row) for row in rows)
    assert "job_queue_groups" in plan
    assert "Seq Scan on job_queue" not in plan


def test_a_retry_goes_by_the_lane_of_its_job(store):
    job_id = ended(store, RAISED, max_attempts=1, group="g")
    write(store, lambda tx: tx.retry(job_id))
    assert [run.id for run in claim(store, Lane("default", "mail"))] == [job_id]
    assert status(store, job_id) is Status.IN_PROGRESS
