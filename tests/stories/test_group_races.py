"""Races of a whole group: cancelled, paused and resumed while its jobs are enqueued, claimed, ended; on both stores.

Full size: HOLDFAST_RACES=10000 pytest -s tests/stories/test_group_races.py
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from holdfast.engine import cancels, pauses
from holdfast.engine.desk import Desk
from holdfast.engine.jobs import CANCELLED
from holdfast.model.outcome import Stopped
from holdfast.model.request import NewJob
from holdfast.model.status import TERMINAL, Status
from tests.store.conftest import open_store  # noqa: F401  # a fixture
from tests.store.given import CRASHED, DONE, FAILED, RAISED, enqueue, finish, get, insert, write
from tests.stories.crew import size, tell
from tests.stories.test_races import Race, claim, clock, stores  # noqa: F401  # fixtures

pytestmark = pytest.mark.slow

GROUP = {"group": "g", "tenant": "acme"}


def settle(stores, clock, *runs):  # noqa: F811
    """End whatever is left, so that the next race begins with an empty house."""
    for run in runs:
        finish(stores[0], run, DONE)
    for _ in range(5):
        clock.now += 120_000
        left = claim(stores[0])
        if not left:
            return
        assert all(finish(stores[0], run, DONE) for run in left)


def test_a_cancel_of_a_group_a_claim_and_a_finish_agree(stores, clock):  # noqa: F811
    race, dice, seen = Race(stores), Random(3), Counter()
    for number in range(size("HOLDFAST_RACES", 12)):
        key = f"g{number}"
        ids = [enqueue(stores[0], group=key) for _ in range(3)]
        runs = claim(stores[0])[: dice.randrange(4)] if dice.random() < 0.7 else []
        outcome = dice.choice([DONE, RAISED, FAILED, Stopped(), CRASHED])
        mode = dice.choice(["immediate", "immediate", "graceful"])
        first, ended, answer, answer_two = race.run(
            claim,
            lambda store, runs=runs, outcome=outcome: [finish(store, run, outcome) for run in runs],
            lambda store, key=key, mode=mode: cancels.cancel(Desk(store), key, mode=mode),
            lambda store, key=key: cancels.cancel(Desk(store), key),
        )
        jobs = {job_id: get(stores[0], job_id) for job_id in ids}
        assert answer["cancelled"] + answer_two["cancelled"] <= 3, "a job is cancelled once"
        assert {job.status for job in jobs.values()} <= TERMINAL, "one of the two found each that had not ended"
        for run, accepted in zip(runs, ended, strict=True):
            assert accepted or jobs[run.id].status is Status.CANCELLED
            if accepted and outcome is DONE:
                assert jobs[run.id].status is Status.COMPLETED
        before = dict(jobs)
        assert not any(finish(stores[0], run, DONE) for run in [*first, *runs])
        assert {job_id: get(stores[0], job_id) for job_id in ids} == before, "cancelled stays cancelled"
        seen.update(job.status.value for job in jobs.values())
        clock.now += 120_000
        assert claim(stores[0]) == []
    tell("a group cancelled, claimed and ended at once", dict(seen))


def test_what_a_run_enqueues_while_its_group_is_cancelled_never_lives(stores, clock):  # noqa: F811
    """As follow-ups do: ask for the mark and store in one transaction."""
    race, seen = Race(stores), Counter()
    for number in range(size("HOLDFAST_RACES", 12)):
        key = f"g{number}"
        enqueue(stores[0], group=key)
        (run,) = claim(stores[0])
        clock.now += 1_000

        def follow(store, key=key, run=run):
            def call(tx):
                born_cancelled = tx.cancel_mark("", key, "mail", run.started_at)
                ((job_id, _),) = tx.insert([NewJob("mail", "{}", group=key)])
                if born_cancelled:
                    tx.cancel(job_id, tenant=None, graceful=False, error=CANCELLED)
                return job_id, born_cancelled

            return write(store, call)

        one, two, _ = race.run(
            follow, follow, lambda store, key=key: cancels.cancel(Desk(store), key, mode="immediate")
        )
        for job_id, born_cancelled in (one, two):
            assert get(stores[0], job_id).status is Status.CANCELLED
            seen["born cancelled" if born_cancelled else "found by the walk"] += 1
    tell("follow-ups of a group that is cancelled", dict(seen))


@pytest.mark.parametrize("scope", ["group", "tenant"])
def test_a_pause_or_resume_and_whatever_stores_a_job_agree(stores, clock, scope):  # noqa: F811
    """Afterwards what waits is held if, and only if, its scope is paused; and nothing is claimed that is."""
    race, dice, seen = Race(stores), Random(4), Counter()
    paused = False
    for _ in range(size("HOLDFAST_RACES", 12)):
        paused = not paused
        failed = enqueue(stores[0], "post", **GROUP)
        with_run = enqueue(stores[0], "post", **GROUP)
        write(stores[0], lambda tx: tx.execute("update job_queue set held = 0 where type = 'post'"))
        runs = {run.id: run for run in claim(stores[0], "post")}
        assert finish(stores[0], runs[failed], FAILED)
        bulk = dice.choice([1, 1, 5])

        def switch(store, paused=paused):
            desk = Desk(store)
            if scope == "group":
                if paused:
                    return pauses.pause_group(desk, "g", "ann", tenant="acme")
                return pauses.resume_group(desk, "g", tenant="acme")
            return pauses.pause_tenant(desk, "acme", "ann") if paused else pauses.resume_tenant(desk, "acme")

        def store_some(store, bulk=bulk):
            if bulk == 1 and store is stores[1]:
                return [store.insert_alone(NewJob("mail", "{}", **GROUP))[0][0]]
            return [one.id for one in insert(store, *[NewJob("mail", "{}", **GROUP)] * bulk)]

        made, _, again, _ = race.run(
            store_some,
            switch,
            lambda store, failed=failed: write(store, lambda tx: tx.retry(failed)),
            lambda store, run=runs[with_run]: finish(store, run, RAISED),
        )
        assert again
        waiting = [get(stores[0], job_id) for job_id in (*made, failed, with_run)]
        assert {job.status for job in waiting} == {Status.QUEUED}
        assert {bool(job.held) for job in waiting} == {paused}
        clock.now += 120_000
        taken = claim(stores[0]) + claim(stores[0], "post")
        assert {run.id for run in taken} == (set() if paused else {job.id for job in waiting})
        seen["paused" if paused else "resumed"] += len(waiting)
        for run in taken:
            assert finish(stores[0], run, DONE)
        if paused:
            write(stores[0], lambda tx: tx.execute("delete from job_queue"))
    tell(f"a {scope} switched while jobs are stored", dict(seen))
