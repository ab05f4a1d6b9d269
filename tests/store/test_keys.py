from __future__ import annotations

import pytest

from holdfast.model.errors import KeyConflict
from holdfast.model.outcome import Abandoned, Stopped
from holdfast.model.request import NewJob
from tests.store.given import (
    DAY,
    DONE,
    FAILED,
    HOUR,
    LEASE,
    RAISED,
    cancel,
    claim_one,
    dead,
    ended,
    finish,
    get,
    insert,
    listed,
    recover,
    retry,
    running,
    write,
)  # fmt: skip


def again(store, payload="{}", **options):
    return insert(store, NewJob("mail", payload, key="k", **options))[0]


def test_the_order_of_fields_makes_no_other_request(store):
    first = again(store, '{"a":1,"b":[1,2]}')
    assert again(store, '{"b":[1,2],"a":1}').id == first.id
    for other in ('{"a":1,"b":[2,1]}', '{"a":true,"b":[1,2]}', '{"a":1.0,"b":[1,2]}'):
        with pytest.raises(KeyConflict):
            again(store, other)


def test_the_same_request_answers_the_job_that_exists(store):
    first = again(store)
    second = again(store)
    assert (first.created, second.created) == (True, False)
    assert first.id == second.id
    assert len(listed(store)) == 1


def test_a_duplicate_changes_nothing(store, clock):
    first = again(store)
    before = get(store, first.id)
    clock.forward(HOUR)
    again(store, priority=1, delay=60, queue="gpu", group="g")
    assert get(store, first.id) == before


@pytest.mark.parametrize("make", [dead, lambda s, **o: ended(s, DONE, **o), lambda s, **o: running(s, **o).id])
def test_a_key_is_taken_in_every_status(store, make):
    job_id = make(store, key="k")
    assert again(store) == (job_id, False)


def test_a_key_is_taken_by_a_cancelled_job(store):
    job_id = again(store).id
    cancel(store, job_id)
    assert again(store) == (job_id, False)


def test_another_payload_under_the_same_key_is_a_conflict(store):
    job_id = again(store).id
    with pytest.raises(KeyConflict, match=f"(?s){job_id}.*another payload") as caught:
        again(store, payload="[1]")
    assert caught.value.code == "KEY_CONFLICT"


def test_another_type_under_the_same_key_is_a_conflict(store):
    again(store)
    with pytest.raises(KeyConflict, match="another type"):
        insert(store, NewJob("print", "{}", key="k"))
    assert len(listed(store)) == 1


def test_tenants_do_not_share_keys(store):
    ids = {again(store, tenant=tenant).id for tenant in ("", "a", "b")}
    assert len(ids) == 3
    assert again(store, payload="[1]", tenant="c").created
    assert again(store, tenant="a").id in ids - {again(store, tenant="").id, again(store, tenant="b").id}


def test_a_key_is_compared_to_the_letter(store):
    insert(store, NewJob("mail", "{}", key="K"), NewJob("mail", "{}", key="k"), NewJob("mail", "{}", key="k "))
    assert len(listed(store)) == 3


def test_jobs_without_a_key_never_collide(store):
    assert insert(store, NewJob("mail", "{}"), NewJob("mail", "{}"))[1].created


def test_one_call_may_name_a_key_twice(store):
    first, second, third = insert(
        store, NewJob("mail", "{}", key="k"), NewJob("mail", "{}"), NewJob("mail", "{}", key="k")
    )
    assert (first.created, second.created, third.created) == (True, True, False)
    assert third.id == first.id


def test_two_stores_share_their_keys(store, other):
    assert again(store).id == again(other).id


@pytest.mark.parametrize("outcome", [DONE, FAILED, Abandoned()])
def test_an_active_key_is_free_when_its_run_ends(store, outcome):
    old = ended(store, outcome, key="k", key_window="active")
    new = again(store, payload="[1]", key_window="active")
    assert new.created
    assert new.id != old
    assert get(store, old).idempotency_key is None


def test_an_active_key_is_free_when_its_job_is_a_dead_letter(store):
    dead(store, key="k", key_window="active")
    assert again(store).created


@pytest.mark.parametrize("take", [False, True])
def test_an_active_key_is_free_when_its_job_is_cancelled(store, take):
    job_id = again(store, key_window="active").id
    if take:
        claim_one(store)
    cancel(store, job_id)
    assert again(store).created


def test_an_active_key_is_free_when_its_job_is_cancelled_gracefully(store):
    run = running(store, key="k", key_window="active")
    cancel(store, run.id, graceful=True)
    assert not again(store).created
    finish(store, run, RAISED)
    assert again(store).created


def test_an_active_key_is_free_when_the_watchdog_ends_its_job(store, clock):
    running(store, key="k", key_window="active", max_attempts=1)
    clock.forward(LEASE + 1)
    recover(store)
    assert again(store).created


@pytest.mark.parametrize("outcome", [RAISED, Stopped()])
def test_an_active_key_stays_taken_while_its_job_goes_on(store, outcome):
    job_id = ended(store, outcome, key="k", key_window="active")
    assert again(store) == (job_id, False)
    with pytest.raises(KeyConflict):
        again(store, payload="[1]")


def test_a_job_sent_round_again_has_let_go_of_its_active_key(store):
    old = dead(store, key="k", key_window="active")
    new = again(store, key_window="active")
    retry(store, old)
    assert get(store, old).idempotency_key is None
    assert again(store) == (new.id, False)


@pytest.mark.parametrize(("past", "created"), [(-1, False), (0, True), (1, True)])
def test_a_key_with_a_period_is_free_when_the_period_is_over(store, clock, past, created):
    old = ended(store, DONE, key="k", key_window=3600)
    clock.forward(HOUR + past)
    new = again(store, key_window=3600)
    assert new.created is created
    assert (new.id != old) is created
    assert get(store, new.id).idempotency_key == "k"


def test_after_its_period_a_key_may_carry_another_request(store, clock):
    ended(store, DONE, key="k", key_window=3600)
    clock.forward(2 * HOUR)
    assert again(store, payload="[1]").created


@pytest.mark.parametrize("take", [False, True])
def test_a_period_never_frees_the_key_of_a_job_that_has_not_ended(store, clock, take):
    job_id = again(store, key_window=3600).id
    if take:
        claim_one(store)
    clock.forward(DAY)
    assert again(store) == (job_id, False)


def test_a_key_is_free_when_retention_has_taken_the_row(store, clock):
    old = ended(store, DONE, key="k")
    clock.forward(DAY + 1)
    write(store, lambda tx: tx.sweep_ended({"completed": DAY}, "", 10))
    new = again(store, payload="[1]")
    assert new.created
    assert new.id != old


def test_a_key_can_be_asked_for_before_it_is_used(store):
    assert not store.read(lambda tx: tx.has_key("", "k"))
    again(store)
    assert store.read(lambda tx: tx.has_key("", "k"))
    assert not store.read(lambda tx: tx.has_key("t", "k"))
