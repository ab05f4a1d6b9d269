"""A worker that was woken takes its jobs by one statement that commits by itself, and by the long way where it must."""

from __future__ import annotations

import pytest

from holdfast.engine.leases import exchange
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Order
from holdfast.store.postgres.trail import Trail
from tests.store.given import MAIL, NOON, POOLED, WAYS, enqueue, get, insert, listed, transactions
from tests.store.limited import limit

PRINT = Lane("default", "print")
INSTANTS = ("id", "created_at", "scheduled_at", "started_at", "lease_until")
SETTINGS = "select current_setting('enable_seqscan'), current_setting('jit')"


@pytest.fixture
def ones(monkeypatch):
    """Whether claims may be for one job; until a test says so, as many are taken as there are."""

    def may_be(*, for_one):
        monkeypatch.setattr(Trail, "one_at", 0.0 if for_one else float("inf"))

    may_be(for_one=False)
    return may_be


@pytest.fixture
def watched(url, open_url, ones):
    """A store of a process whose supervisor hands back what it claimed and does not run."""
    del ones
    store = open_url(url)
    store.watched = True
    enqueue(store)  # opens the connection
    take(store)
    return store


def take(store, *lanes, limit=10, orders=1):
    wanted = [Order(f"here:1:{number}", lanes or (MAIL,), limit, 60_000) for number in range(orders)]
    (answer,), _ = store.write([lambda tx: exchange(tx, (), wanted)], hastily=True)
    if isinstance(answer, Exception):
        raise answer
    return [run for runs in answer.claims for run in runs]


def test_jobs_are_taken_best_first_without_a_transaction(watched):
    later, first = enqueue(watched), enqueue(watched, priority=1)
    runs, begun = transactions(watched, lambda: take(watched))
    assert ([run.id for run in runs], begun) == ([first, later], 0)
    for run in runs:
        job = get(watched, run.id)
        assert (job.status, job.attempts, run.token) == (Status.IN_PROGRESS, 1, 1)
        assert (job.lease_until - job.started_at).total_seconds() == 60
        assert job.started_at >= job.scheduled_at


def test_of_several_orders_one_is_served_and_the_next_exchange_serves_the_others(watched):
    ids = [answer.id for answer in insert(watched, *[NewJob("mail", "{}")] * 3)]
    runs, begun = transactions(watched, lambda: take(watched, limit=2, orders=2))
    assert ([run.id for run in runs], [run.lease_owner for run in runs], begun) == (ids[:2], ["here:1:0"] * 2, 0)
    assert [run.id for run in take(watched, limit=2, orders=2)] == ids[2:]


def test_a_job_alone_is_taken_by_a_shorter_statement_and_more_soon_after_all_at_once(watched, ones):
    ones(for_one=True)
    second, third, first = enqueue(watched), enqueue(watched), enqueue(watched, priority=2)
    found = [transactions(watched, lambda: [run.id for run in take(watched)]) for _ in range(2)]
    assert found == [([first], 0), ([second, third], 0)]
    names = watched._writer.execute("select split_part(statement, ':', 1) from pg_prepared_statements order by 1")
    assert ("-- claim_one",) in names


def test_it_is_the_same_claim(watched, ones):
    asked = NewJob("mail", '{"to":"ann"}', tenant="t", context='{"a":1}', timeout=7, max_attempts=4)
    insert(watched, asked, asked)
    usually = take(watched, limit=1)[0]
    ones(for_one=True)
    (at_once,) = take(watched)
    assert at_once._replace(**{name: getattr(usually, name) for name in INSTANTS}) == usually


def test_the_best_of_several_lanes_is_the_most_urgent_then_the_one_that_waits_longest(watched, ones, monkeypatch):
    monkeypatch.setattr("holdfast.store.postgres.leases.ONE_REST", 0)
    ones(for_one=True)
    second, third = enqueue(watched, kind="print"), enqueue(watched)
    first = enqueue(watched, priority=2)
    assert [run.id for _ in range(3) for run in take(watched, MAIL, PRINT)] == [first, second, third]


def test_what_is_not_due_hides_nothing_on_the_long_way(watched, ones):
    ones(for_one=True)
    enqueue(watched, priority=1, delay=3_600)
    due = enqueue(watched)
    assert transactions(watched, lambda: [run.id for run in take(watched)]) == ([due], 1)


def test_jobs_that_share_a_call_are_taken_together(watched, ones):
    ones(for_one=True)
    ids = [answer.id for answer in insert(watched, *[NewJob("mail", "{}")] * 3)]
    orders = [Order("here:1:0", (MAIL,), 10, 60_000, together=True)]
    (got,), _ = watched.write([lambda tx: exchange(tx, (), orders)], hastily=True)
    assert [run.id for run in got.claims[0]] == ids


@pytest.mark.parametrize("for_one", [False, True])
def test_a_job_that_another_has_in_its_hands_is_left_to_it(watched, ones, admin, for_one):
    ones(for_one=for_one)
    held, free = enqueue(watched), enqueue(watched)
    with admin.transaction():
        admin.execute("update job_queue set priority = 1 where id = %s", (held,))  # it moves to another place
        assert [run.id for run in take(watched)] == [free]
    assert [run.id for run in take(watched)] == [held]


def test_the_shorter_one_leaves_pauses_and_limits_as_they_are(watched, ones, admin, monkeypatch):
    monkeypatch.setattr("holdfast.store.postgres.leases.ONE_REST", 0)
    ones(for_one=True)
    limit(watched, "site", concurrency=1)
    limited, behind = (insert(watched, NewJob("mail", "{}", limits=["site"]))[0].id for _ in range(2))
    watched.queries.kept.pop("lines", None)
    while not (runs := take(watched)):
        continue
    assert [run.id for run in runs] == [limited]
    assert admin.execute("select owner from job_units").fetchall() == [("here:1:0",)]
    enqueue(watched)
    watched.write([lambda tx: tx.pause("default", "test")])
    assert take(watched) == []
    assert get(watched, behind).status is Status.QUEUED


def test_where_nothing_is_found_the_long_way_tells_when_there_will_be(watched):
    enqueue(watched, delay=3_600)
    (got,), _ = watched.write([lambda tx: exchange(tx, (), [Order("me", (MAIL,), 5, 60_000)])], hastily=True)
    assert got.claims == [[]]
    assert 3_500_000 < got.next_due - got.now <= 3_600_000


def test_the_first_claim_of_a_process_takes_the_long_way_to_its_connection(url, open_url):
    enqueue(open_url(url))
    store = open_url(url)
    store.watched = True
    assert len(take(store)) == 1


def test_at_another_clock_than_the_databases_it_takes_the_long_way(pg):
    pg.watched = True
    enqueue(pg)
    (run,) = take(pg)
    assert get(pg, run.id).started_at.timestamp() * 1000 == NOON


def test_nobody_claims_so_whose_lost_answers_nobody_would_find(watched):
    watched.watched = False
    enqueue(watched)
    assert transactions(watched, lambda: len(take(watched))) == (1, 1)


def test_a_job_with_limits_is_taken_together_with_its_units(watched, admin):
    limit(watched, "site", concurrency=1)
    limited = insert(watched, NewJob("mail", "{}", priority=1, limits=["site"]))[0].id
    watched.queries.kept.pop("lines", None)
    while not (runs := take(watched)):  # admitted by the first look, claimed by the same or the next
        continue
    assert [run.id for run in runs] == [limited]
    assert admin.execute("select owner from job_units").fetchall() == [("here:1:0",)]
    behind = insert(watched, NewJob("mail", "{}", priority=1, limits=["site"]))[0].id
    plain = enqueue(watched)
    assert [run.id for run in take(watched)] == [plain]
    assert get(watched, behind).status is Status.QUEUED


def test_an_admitted_job_among_the_best_leaves_all_of_them_to_the_long_way(watched, admin):
    limit(watched, "site", concurrency=1)
    insert(watched, NewJob("mail", "{}", priority=1, limits=["site"]))
    watched.write([lambda tx: tx.admit([Order("me", (MAIL,), 5, 60_000)])])
    watched.queries.kept.pop("lines", None)
    admin.execute("delete from job_looks")
    plain = enqueue(watched)
    runs, begun = transactions(watched, lambda: take(watched))
    assert [run.id for run in runs][1:] == [plain]
    assert begun == 1
    assert admin.execute("select owner from job_units").fetchall() == [("here:1:0",)]


def test_lines_to_look_at_that_a_claim_tells_of_are_looked_at_next(watched, admin):
    limit(watched, "site", concurrency=1)
    waiting = insert(watched, NewJob("mail", "{}", limits=["site"]))[0].id
    plain = enqueue(watched, priority=1)
    watched.queries.kept.pop("lines", None)
    runs, begun = transactions(watched, lambda: take(watched, limit=1))
    assert ([run.id for run in runs], begun) == ([plain], 0)
    runs, begun = transactions(watched, lambda: take(watched, limit=1))
    assert ([run.id for run in runs], begun) == ([waiting], 1)


def test_a_paused_queue_gives_nothing(watched):
    enqueue(watched)
    watched.write([lambda tx: tx.pause("default", "test")])
    assert take(watched) == []


def test_what_another_has_in_its_hands_is_passed_by(watched, admin):
    held, free = enqueue(watched), enqueue(watched)
    with admin.transaction():
        admin.execute("select from job_queue where id = %s for update", (held,))
        assert [run.id for run in take(watched)] == [free]


def test_a_connection_that_was_lost_costs_nothing(watched, kill):
    job_id = enqueue(watched)
    kill(watched._writer)
    assert [run.id for run in take(watched)] == [job_id]


def test_a_session_that_lost_what_was_prepared_takes_the_long_way_from_then_on(watched):
    watched._writer.raw.pgconn.exec_(b"deallocate all")  # as behind a pooler that hides
    enqueue(watched)
    assert transactions(watched, lambda: len(take(watched))) == (1, 1)
    enqueue(watched)
    assert transactions(watched, lambda: len(take(watched))) == (1, 1)


@pytest.mark.slow
def test_behind_a_pooler_no_session_is_settled(tmp_path):
    store = WAYS[POOLED](tmp_path, None)
    store.watched = True
    enqueue(store)
    before = store._writer.execute(SETTINGS)
    assert transactions(store, lambda: len(take(store))) == (1, 1)
    assert store._writer.execute(SETTINGS) == before
    store.close()


@pytest.mark.parametrize("setting", ["prepare=off", "prepare=2"])
def test_no_session_is_settled_where_the_address_speaks_of_prepared_statements(url, open_url, setting):
    store = open_url(f"{url}&{setting}")
    store.watched = True
    enqueue(store)
    before = store._writer.execute(SETTINGS)
    assert transactions(store, lambda: len(take(store))) == (1, 1)
    assert store._writer.execute(SETTINGS) == before


def test_the_session_plans_by_index_and_a_callers_transaction_as_the_server_is_set(watched, admin):
    assert watched._writer.execute(SETTINGS) == [("off", "off")]
    tx = watched.begin()
    assert tx.execute(SETTINGS) == admin.execute(SETTINGS).fetchall()
    watched.roll_back()
    assert watched.read(lambda tx: tx.execute(SETTINGS)) == admin.execute(SETTINGS).fetchall()


def test_the_kept_plan_reads_no_table_whatever_was_known_when_it_was_planned(watched, admin):
    admin.execute("vacuum analyze job_queue")
    for _ in range(8):
        enqueue(watched)
        assert len(take(watched)) == 1
    rows = watched._writer.execute("select name from pg_prepared_statements where statement like '-- claim:%'")
    given = "null, '{default}', '{mail}', '{1}', 10, true, 'me', 60000"
    plan = "\n".join(line for (line,) in watched._writer.execute(f"explain execute {rows[0][0]} ({given})"))
    assert "job_queue_due" in plan
    assert "Seq Scan on job_" not in plan


def test_while_the_dead_lie_thick_claims_go_on_from_where_they_came_to(watched, monkeypatch):
    monkeypatch.setattr("holdfast.store.postgres.trail.MANY", 0)
    monkeypatch.setattr("holdfast.store.postgres.trail.REST", 10_000)
    ids = [answer.id for answer in insert(watched, *[NewJob("mail", "{}")] * 30)]
    taken = [run.id for run in take(watched, limit=1)]
    watched._writer.trail((MAIL,)).front_at = float("inf")
    runs, begun = transactions(watched, lambda: take(watched, limit=1))
    assert ([*taken, *(run.id for run in runs)], begun) == (ids[:2], 1)


def test_an_order_without_lanes_takes_nothing(watched):
    enqueue(watched)
    (got,), _ = watched.write(
        [lambda tx: exchange(tx, (), [Order("a", (), 5, 60_000), Order("b", (MAIL,), 5, 60_000)])], hastily=True
    )
    assert [len(runs) for runs in got.claims] == [0, 1]
    assert len(listed(watched)) == 2
