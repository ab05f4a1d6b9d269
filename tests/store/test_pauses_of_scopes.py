"""Pauses of a group and of a tenant: nothing of theirs is claimed, whatever way it came, and nothing else is held."""

from __future__ import annotations

import threading
from time import perf_counter

import pytest

from holdfast.engine import pauses
from holdfast.engine.desk import Desk
from holdfast.model.errors import StoreError
from holdfast.model.held import GROUP_PAUSED, TENANT_PAUSED
from holdfast.model.lease import Lane
from holdfast.model.news import group_mark
from holdfast.model.outcome import Stopped
from holdfast.model.request import Alike, NewJob
from tests.store.given import (
    CRASHED,
    DONE,
    FAILED,
    MAIL,
    RAISED,
    cancel,
    claim,
    ended,
    enqueue,
    finish,
    get,
    insert,
    is_postgres,
    news_of,
    on_servers,
    running,
    write,
)  # fmt: skip
from tests.stories.crew import size, tell

GROUP, TENANT = {"group": "g", "tenant": "acme"}, {"tenant": "acme"}


@pytest.fixture(params=["group", "tenant"])
def scope(request):
    return request.param


def pause(store, scope, name=None, *, tenant="acme"):
    if scope == "group":
        return pauses.pause_group(Desk(store), name or "g", "ann", tenant=tenant)
    return pauses.pause_tenant(Desk(store), name or tenant, "ann")


def resume(store, scope, name=None, *, tenant="acme"):
    if scope == "group":
        return pauses.resume_group(Desk(store), name or "g", tenant=tenant)
    return pauses.resume_tenant(Desk(store), name or tenant)


def claimed(store, *lanes):
    return [run.id for run in claim(store, *lanes, limit=100)]


def test_nothing_is_claimed_of_what_is_paused_and_all_of_it_after_a_resume(store, scope):
    ids = sorted(enqueue(store, **GROUP) for _ in range(3))
    answer = pause(store, scope)
    assert (answer["paused"], answer["changed"], answer["jobs"]) == (True, True, 3)
    assert claimed(store) == []
    answer = resume(store, scope)
    assert (answer["paused"], answer["changed"], answer["jobs"]) == (False, True, 3)
    assert sorted(claimed(store)) == ids


def test_other_groups_and_tenants_go_on(store, scope):
    pause(store, scope)
    others = [enqueue(store), enqueue(store, group="g"), enqueue(store, group="g", tenant="other")]
    others += [enqueue(store, group="h", tenant="acme")] if scope == "group" else []
    assert sorted(claimed(store)) == sorted(others)


@pytest.mark.parametrize("way", ["one", "alone", "many", "many alike", "many keyed", "coalesce"])
def test_what_is_enqueued_meanwhile_is_held_whatever_way_it_comes(store, scope, way):
    pause(store, scope)
    jobs = [NewJob("mail", f'"{number}"', **GROUP) for number in range(3)]
    match way:
        case "one":
            insert(store, jobs[0])
        case "alone":
            store.insert_alone(jobs[0])
        case "many":
            insert(store, *jobs, NewJob("post", "{}"), NewJob("post", "{}", group="h"))
        case "many alike":
            many = Alike(NewJob("mail", "", **GROUP), ["{}"] * 53)
            write(store, lambda tx: tx.insert(many))
        case "many keyed":
            insert(store, *(NewJob("mail", "{}", key=f"k{number}", **GROUP) for number in range(3)))
        case "coalesce":
            write(store, lambda tx: tx.coalesce(NewJob("mail", "{}", coalesce_key="k", **GROUP)))
    assert claimed(store) == []
    if way == "many":
        assert len(claimed(store, Lane("default", "post"))) == 2
    held = {"one": 1, "alone": 1, "coalesce": 1, "many alike": 53}.get(way, 3)
    assert resume(store, scope)["jobs"] == held
    assert claimed(store)


@pytest.mark.parametrize("outcome", [RAISED, Stopped(), CRASHED])
def test_what_runs_goes_on_and_is_held_when_it_comes_back(store, clock, scope, outcome):
    run, done = running(store, **GROUP), running(store, **GROUP)
    pause(store, scope)
    assert finish(store, done, DONE)
    assert finish(store, run, outcome)
    clock.forward(3_600_000)
    assert claimed(store) == []
    resume(store, scope)
    assert claimed(store) == [run.id]


def test_what_a_person_sends_round_again_is_held(store, scope):
    job_id = ended(store, FAILED, **GROUP)
    pause(store, scope)
    write(store, lambda tx: tx.retry(job_id))
    assert claimed(store) == []
    resume(store, scope)
    assert claimed(store) == [job_id]


def test_a_retry_after_the_resume_is_not_held_by_the_past(store, scope):
    run = running(store, **GROUP)
    pause(store, scope)
    assert finish(store, run, FAILED)
    resume(store, scope)
    write(store, lambda tx: tx.retry(run.id))
    assert claimed(store) == [run.id]


def test_pauses_are_independent(store):
    job_id = enqueue(store, **GROUP)
    pause(store, "group")
    pause(store, "tenant")
    write(store, lambda tx: tx.pause("default", "ann"))
    assert get(store, job_id).held == GROUP_PAUSED | TENANT_PAUSED
    resume(store, "group")
    write(store, lambda tx: tx.resume("default"))
    assert claimed(store) == []
    resume(store, "tenant")
    assert claimed(store) == [job_id]


def test_a_scope_is_paused_once_and_resumed_once(store, scope):
    assert pause(store, scope)["changed"]
    assert not pause(store, scope)["changed"]
    assert resume(store, scope)["changed"]
    assert not resume(store, scope)["changed"]


def test_a_paused_job_can_be_cancelled(store, scope):
    job_id = enqueue(store, **GROUP)
    pause(store, scope)
    assert cancel(store, job_id) == "queued"


def test_all_pauses_are_listed(store):
    pause(store, "group")
    pause(store, "tenant")
    write(store, lambda tx: tx.pause("gpu", "bob"))
    found = [tuple(one.values()) for one in store.read(lambda tx: tx.pauses())]
    assert [(scope, tenant, name, by) for scope, tenant, name, _, by in found] == [
        ("group", "acme", "g", "ann"),
        ("queue", "", "gpu", "bob"),
        ("tenant", "acme", "acme", "ann"),
    ]
    assert [row[0] for row in store.read(lambda tx: tx.overview(1))["paused"]] == ["gpu"]


def test_a_pause_shows_in_the_numbers_of_its_group(store):
    pause(store, "group")
    pause(store, "tenant")
    assert store.read(lambda tx: tx.group_counts([("acme", "g")])) == {("acme", "g"): {"paused": (24, 0)}}


def test_pause_and_resume_are_news(store):
    mark = {group_mark("acme", "g")}
    enqueue(store, **GROUP)
    assert news_of(store, lambda tx: tx.pause_scope("group", "acme", "g", "ann")).groups == mark
    ids, _ = store.read(lambda tx: tx.scope_part("group", "acme", "g", held=True, after="", window=10))
    assert not news_of(store, lambda tx: tx.hold_part("group", "acme", "g", ids, held=True))
    news_of(store, lambda tx: tx.resume_scope("group", "acme", "g"))
    assert news_of(store, lambda tx: tx.hold_part("group", "acme", "g", ids, held=False)).queues == {"*"}


def test_a_walk_stops_when_somebody_has_changed_his_mind(store, scope):
    job_id = enqueue(store, **GROUP)
    name = "g" if scope == "group" else "acme"
    assert not write(store, lambda tx: tx.hold_part(scope, "acme", name, [job_id], held=True))
    assert get(store, job_id).held == 0
    pause(store, scope)
    assert not write(store, lambda tx: tx.hold_part(scope, "acme", name, [job_id], held=False))
    assert get(store, job_id).held


def test_a_walk_goes_part_by_part(store, scope, monkeypatch):
    monkeypatch.setattr(pauses, "PART", 2)
    ids = sorted(enqueue(store, **GROUP) for _ in range(5))
    assert pause(store, scope)["jobs"] == 5
    assert claimed(store) == []
    assert resume(store, scope)["jobs"] == 5
    assert sorted(claimed(store)) == ids


@on_servers
def test_a_pause_waits_for_whoever_enqueues_and_finds_his_job(store, other, scope, monkeypatch):
    """The job is stored, but not committed, when the pause begins; and the other way round for a resume."""
    for act in (pause, resume):
        transaction = other.begin()
        ((job_id, _),) = transaction.insert([NewJob("mail", "{}", **GROUP)])
        done = threading.Thread(target=act, args=(store, scope))
        done.start()
        done.join(0.4)
        assert done.is_alive(), "it did not wait"
        other.commit()
        done.join(10)
        assert (get(store, job_id).held == 0) == (act is resume)


@on_servers
def test_a_pause_that_waits_in_vain_says_so_and_is_not_made(store, other, scope, monkeypatch):
    monkeypatch.setattr(pauses, "_PATIENCE", 0.0)
    transaction = other.begin()
    transaction.insert([NewJob("mail", "{}", **GROUP)])
    with pytest.raises(StoreError) as refused:
        pause(store, scope)
    assert refused.value.code == "SCOPE_BUSY"
    other.roll_back()
    assert store.read(lambda tx: tx.pauses()) == []
    assert pause(store, scope)["changed"]


@on_servers
def test_other_refusals_of_the_lock_stay_what_they_are(store, monkeypatch):
    monkeypatch.setitem(store.queries, "pause_lock", "select 1 / 0")
    with pytest.raises(StoreError) as refused:
        pause(store, "group")
    assert refused.value.code == "STORE_REFUSED"


@on_servers
def test_jobs_of_no_group_and_no_tenant_take_no_lock(store, other):
    transaction = other.begin()
    transaction.insert([NewJob("mail", "{}")])
    transaction.insert([NewJob("mail", "{}")] * 3)
    locks = transaction.execute("select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()")
    other.roll_back()
    assert len(locks) == 0


@pytest.mark.slow
def test_paused_jobs_cost_a_claim_nothing(store):
    """HOLDFAST_PAUSED=1000000 for the full size."""
    number = size("HOLDFAST_PAUSED", 20_000)
    pause(store, "group")
    enqueue(store, priority=9)

    def best():
        times = []
        for _ in range(20):
            begin = perf_counter()
            runs = claim(store, MAIL, limit=1)
            times.append(perf_counter() - begin)
            (run,) = runs
            assert finish(store, run, Stopped())
        return min(times)

    before = best()
    for _ in range(0, number, 5_000):
        insert(store, *[NewJob("mail", "{}", priority=1, **GROUP)] * 5_000)
    if is_postgres(store):
        write(store, lambda tx: tx.execute("analyze job_queue"))
    after = best()
    tell("a claim beside paused jobs", {"jobs": number, "alone_us": int(before * 1e6), "beside_us": int(after * 1e6)})
    assert after < 3 * before + 0.002
