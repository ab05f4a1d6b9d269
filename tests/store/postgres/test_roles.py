"""Each role tries everything: every table, to read and to write, with and without a tenant."""

from __future__ import annotations

import os

import psycopg
import pytest

from holdfast import App
from holdfast.cli.sql import roles_text
from holdfast.engine import batches, cancels, jobs, pauses, schedules
from holdfast.engine.desk import Desk
from holdfast.model.batch import NewBatch
from holdfast.model.errors import BadInput, StoreError
from holdfast.model.held import GROUP_PAUSED, TENANT_PAUSED
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.schedule import plan_of
from holdfast.model.subscription import subscription
from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import server
from tests.store.given import DONE, TABLES, claim, dead, enqueue, finish, get, listed, write
from tests.store.limited import limit, take

ROLES = ("owner", "worker", "reader", "tenant")
POLICED = (
    "job_queue", "job_history", "job_sequences", "job_parents", "job_stopping", "job_batches", "job_items", "job_units",
)  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    """A database with the roles, a log-in for each, and rows of three tenants in every table."""
    url = server().migrated()
    with psycopg.connect(url, autocommit=True) as admin:
        for _ in range(2):  # safe to run again
            admin.execute(roles_text())
        for role in ROLES:
            admin.execute(f"create role {name_of(role)} login in role holdfast_{role}")
        admin.execute(f"create role {name_of('nobody')} login")
    store = PostgresStore(url)
    for tenant in ("acme", "umbrella", ""):
        dead(store, tenant=tenant)
        enqueue(store, tenant=tenant, key="same")
        finish(store, claim(store, limit=1)[0], DONE)
        parent = enqueue(store, "waiting", tenant=tenant)
        enqueue(store, "waiting", tenant=tenant, depends_on=parent)
        gone = dead(store, tenant=tenant)
        write(store, lambda tx, gone=gone: jobs.purge(tx, gone, actor="ann"))
        newest = NewJob("waiting", "{}", tenant=tenant, coalesce_key="c", sequence=1)
        write(store, lambda tx, newest=newest: tx.coalesce(newest))
        run = claim(store, Lane("default", "waiting"), limit=1)[0]
        write(store, lambda tx, run=run: jobs.cancel(tx, run.id))
        write(store, lambda tx, tenant=tenant: tx.cancel_note(tenant, "g", types=None, mode="immediate", by=None))
        heard = subscription(f"ops {tenant}", "pager", ends=["failed"], tenant=tenant or None)
        write(store, lambda tx, heard=heard: tx.subscribe(heard, "ann"))
        item = NewJob("item", "{}", tenant=tenant)
        batch = NewBatch(id=f"{tenant or 'nobody':0>26}", pattern=item, total=1, digest="")
        write(store, lambda tx, batch=batch, item=item: tx.add_batch(batch, [item], [0]))
        finish(store, claim(store, Lane("default", "item"))[0], DONE)
    limit(store, "domain", rate=5, concurrency=9)
    for tenant in ("acme", "umbrella", ""):
        enqueue(store, "limited", tenant=tenant, limits=["domain"])
    take(store)
    write(store, lambda tx: tx.pause("images", "ann"))
    write(store, lambda tx: tx.lead("me", 1000))
    write(store, lambda tx: schedules.declare(tx, {"often": plan_of(NewJob("mail", "{}", tenant="acme"), every=60)}))
    write(store, lambda tx: tx.beat({"id": "w", "host": "h", "pid": 1, "lanes": "[]", "places": 1, "running": 0}))
    store.close()
    yield url
    server().drop(url)
    with psycopg.connect(server().url, autocommit=True) as admin:
        for role in (*ROLES, "nobody"):
            admin.execute(f"drop role {name_of(role)}")


def name_of(role):
    """Roles belong to the whole server, which other processes may use as well."""
    return f"as_{role}_{os.getpid()}"


def login(url, role):
    return url.replace("postgres@", f"{name_of(role)}@", 1)


def attempt(url, role, statement, tenant=None):
    """How many rows it reached, or `denied`; undone in any case."""
    with psycopg.connect(login(url, role)) as connection:
        try:
            if tenant is not None:
                connection.execute("select set_config('holdfast.tenant', %s, true)", (tenant,))
            return connection.execute(statement).rowcount
        except psycopg.errors.InsufficientPrivilege:
            return "denied"
        finally:
            connection.rollback()


def rows(url, table, where="true"):
    with psycopg.connect(url) as connection:
        return connection.execute(f"select from {table} where {where}").rowcount


COLUMN = {
    "job_queue": "version", "job_history": "why", "job_figures": "count", "job_workers": "pid", "job_pauses": "paused_by",
    "job_leader": "owner", "job_audit": "act", "job_sequences": "discarded",
    "job_schedules": "note", "job_parents": "done", "job_cancels": "mode", "job_stopping": "token",
    "job_subscriptions": "endpoint", "job_batches": "version", "job_items": "status",
    "job_limits": "updated_by", "job_lanes": "tat", "job_units": "owner", "job_looks": "key",
}  # fmt: skip


def reads(table):
    return f"select * from {table}"


def updates(table):
    return f"update {table} set {COLUMN[table]} = {COLUMN[table]}"


def deletes(table):
    return f"delete from {table}"


def inserts(table):
    return f"insert into {table} select * from {table} limit 1 on conflict do nothing"


WRITES = (updates, deletes)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("tenant", [None, "", "acme"])
class TestEveryTable:
    @pytest.mark.parametrize("role", ["owner", "worker"])
    def test_the_owner_and_the_workers_reach_all_rows_whatever_tenant_is_set(self, shared, role, table, tenant):
        everything = rows(shared, table)
        assert everything
        for statement in (reads, *WRITES):
            assert attempt(shared, role, statement(table), tenant) == everything
        assert attempt(shared, role, inserts(table), tenant) != "denied"

    def test_a_reader_reads_all_rows_and_writes_none(self, shared, table, tenant):
        assert attempt(shared, "reader", reads(table), tenant) == rows(shared, table)
        for statement in (*WRITES, inserts):
            assert attempt(shared, "reader", statement(table), tenant) == "denied"

    def test_a_tenant_reaches_its_own_rows_and_nothing_without_a_tenant(self, shared, table, tenant):
        if table in POLICED:
            column = {"job_queue": "id", "job_parents": "child"}.get(table, "job_id")
            own = f"{column} in (select id from job_queue where tenant = 'acme')"
            own = "tenant = 'acme'" if table == "job_batches" else own
            reached = rows(shared, table, own) if tenant else 0
            assert [attempt(shared, "tenant", statement(table), tenant) for statement in (reads, *WRITES)] == [
                reached
            ] * 3
            assert attempt(shared, "tenant", inserts(table), tenant) == ("denied" if table == "job_units" else 0)
        elif table == "job_cancels":
            reached = rows(shared, table, "tenant = 'acme'") if tenant else 0
            assert [attempt(shared, "tenant", statement(table), tenant) for statement in (reads, *WRITES)] == [
                reached
            ] * 3
        elif table == "job_audit":  # what it deleted stays written down
            own = rows(shared, table, "tenant = 'acme'")
            assert own == 1
            assert attempt(shared, "tenant", reads(table), tenant) == (own if tenant else 0)
            assert attempt(shared, "tenant", inserts(table), tenant) == 0
            for statement in WRITES:
                assert attempt(shared, "tenant", statement(table), tenant) == "denied"
        elif table == "job_subscriptions":  # its own, and those for every tenant
            seen = rows(shared, table, "tenant is null or tenant = 'acme'" if tenant else "tenant is null")
            assert attempt(shared, "tenant", reads(table), tenant) == seen
            for statement in (*WRITES, inserts):
                assert attempt(shared, "tenant", statement(table), tenant) == "denied"
        else:
            looks = table in ("job_workers", "job_pauses", "job_limits", "job_lanes")
            assert attempt(shared, "tenant", reads(table), tenant) == (rows(shared, table) if looks else "denied")
            for statement in (*WRITES, inserts):
                assert attempt(shared, "tenant", statement(table), tenant) == "denied"

    def test_a_role_without_grants_reaches_nothing(self, shared, table, tenant):
        for statement in (reads, *WRITES, inserts):
            assert attempt(shared, "nobody", statement(table), tenant) == "denied"


@pytest.mark.parametrize("role", ["worker", "reader", "tenant", "nobody"])
@pytest.mark.parametrize(
    "statement",
    [
        "create table mine (id integer)",
        "alter table job_queue add column mine integer",
        "alter table job_queue disable row level security",
        "drop policy job_queue_tenant on job_queue",
        "drop table job_leader",
        "truncate job_queue",
        "insert into holdfast_schema values (99, 'later', now())",
        "set role holdfast_owner",
    ],
)
def test_only_the_owner_changes_tables(shared, role, statement):
    assert attempt(shared, role, statement) == "denied"


def test_the_owner_migrates(shared):
    store = PostgresStore(login(shared, "owner"))
    assert store.migrate() == 0
    assert attempt(shared, "owner", "alter table job_queue add column mine integer") != "denied"


@pytest.mark.parametrize(
    "statement",
    [
        """insert into job_queue (id, type, scheduled_at, payload, created_at, updated_at, tenant)
        values ('x', 't', now(), '{}', now(), now(), 'umbrella')""",
        "update job_queue set tenant = 'umbrella'",
        "update job_queue set tenant = ''",
    ],
)
def test_a_tenant_cannot_write_into_another(shared, statement):
    assert attempt(shared, "tenant", statement, "acme") == "denied"


def test_a_tenant_cannot_write_the_history_of_anothers_job(shared):
    with psycopg.connect(shared) as admin:
        (job_id,) = admin.execute("select id from job_queue where tenant = 'umbrella' limit 1").fetchone()
    line = f"insert into job_history values ('{job_id}', 99, now(), 'queued', 'queued', 'forged', 0)"
    assert attempt(shared, "tenant", line, "acme") == "denied"


def test_a_tenant_of_an_earlier_transaction_in_the_session_counts_no_more(shared):
    with psycopg.connect(login(shared, "tenant")) as connection:
        connection.execute("set local holdfast.tenant = 'acme'")
        assert connection.execute("select from job_queue").rowcount >= 3
        connection.commit()
        assert connection.execute("select current_setting('holdfast.tenant', true)").fetchone() == ("",)
        assert connection.execute("select from job_queue").rowcount == 0, "the jobs of nobody are not everybody's"


@pytest.fixture
def acme(shared):
    """The application of one tenant."""
    with App(f"{login(shared, 'tenant')}&tenant=acme") as app:
        yield app


def test_an_application_of_a_tenant_sees_its_jobs_and_no_others(shared, acme):
    assert {job.tenant for job in acme.jobs()} == {"acme"}
    theirs = PostgresStore(shared)
    foreign = [job_id for job_id in listed(theirs) if get(theirs, job_id).tenant != "acme"]
    theirs.close()
    assert len(foreign) == 14
    for job_id in foreign:
        for verb in (acme.get, acme.cancel, acme.retry, acme.explain):
            with pytest.raises(Exception, match="no job"):
                verb(job_id)


def test_an_application_of_a_tenant_makes_batches_and_sees_no_others(shared, acme):
    @acme.job
    def letter(n: int) -> int:
        return n

    batch = acme.map(letter, [{"n": n} for n in range(3)], key="letters")
    assert not acme.map(letter, [{"n": n} for n in range(3)], key="letters").created
    assert batch.cancel() == 1
    assert batch.progress()["cancelled"] == 3
    assert len(list(batch.errors())) == 3
    assert {one.tenant for one in acme.desk.read(batches.list_batches)[0]} == {"acme"}
    with pytest.raises(Exception, match="no batch"):
        acme.batch(f"{'umbrella':0>26}").progress()
    with psycopg.connect(shared, autocommit=True) as admin:
        admin.execute("delete from job_batches where id = %s", (batch.id,))
        admin.execute("delete from job_items where batch = %s", (batch.id,))
        admin.execute("delete from job_queue where batch = %s", (batch.id,))


def test_an_application_of_a_tenant_enqueues_for_it(shared, acme):
    handle = acme.enqueue("mail", {"n": 1}, key="new")
    many = acme.store([acme.new_job("mail", {"n": n}, {}) for n in range(3)])
    assert {acme.get(one.id).tenant for one in (handle, *many)} == {"acme"}
    assert not acme.enqueue("mail", {"n": 1}, key="new").created
    assert acme.desk.read(lambda tx: tx.has_key("", "new"))
    for made in (handle, *many):
        acme.cancel(made.id)
        acme.desk.write(lambda tx, made=made: tx.purge(made.id, "cancelled"))
    assert acme.explain(acme.jobs(type="waiting")[0].id)


def test_an_application_of_a_tenant_lets_its_jobs_wait_for_its_own_and_no_others(shared, acme):
    theirs = PostgresStore(shared)
    foreign = next(job_id for job_id in listed(theirs) if get(theirs, job_id).tenant != "acme")
    theirs.close()
    with pytest.raises(BadInput) as caught:
        acme.enqueue("child", {}, depends_on=foreign)
    assert caught.value.code == "PARENT_NOT_FOUND"
    parent = acme.enqueue("parent", {})
    child = acme.enqueue("child", {}, depends_on=parent)
    assert acme.get(child.id).blocked == 1
    acme.cancel(parent.id)
    assert acme.get(child.id).error["parent"] == parent.id
    for made in (child, parent):
        acme.desk.write(lambda tx, made=made: tx.purge(made.id, "cancelled"))


def test_jobs_of_a_tenant_may_have_limits(acme):
    handle = acme.enqueue("limited", {}, limits=["domain", "x"])
    assert acme.explain(handle.id)["reasons"][0]["code"] == "LIMITED"
    assert acme.cancel(handle.id)["status"] == "cancelled"
    acme.desk.write(lambda tx: tx.purge(handle.id, "cancelled"))


def test_an_application_of_a_tenant_cannot_enqueue_for_another(acme):
    with pytest.raises(StoreError) as caught:
        acme.enqueue("mail", {}, tenant="umbrella")
    assert caught.value.code == "STORE_FORBIDDEN"


def test_keys_of_other_tenants_are_not_met(acme):
    assert acme.enqueue("other", {}, key="theirs").created
    acme.cancel(acme.jobs(type="other")[0].id)


@pytest.mark.parametrize("role", ["owner", "worker", "reader"])
def test_a_tenant_in_the_address_of_a_role_that_sees_all_is_refused(shared, role):
    store = PostgresStore(f"{login(shared, role)}&tenant=acme")
    with pytest.raises(StoreError) as caught:
        store.read(lambda tx: tx.depth("default", 1))
    assert caught.value.code == "STORE_FORBIDDEN"
    assert "holdfast_tenant" in str(caught.value)
    store.close()


def test_a_tenants_log_in_without_a_tenant_sees_nothing(shared):
    with App(login(shared, "tenant")) as app:
        assert app.jobs() == []
        with pytest.raises(StoreError) as caught:
            app.enqueue("mail", {})
        assert caught.value.code == "STORE_FORBIDDEN"


def test_a_worker_works_for_all_tenants(shared):
    store = PostgresStore(login(shared, "worker"))
    made = [enqueue(store, "sweep", tenant=tenant) for tenant in ("acme", "umbrella", "")]
    write(store, lambda tx: tx.insert([NewJob("bulk", "{}", tenant="acme") for _ in range(3)]))
    runs = claim(store, Lane("default", "sweep"))
    assert {run.tenant for run in runs} == {"acme", "umbrella", ""}
    assert all(finish(store, run, DONE) for run in runs)
    assert write(store, lambda tx: tx.lead("me", 1000))
    assert all(write(store, lambda tx, one=one: tx.purge(one, "completed")) for one in made)
    store.close()


def plan(url, query):
    with psycopg.connect(url) as connection:
        return "\n".join(line for (line,) in connection.execute(f"explain (costs off) {query}"))


@pytest.mark.parametrize("role", ["owner", "worker", "reader"])
def test_policies_add_nothing_to_the_plans_of_those_who_see_all(shared, role):
    query = "select id from job_queue where status = 'queued' and held = 0 and queue = 'default' and type = 'mail'"
    assert plan(login(shared, role), query) == plan(shared, query)
    assert "holdfast.tenant" in plan(login(shared, "tenant"), query)


def test_a_tenant_sees_the_pauses_of_queues_and_its_own(shared):
    store = PostgresStore(shared)
    desk = Desk(store)
    for tenant in ("acme", "umbrella"):
        pauses.pause_group(desk, "g", "ann", tenant=tenant)
        pauses.pause_tenant(desk, tenant, "ann")
    bound = PostgresStore(login(shared, "tenant") + "&tenant=acme")
    try:
        found = bound.read(lambda tx: tx.pauses())
        assert {(one["scope"], one["tenant"]) for one in found} == {
            ("queue", ""),
            ("group", "acme"),
            ("tenant", "acme"),
        }
        job_id = enqueue(bound, group="g")
        assert get(bound, job_id).held == GROUP_PAUSED | TENANT_PAUSED
        assert cancels.cancel(Desk(bound), "g")["cancelled"] == 1
        with pytest.raises(StoreError) as refused:
            pauses.resume_group(Desk(bound), "g")
        assert refused.value.code == "STORE_FORBIDDEN"
    finally:
        bound.close()
        for tenant in ("acme", "umbrella"):
            pauses.resume_group(desk, "g", tenant=tenant)
            pauses.resume_tenant(desk, tenant)
        store.close()
