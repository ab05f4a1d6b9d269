"""Jobs that wait for others, and what the tests of them look at."""

from __future__ import annotations

from holdfast.model.decide import decide
from holdfast.model.lease import Lane
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.store.port import Ending, Order
from tests.store.given import DONE, LEASE, claim, enqueue, finish, get, write

CHILD = Lane("default", "child")
PARENT_LANES = (Lane("default", "mail"), CHILD)


def child_of(store, *parents, kind="child", **options):
    """The id of a new job that waits for these."""
    return enqueue(store, kind, depends_on=list(parents), **options)


def run_of(store, job_id, lease_ms=LEASE):
    """The run of a job that is the first one due."""
    (run,) = claim(store, *PARENT_LANES, limit=1, lease_ms=lease_ms)
    assert run.id == job_id, f"{run.id} was due before it"
    return run


def end(store, job_id, outcome):
    """Run a job, the first one due, to its end."""
    assert finish(store, run_of(store, job_id), outcome)


def due(store):
    """The ids of the children that could run now; they stay as they are."""

    class Undone(Exception):
        pass

    found = []

    def look(tx):
        found.extend(run.id for run in tx.claim(Order("looker", [CHILD], 1_000, LEASE)))
        raise Undone

    try:
        write(store, look)
    except Undone:
        return found


def blocked(store, job_id):
    return get(store, job_id).blocked


def parents_of(store, job_id):
    return [tuple(one) for one in store.read(lambda tx: tx.parents(job_id, 100))]


def children_of(store, job_id):
    return [tuple(one) for one in store.read(lambda tx: tx.children(job_id, 100))]


def ending(run, outcome):
    return Ending(run, decide(run, outcome, DEFAULT_POLICY, spread=0.0))


def done(run):
    return ending(run, DONE)


def run_in(tx, job_id):
    """The run of a job that is the first one due, in an open transaction."""
    (run,) = tx.claim(Order("first", [Lane("default", "mail")], 1, LEASE))
    assert run.id == job_id
    return run
