"""Parents and children on a server where many write at once: whoever comes first, no child is lost and none let go twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.model.decide import decide
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Ending
from tests.patience import wait_for
from tests.store.families import blocked, child_of, due
from tests.store.given import (
    BACK_ENDS,
    DAY,
    DONE,
    FAILED,
    cancel,
    claim,
    ended,
    enqueue,
    finish,
    get,
    retry,
    running,
    status,
    write,
)  # fmt: skip
from tests.worker.workshop import size

ROUNDS = size("HOLDFAST_FAMILY_ROUNDS", 25)


@pytest.fixture
def open_store(tmp_path):
    opened = []

    def open_with(clock: Callable[[], int]) -> Any:
        opened.append(BACK_ENDS["postgres"](tmp_path, clock))
        return opened[-1]

    yield open_with
    for one in opened:
        one.close()


class Behind(threading.Thread):
    """Somebody who does one thing and has to wait for a lock meanwhile."""

    def __init__(self, store: Any, act: Callable[[], Any]) -> None:
        super().__init__()
        self.store, self.act, self.answer = store, act, None

    def run(self) -> None:
        self.answer = self.act()

    def waits(self, looker: Any) -> None:
        self.start()
        wait_for(lambda: looker.read(_someone_waits), "the other one waits for a lock")

    def ends(self) -> Any:
        self.join(10)
        assert not self.is_alive()
        return self.answer


def _someone_waits(tx: Any) -> bool:
    return bool(tx.execute("select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')"))


@pytest.fixture
def looker(open_store, store, clock):
    return open_store(clock)


def test_a_parent_that_ends_while_its_child_is_made_sees_the_child(store, other, looker):
    run = running(store)
    begun = store.begin()
    ((child, _),) = begun.insert([NewJob("child", "{}", depends_on=[run.id])])
    behind = Behind(other, lambda: finish(other, run, DONE))
    behind.waits(looker)
    store.commit()
    assert behind.ends()
    assert (blocked(store, child), due(store)) == (0, [child])


def test_a_child_that_is_made_while_its_parent_ends_sees_the_end(store, other, looker):
    run = running(store)
    store.begin().finish([_ending(run, DONE)])
    behind = Behind(other, lambda: child_of(other, run.id))
    behind.waits(looker)
    store.commit()
    child = behind.ends()
    assert (blocked(store, child), due(store)) == (0, [child])


def test_two_parents_that_end_at_once_let_their_child_go_once(store, other, looker):
    first, second = running(store), running(store)
    child = child_of(store, first.id, second.id)
    store.begin().finish([_ending(first, DONE)])
    behind = Behind(other, lambda: finish(other, second, DONE))
    behind.waits(looker)
    store.commit()
    assert behind.ends()
    assert (blocked(store, child), due(store)) == (0, [child])


@pytest.mark.parametrize("first", ["retry", "finish"])
def test_a_parent_that_ends_while_another_is_retried_is_counted(store, other, looker, first):
    bad, open_one = running(store), running(store)
    child = child_of(store, bad.id, open_one.id)
    finish(store, bad, FAILED)
    begun = store.begin()
    if first == "retry":
        begun.retry(bad.id)
        behind = Behind(other, lambda: finish(other, open_one, DONE))
    else:
        begun.finish([_ending(open_one, DONE)])
        behind = Behind(other, lambda: retry(other, bad.id))
    behind.waits(looker)
    store.commit()
    assert behind.ends()
    assert (status(store, child), blocked(store, child)) == (Status.QUEUED, 1)
    (run,) = claim(store)
    finish(store, run, DONE)
    assert due(store) == [child]


def test_a_parent_is_spared_that_gets_a_child_while_it_is_deleted(store, other, looker):
    parent, open_one = ended(store, DONE), enqueue(store)
    begun = store.begin()
    begun.insert([NewJob("child", "{}", depends_on=[parent, open_one])])
    behind = Behind(other, lambda: write(other, lambda tx: tx.sweep_ended({"completed": -DAY}, "", 100))[0])
    behind.waits(looker)
    store.commit()
    assert behind.ends() == 0
    assert status(store, parent) is Status.COMPLETED


def test_a_cancel_beside_the_end_of_a_parent_leaves_the_child_to_one_of_them(store, other):
    for _ in range(ROUNDS):
        run = running(store)
        child = child_of(store, run.id)
        _at_once(lambda run=run: finish(store, run, DONE), lambda run=run: cancel(other, run.id))
        parent = status(store, run.id)
        if parent is Status.COMPLETED:
            assert due(store) == [child]
            cancel(store, child)
        else:
            assert (parent, status(store, child)) == (Status.CANCELLED, Status.CANCELLED)


def test_children_made_beside_the_ends_of_their_parents_are_all_let_go(store, other):
    for _ in range(ROUNDS):
        runs = [running(store), running(store)]
        parents = [run.id for run in runs]
        made: list[str] = []
        _at_once(
            lambda made=made, parents=parents: made.extend(child_of(other, *parents) for _ in range(3)),
            lambda runs=runs: [finish(store, run, DONE) for run in random.sample(runs, 2)],
        )
        assert sorted(due(store)) == sorted(made), [get(store, one) for one in made]
        for one in made:
            cancel(store, one)


def test_batches_of_parents_with_common_children_end_without_a_deadlock(store, other, looker):
    for _ in range(max(1, ROUNDS // 5)):
        runs = [running(store) for _ in range(12)]
        ids = [run.id for run in runs]
        children = [child_of(store, *random.sample(ids, 4)) for _ in range(12)]
        random.shuffle(runs)
        parts = runs[:4], runs[4:8], runs[8:]
        _at_once(
            *(
                lambda one=one, part=part: write(one, lambda tx: tx.finish([_ending(run, DONE) for run in part]))
                for one, part in zip((store, other, looker), parts, strict=True)
            )
        )
        assert sorted(due(store)) == sorted(children)
        for one in children:
            cancel(store, one)


def test_a_chain_that_is_cancelled_at_several_places_ends_without_a_deadlock(store, other, looker):
    for _ in range(ROUNDS):
        chain = [enqueue(store)]
        for _ in range(12):
            chain.append(child_of(store, *random.sample(chain[-3:], min(2, len(chain)))))
        late = []
        _at_once(
            lambda chain=chain: cancel(store, chain[0]),
            lambda chain=chain: cancel(other, chain[random.randrange(1, 12)]),
            lambda chain=chain, late=late: late.extend(child_of(looker, chain[number]) for number in (4, 8)),
        )
        assert {status(store, one) for one in chain + late} == {Status.CANCELLED}


def _at_once(*acts):
    errors = []
    ready = threading.Barrier(len(acts))

    def run(act):
        ready.wait(10)
        try:
            act()
        except BaseException as error:  # noqa: BLE001  # the test tells it
            errors.append(error)

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not errors
    assert not any(thread.is_alive() for thread in threads)


def _ending(run, outcome):
    return Ending(run, decide(run, outcome, DEFAULT_POLICY, spread=0.0))
