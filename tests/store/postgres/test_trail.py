"""While another transaction stays open nothing dead can be cleared away, and claims go on from where they came to."""

from __future__ import annotations

import psycopg
import pytest

from holdfast.engine.leases import exchange
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.store.port import Order
from holdfast.store.postgres.trail import LONGEST_REST, MANY, Trail
from tests.store.given import DONE, MAIL, NOON, claim, enqueue, insert, write
from tests.store.limited import limit, take

PRINT = Lane("default", "print", 2)
DEAD = MANY + 200
LATER = NOON + 60_000
READ = "select pg_stat_get_xact_tuples_returned('job_queue_due'::regclass)"


def row(lane: Lane, priority: int, at: str, limits: str | None = None):
    """As a claim answers it, with nothing in the columns that do not matter."""
    made = [None] * 28
    made[27] = limits
    made[2], made[3], made[5], made[11], made[17] = lane.type, lane.queue, lane.payload_version, priority, at
    return tuple(made)


@pytest.fixture
def held_open(url):
    """Somebody's transaction, with a snapshot."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("select pg_current_xact_id()")
        yield connection


@pytest.fixture
def clock():
    return [NOON]


@pytest.fixture
def store(url, open_url, clock, held_open):
    """A store that has claimed many jobs while a transaction was open, and a minute later ten of a hundred more."""
    made = open_url(url, clock=lambda: clock[0])
    insert(made, *(NewJob("mail", "{}") for _ in range(DEAD)))
    assert len(claim(made, limit=DEAD)) == DEAD
    clock[0] = LATER
    insert(made, *(NewJob("mail", "{}") for _ in range(100)))
    assert len(claim(made, limit=10)) == 10
    assert 0 < trail_of(made).rest <= LONGEST_REST
    trail_of(made).front_at += 60  # for as long as the test may take
    return made


def trail_of(store):
    return store._writer.trail([MAIL])


def read_by(store, limit):
    """The entries of the index that a claim reads, and the jobs it takes."""

    def call(tx):
        before = tx.execute(READ)[0][0]
        taken = tx.claim(Order("w", [MAIL], limit, 60_000))
        return tx.execute(READ)[0][0] - before, [run.id for run in taken]

    return write(store, call)


def test_claims_go_on_behind_the_dead(store):
    read, taken = read_by(store, 20)
    assert len(taken) == 20
    assert read < 200


def test_a_claim_from_the_front_wades_through_them_once(store):
    trail_of(store).front_at = 0.0
    read, taken = read_by(store, 20)
    assert len(taken) == 20
    assert DEAD < read < 1.5 * DEAD
    assert trail_of(store).rest, "they lie thick still"


def test_a_look_at_the_front_that_finds_nothing_leaves_it_alone_for_a_while(store):
    assert len(claim(store, limit=100)) == 90
    trail_of(store).front_at = 0.0
    assert claim(store) == []
    assert trail_of(store).rest
    read, taken = read_by(store, 20)
    assert (read < 200, taken) == (True, [])


def test_claims_that_go_on_take_all_there_is_in_turn(store):
    first = enqueue(store, priority=1)
    rest = [run.id for size in (30, 40, 50) for run in claim(store, limit=size)]
    assert rest[0] == first
    assert rest[1:] == sorted(rest[1:])
    assert len(rest) == 91
    assert claim(store) == []


def test_a_job_behind_them_is_taken_at_the_next_look_at_the_front_and_the_worker_learns_when(store, clock):
    behind = write(store, lambda tx: tx.insert([NewJob("mail", "{}", scheduled_at="2025-01-01T00:00:00Z")]))[0][0]
    assert behind not in [run.id for run in claim(store, limit=90)]
    assert claim(store) == []
    due = store.read(lambda tx: tx.next_due([MAIL]))
    assert due is None  # another connection knows nothing of it
    due = write(store, lambda tx: tx.next_due([MAIL]))
    assert clock[0] < due <= clock[0] + (60 + LONGEST_REST) * 1000
    trail_of(store).front_at = 0.0
    assert [run.id for run in claim(store)] == [behind]


def test_jobs_that_leave_the_line_of_a_limit_are_not_left_behind(store, clock):
    limit(store, "site", concurrency=2)
    assert len(claim(store, limit=100)) == 90
    line = [job.id for job in insert(store, *[NewJob("mail", "{}", limits=["site"])] * 5)]
    clock[0] += 60_000
    insert(store, *[NewJob("mail", "{}")] * 5)
    first = take(store, limit=10)
    assert len(first) == 7, "two of the line, and all that have no limit"
    begun = [run for run in first if run.id in line]
    while begun:
        ended, line = begun, line[len(begun) :]
        clock[0] += 10_000
        write(store, lambda tx, ended=ended: exchange(tx, [(run, DONE) for run in ended], []))
        begun = take(store, limit=10)
        assert [run.id for run in begun] == line[:2]
    assert not line
    assert trail_of(store).rest, "nobody has looked at the front meanwhile"


def test_a_claim_that_was_undone_is_found_again(store):
    transaction = store.begin()
    undone = [run.id for run in transaction.claim(Order("w", [MAIL], 10, 60_000))]
    store.roll_back()
    assert [run.id for run in claim(store, limit=10)] == undone


def test_when_the_dead_are_gone_claims_begin_at_the_front_again(store, held_open, admin):
    held_open.rollback()
    admin.execute("vacuum job_queue")
    trail_of(store).front_at = 0.0
    assert len(claim(store, limit=10)) == 10
    assert trail_of(store).rest == 0


def test_a_paused_queue_stays_paused_for_them(store):
    write(store, lambda tx: tx.pause("default", "ann"))
    assert claim(store) == []


def test_they_lock_no_more_than_they_take(store, url, open_url, clock):
    transaction = store.begin()
    first = [run.id for run in transaction.claim(Order("w", [MAIL], 10, 60_000))]
    other = [run.id for run in claim(open_url(url, clock=lambda: clock[0]), limit=100)]
    store.commit()
    assert (len(first), len(other)) == (10, 80)


def test_what_a_claim_from_the_front_leaves_behind_is_only_what_is_better_than_its_worst():
    trail = Trail((MAIL, PRINT))
    rows = [row(MAIL, 2, "2025-01-16T11:00:00.000Z"), row(MAIL, 5, "2025-01-16T10:00:00.000Z")]
    trail.looked(rows, NOON, full=True, read=5_000, took=1.0)
    assert trail.rest > 1
    starts = {(kind, priority): since for _, kind, _, priority, since in trail.starts(front=False)}
    now = "2025-01-16T11:59:59.500Z"
    assert starts["mail", 1] == starts["print", 1] == starts["mail", 2] == starts["print", 4] == now
    assert starts["mail", 5] == "2025-01-16T09:59:59.500Z"
    assert starts["print", 5] == starts["mail", 6] == starts["print", 10] == "-infinity"


def test_a_claim_that_got_less_than_it_wanted_left_nothing():
    trail = Trail((MAIL,))
    trail.looked([row(MAIL, 5, "2025-01-16T10:00:00.000Z")], NOON, full=False, read=5_000, took=1.0)
    assert {since for *_, since in trail.starts(front=False)} == {"2025-01-16T11:59:59.500Z"}


def test_a_count_that_the_server_began_anew_is_taken_as_it_is():
    trail = Trail((MAIL,))
    trail.looked([row(MAIL, 5, "2025-01-16T10:00:00.000Z")], NOON, full=True, read=900, took=0.1)
    assert trail.rest == 0
    trail.looked([row(MAIL, 5, "2025-01-16T10:00:00.000Z")], NOON, full=True, read=1_800, took=0.1)
    assert trail.rest == 0
    trail.looked([row(MAIL, 5, "2025-01-16T10:00:00.000Z")], NOON, full=True, read=1_500, took=0.1)
    assert trail.rest > 0


def test_jobs_that_left_a_line_do_not_lead_claims_past_others():
    trail = Trail((MAIL,))
    early, late = "2025-01-16T10:00:00.000Z", "2025-01-16T11:00:00.000Z"
    rows = [row(MAIL, 5, early), row(MAIL, 5, late, '["site"]'), row(MAIL, 9, late, '["site"]')]
    trail.looked(rows, NOON, full=True, read=5_000, took=1.0)
    starts = {priority: since for _, _, _, priority, since in trail.starts(front=False)}
    assert (starts[5], starts[8]) == ("2025-01-16T09:59:59.500Z", "-infinity")
    trail.looked(rows[1:], NOON, full=True, read=10_000, took=1.0)
    assert {since for *_, since in trail.starts(front=False)} == {"-infinity"}
