"""Each statement, and each row of an answer, hands the interpreter over: to a handler that computes, which keeps it for
5 ms. So an exchange of many jobs takes no more of them than an exchange of few.
"""

from __future__ import annotations

import apsw

from holdfast.model.decide import decide
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.request import NewJob
from holdfast.store.port import Ending
from tests.store.given import DONE, MAIL, claim, insert, write


def hand_overs(store, call):
    """How many statements were begun and rows taken."""
    seen = []
    raw = store._writer.raw
    raw.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_ROW, seen.append)
    try:
        call()
    finally:
        raw.trace_v2(0, None)
    return len(seen)


def exchange(store, runs):
    moves = [decide(run, DONE, DEFAULT_POLICY, spread=0.0) for run in runs]
    return write(store, lambda tx: tx.finish([Ending(*one) for one in zip(runs, moves, strict=True)]))


def test_many_jobs_hand_the_interpreter_over_no_more_often_than_few(sqlite_store):
    insert(sqlite_store, *(NewJob("mail", "{}") for _ in range(300)))
    exchange(sqlite_store, claim(sqlite_store, MAIL, limit=1))  # what a process remembers is read once
    few, many = [], []
    claims = [hand_overs(sqlite_store, lambda n=n, to=to: to.extend(claim(sqlite_store, MAIL, limit=n)))
              for n, to in ((2, few), (200, many))]  # fmt: skip
    assert [len(few), len(many)] == [2, 200]
    assert claims[0] == claims[1] < 15

    answers = []
    endings = [hand_overs(sqlite_store, lambda runs=runs: answers.extend(exchange(sqlite_store, runs)))
               for runs in (few, many)]  # fmt: skip
    assert answers == [True] * 202
    assert endings[0] == endings[1] < 15
