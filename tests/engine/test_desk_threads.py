"""Threads at the desk: they share commits, and each gets its own answer."""

# A lambda here stands for a verb or handler and takes what it is given.
# ruff: noqa: ARG005

from __future__ import annotations

import threading
from functools import partial
from time import monotonic

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import KeyConflict, NotFound
from holdfast.model.news import News
from tests.engine.given import LONG, claim, count, enqueue, get, in_threads, new_job


def held_turn(desk):
    """A thread that holds a transaction open until it is let go; everybody else gathers behind it."""
    begun, let_go = threading.Event(), threading.Event()

    def hold(tx):
        begun.set()
        assert let_go.wait(LONG)

    thread = threading.Thread(target=lambda: desk.write(hold))
    thread.start()
    assert begun.wait(LONG)
    return thread, let_go


def wait_until_gathered(desk, number):
    """The calls lie on the desk: a fact, seen by looking."""
    ticker = threading.Event()
    for _ in range(int(LONG / 0.002)):
        if len(desk._waiting) == number:
            return
        ticker.wait(0.002)
    raise AssertionError(f"{len(desk._waiting)} of {number} calls came to the desk")


def gathered(desk, calls):
    """Run the calls so that all of them lie on the desk when the turn is next given."""
    thread, let_go = held_turn(desk)
    answers = [None] * len(calls)

    def work(number):
        try:
            answers[number] = calls[number]()
        except Exception as error:  # noqa: BLE001  # the test looks at it
            answers[number] = error

    callers = [threading.Thread(target=work, args=(number,)) for number in range(len(calls))]
    for caller in callers:
        caller.start()
    wait_until_gathered(desk, len(calls))
    let_go.set()
    for one in (thread, *callers):
        one.join(LONG)
        assert not one.is_alive()
    return answers


@pytest.fixture
def commits(desk):
    """The news of every commit that changed something, in order."""
    told: list[News] = []
    desk.listeners.append(told.append)
    return told


def test_a_lone_caller_runs_its_verb_on_its_own_thread(desk):
    assert desk.write(lambda tx: threading.get_ident()) == threading.get_ident()


def test_calls_that_had_to_wait_share_one_commit(desk, commits):
    desk.write(lambda tx: None)
    answers = gathered(desk, [partial(enqueue, desk, payload=f"[{number}]") for number in range(20)])
    assert len(set(answers)) == 20
    assert len(commits) == 1


def test_each_of_many_callers_gets_its_own_answer(desk):
    works = [partial(enqueue, desk, payload=f"[{number}]") for number in range(30)]
    answers = in_threads(*works)
    assert [get(desk, job_id).payload for job_id in answers] == [[number] for number in range(30)]


def test_a_call_that_raises_takes_nothing_with_it(desk):
    def fail(tx):
        tx.insert([new_job(payload='["never stored"]')])
        raise LookupError("mine alone")

    good = [partial(enqueue, desk, payload=f"[{number}]") for number in range(8)]
    answers = gathered(desk, [*good[:4], lambda: desk.write(fail), *good[4:]])
    assert isinstance(answers.pop(4), LookupError)
    assert [get(desk, job_id).payload for job_id in answers] == [[number] for number in range(8)]
    assert count(desk) == 8


def test_each_failing_call_gets_its_own_error(desk):
    enqueue(desk, payload="[1]", key="taken")
    answers = gathered(
        desk,
        [
            lambda: desk.write(jobs.retry, "no such job"),
            lambda: enqueue(desk, payload="[2]", key="taken"),
            lambda: enqueue(desk, payload="[1]", key="taken"),
        ],
    )
    assert [type(answer) for answer in answers] == [NotFound, KeyConflict, str]


def test_the_news_of_calls_repeated_alone_are_told_together(desk, commits):
    def fail(tx):
        raise LookupError

    gathered(desk, [partial(enqueue, desk, queue="a"), lambda: desk.write(fail), partial(enqueue, desk, queue="b")])
    assert [news.queues for news in commits] == [{"a", "b"}]


def test_a_commit_that_changed_nothing_tells_nobody(desk, commits):
    desk.write(lambda tx: None)
    desk.read(lambda tx: tx.execute("select 1"))
    assert commits == []


def test_an_answer_is_given_only_once_it_is_durable(desk, other):
    job_id = enqueue(desk)
    assert get(other, job_id).id == job_id


def test_two_processes_never_claim_the_same_job(desk, other):
    ids = {enqueue(desk) for _ in range(40)}
    taken = in_threads(
        *(partial(claim, one, limit=10, owner=f"{one!r}{turn}") for one in (desk, other) for turn in (1, 2))
    )
    claimed = [run.id for runs in taken for run in runs]
    assert sorted(claimed) == sorted(ids)


def test_reads_go_on_while_another_thread_holds_a_transaction(desk):
    job_id = enqueue(desk)
    thread, let_go = held_turn(desk)
    try:
        assert get(desk, job_id).id == job_id
    finally:
        let_go.set()
        thread.join(LONG)


def test_a_read_that_raises_leaves_the_desk_usable(desk):
    with pytest.raises(NotFound) as caught:
        get(desk, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert caught.value.code == "JOB_NOT_FOUND"
    assert get(desk, enqueue(desk)).status == "queued"


def test_callers_behind_a_locked_file_are_told_after_one_patience_and_not_one_each(desks, other):
    desk = desks(patience=0.3)
    desk.write(lambda tx: None)
    thread, let_go = held_turn(other)
    begun = monotonic()
    try:
        answers = in_threads(*([partial(enqueue, desk)] * 20))
        spent = monotonic() - begun
    finally:
        let_go.set()
        thread.join(LONG)
    assert {answer.code for answer in answers} == {"STORE_UNAVAILABLE"}
    assert spent < 3, "twenty callers waited one after the other"


def test_several_verbs_of_one_caller_share_a_transaction_and_each_gets_its_answer(desk):
    def missing(tx):
        raise NotFound("JOB_NOT_FOUND", "no such job")

    instants = desk.write_all([lambda tx: (id(tx), tx.now), lambda tx: (id(tx), tx.now)])
    assert instants[0] == instants[1]
    first, second, third = desk.write_all([lambda tx: tx.insert([new_job()])[0], missing, lambda tx: tx.now])
    assert get(desk, first[0]).id == first[0]
    assert isinstance(second, NotFound)
    assert third == instants[0][1]
    assert desk.write_all([]) == []


def test_verbs_that_were_done_by_another_are_not_done_again(desk):
    holder, let_go = held_turn(desk)
    done = []
    late = threading.Thread(target=lambda: done.extend(desk.write_all([lambda tx: 1, lambda tx: 2])))
    late.start()
    wait_until_gathered(desk, 2)
    let_go.set()
    holder.join()
    late.join()
    assert done == [1, 2]


def test_what_is_taken_runs_on_its_callers_thread_after_those_before_it(desk):
    thread, let_go = held_turn(desk)
    order = []
    behind = threading.Thread(target=lambda: order.append(desk.taken(lambda tx: threading.get_ident())))
    behind.start()
    assert not order
    let_go.set()
    thread.join()
    behind.join()
    assert order == [behind.ident]


def test_a_verb_that_takes_and_fails_tells_its_caller_and_gives_the_turn(desk):
    with pytest.raises(NotFound):
        desk.taken(jobs.get, "nobody")
    enqueue(desk)
    assert desk.taken(lambda tx: tx.depth("default", 10)) == 1
