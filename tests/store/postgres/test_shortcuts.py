"""The short ways of an enqueue are taken where they are open, and only there."""

from __future__ import annotations

import pytest

from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from tests.store.given import claim, enqueue, get, insert, listed, write


def lone(store, **options):
    return store.insert_alone(NewJob("mail", "{}", **options))[0][0]


def prepared(store):
    return store._writer.execute("select count(*) from pg_prepared_statements")[0][0]


def test_a_lone_enqueue_is_prepared_from_its_second_use_on(pg):
    counts = []
    for _ in range(3):
        lone(pg)
        counts.append(prepared(pg))
    assert counts == [0, 1, 1]
    assert len(listed(pg)) == 3


def test_nothing_is_prepared_where_the_address_says_so(url, open_url):
    store = open_url(f"{url}&prepare=off")
    assert len({lone(store) for _ in range(3)}) == 3
    assert prepared(store) == 0


def test_nothing_is_prepared_behind_a_pooler(pg):
    pg.queries["keep_settings"] += " + 1"  # the server's process is not the one that greeted us
    assert len({lone(pg) for _ in range(3)}) == 3
    assert prepared(pg) == 0


def test_a_lone_enqueue_is_planned_once_and_transactions_by_their_values(pg):
    for _ in range(4):
        lone(pg)
    plans = "select generic_plans, custom_plans from pg_prepared_statements where statement like '-- insert_alone:%'"
    mode = "select current_setting('plan_cache_mode')"
    assert (pg._writer.execute(plans), pg._writer.execute(mode)) == ([(3, 0)], [("force_generic_plan",)])
    assert write(pg, lambda tx: tx.execute(mode)) == [("auto",)]
    tx = pg.begin()
    assert tx.execute(mode) == [("auto",)]
    pg.roll_back()


def test_a_pooler_that_hides_is_found_out_and_nothing_is_lost(pg):
    ids = {lone(pg), lone(pg)}
    pg._writer.raw.pgconn.exec_(b"deallocate all")  # as in a session that never saw the statement
    ids |= {lone(pg), lone(pg)}
    assert prepared(pg) == 0
    assert set(listed(pg)) == ids
    assert len(ids) == 4


def names_of_prepared(store):
    rows = store._writer.execute("select split_part(statement, ':', 1) from pg_prepared_statements order by 1")
    return [name.removeprefix("-- ") for (name,) in rows]


def test_claims_are_prepared_from_the_second_on_and_keep_one_plan(pg):
    for _ in range(12):
        enqueue(pg)
        assert len(claim(pg)) == 1
        assert not claim(pg)
    assert names_of_prepared(pg) == ["claim", "claim_rest"]
    plans = pg._writer.execute("select generic_plans, custom_plans from pg_prepared_statements")
    assert all(custom == 5 and generic > 5 for generic, custom in plans)


def test_a_claim_that_a_hiding_pooler_spoils_is_made_again(pg):
    for _ in range(3):
        claim(pg)
    enqueue(pg)
    pg._writer.raw.pgconn.exec_(b"deallocate all")
    assert len(claim(pg)) == 1
    assert prepared(pg) == 0


def test_a_claim_reads_no_table_whatever_was_known_when_it_was_planned(pg, admin):
    """The plan is made where the statistics are those of an empty table, and kept."""
    admin.execute("vacuum analyze job_queue")
    for _ in range(8):
        claim(pg)
    rows = pg._writer.execute("select name from pg_prepared_statements where statement like '-- claim:%'")
    lanes = "'{default}', '{mail}', '{1}'"
    plan = pg._writer.execute(f"explain execute {rows[0][0]} (now(), {lanes}, 10, false, 'me', 60000)")
    text = "\n".join(line for (line,) in plan)
    assert "job_queue_due" in text
    assert "Seq Scan on job_" not in text
    assert "Bitmap" not in text


def test_a_prepared_enqueue_that_is_refused_says_so(pg, admin):
    lone(pg), lone(pg)
    admin.execute("alter table job_queue add constraint no_mail check (type <> 'mail') not valid")
    try:
        with pytest.raises(StoreError) as caught:
            lone(pg)
    finally:
        admin.execute("alter table job_queue drop constraint no_mail")
    assert caught.value.code == "STORE_REFUSED"


@pytest.mark.parametrize(("key", "beside"), [(None, False), ("k", True)])
def test_many_jobs_without_keys_go_straight_into_the_table(pg, key, beside):
    jobs = [
        NewJob("mail", '{"tab":"\\t","back":"\\\\"}', key=key, group="g", tenant="t"),
        NewJob("print", "{}", delay=9),
    ]
    first, second = (answer.id for answer in insert(pg, *jobs))
    made = pg._writer.execute("select to_regclass('pg_temp.holdfast_incoming') is not null")[0][0]
    assert made is beside
    assert get(pg, first).payload == {"tab": "\t", "back": "\\"}
    assert (get(pg, first).group, get(pg, first).tenant, get(pg, first).idempotency_key) == ("g", "t", key)
    assert get(pg, second).scheduled_at > get(pg, second).created_at == get(pg, second).updated_at


def test_many_jobs_on_the_straight_way_are_stored_as_a_whole_or_not_at_all(pg, admin):
    admin.execute("alter table job_queue add constraint no_mail check (type <> 'mail') not valid")
    try:
        with pytest.raises(StoreError) as caught:
            insert(pg, NewJob("print", "{}"), NewJob("mail", "{}"))
    finally:
        admin.execute("alter table job_queue drop constraint no_mail")
    assert caught.value.code == "STORE_REFUSED"
    assert listed(pg) == []


def test_an_own_transaction_plans_by_index_and_a_callers_as_the_server_is_set(pg):
    shown = "select array_agg(current_setting(name)) from unnest(array['enable_seqscan', 'jit']) as name"
    assert write(pg, lambda tx: tx.execute(shown)) == [(["off", "off"],)]
    before = pg._writer.execute(shown)
    tx = pg.begin()
    assert tx.execute(shown) == before
    pg.roll_back()
