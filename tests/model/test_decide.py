from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.backoff import Backoff
from holdfast.model.decide import Move, decide
from holdfast.model.failure import Failure
from holdfast.model.held import ALONE
from holdfast.model.lease import Claim, renew_when
from holdfast.model.outcome import Abandoned, Crashed, Raised, Returned, Snoozed, Stopped, Suspected, Unstarted
from holdfast.model.policy import DEFAULT_POLICY, Policy
from holdfast.model.status import MOVES, Status

NOW = 1_000_000
FAILURE = Failure("ValueError", "wrong")
ERROR = FAILURE.as_text()
OUTCOMES = st.one_of(
    st.builds(Returned, st.none() | st.just("1")),
    st.builds(Raised, st.just(FAILURE), st.booleans(), st.none() | st.integers(0, 10**9)),
    st.builds(Crashed, st.just(FAILURE), st.booleans()),
    st.builds(Suspected, st.just(FAILURE)),
    st.builds(Snoozed, st.integers(0, 10**9)),
    st.sampled_from([Stopped(), Unstarted(), Abandoned()]),
)


def run(attempts=1, max_attempts=3, crashed=0):
    values = dict.fromkeys(Claim._fields, "") | {
        "token": 1, "attempts": attempts, "max_attempts": max_attempts, "failed": 0, "crashed": crashed, "interrupted": 0,
    }  # fmt: skip
    return Claim(**values)


def move(outcome, policy=DEFAULT_POLICY, *, spread=0.0, **state):
    return decide(run(**state), outcome, policy, spread=spread)


TABLE = [
    ({}, Returned("1"), Move(Status.COMPLETED, "1")),
    ({}, Raised(FAILURE), Move(Status.QUEUED, error=ERROR, wait_ms=2_000, failed=1, why="retry")),
    ({"attempts": 2}, Raised(FAILURE), Move(Status.QUEUED, error=ERROR, wait_ms=4_000, failed=1, why="retry")),
    ({"attempts": 3}, Raised(FAILURE), Move(Status.DEAD_LETTER, error=ERROR, failed=1, why="attempts exhausted")),
    ({"attempts": 4}, Raised(FAILURE), Move(Status.DEAD_LETTER, error=ERROR, failed=1, why="attempts exhausted")),
    ({}, Raised(FAILURE, permanent=True), Move(Status.FAILED, error=ERROR, failed=1, why="failed")),
    ({"attempts": 3}, Raised(FAILURE, permanent=True), Move(Status.FAILED, error=ERROR, failed=1, why="failed")),
    ({}, Raised(FAILURE, after_ms=7), Move(Status.QUEUED, error=ERROR, wait_ms=7, failed=1, why="retry")),
    ({}, Raised(FAILURE, after_ms=0), Move(Status.QUEUED, error=ERROR, wait_ms=0, failed=1, why="retry")),
    ({"attempts": 3}, Raised(FAILURE, after_ms=7), Move(Status.DEAD_LETTER, error=ERROR, failed=1, why="attempts exhausted")),
    ({}, Crashed(FAILURE), Move(Status.QUEUED, error=ERROR, wait_ms=0, crashed=1, free=0, why="crashed")),
    ({"attempts": 2, "crashed": 1}, Crashed(FAILURE),
     Move(Status.QUEUED, error=ERROR, wait_ms=4_000, crashed=1, free=0, why="crashed")),
    ({"attempts": 3, "crashed": 2, "max_attempts": 9}, Crashed(FAILURE),
     Move(Status.DEAD_LETTER, error=ERROR, crashed=1, why="crashes exhausted")),
    ({"attempts": 3}, Crashed(FAILURE), Move(Status.DEAD_LETTER, error=ERROR, crashed=1, why="attempts exhausted")),
    ({}, Crashed(FAILURE, alone=True), Move(Status.QUEUED, error=ERROR, wait_ms=0, crashed=1, hold=ALONE, free=0, why="crashed")),
    ({"attempts": 3}, Crashed(FAILURE, alone=True), Move(Status.DEAD_LETTER, error=ERROR, crashed=1, why="attempts exhausted")),
    ({"attempts": 3}, Suspected(FAILURE),
     Move(Status.QUEUED, error=ERROR, wait_ms=0, give_back=1, hold=ALONE, why="suspected")),
    ({}, Snoozed(60), Move(Status.QUEUED, wait_ms=60, give_back=1, why="snoozed")),
    ({"attempts": 3}, Snoozed(60), Move(Status.QUEUED, wait_ms=60, give_back=1, why="snoozed")),
    ({"attempts": 3}, Stopped(), Move(Status.QUEUED, give_back=1, interrupted=1, free=0, why="interrupted")),
    ({"attempts": 3}, Unstarted(), Move(Status.QUEUED, give_back=1, free=0, why="released")),
]  # fmt: skip


@pytest.mark.parametrize(("state", "outcome", "expected"), TABLE)
def test_every_ending_leads_to_one_move(state, outcome, expected):
    assert move(outcome, **state) == expected


def test_a_run_that_gave_up_is_cancelled_with_the_reason():
    ending = move(Abandoned())
    assert (ending.status, ending.why) == (Status.CANCELLED, "cancelled")
    assert json.loads(ending.error)["code"] == "CANCELLED"


@given(outcome=OUTCOMES, attempts=st.integers(1, 6), max_attempts=st.integers(1, 6), crashed=st.integers(0, 5))
def test_no_ending_makes_a_move_that_is_not_in_the_table(outcome, attempts, max_attempts, crashed):
    ending = move(outcome, attempts=attempts, max_attempts=max_attempts, crashed=crashed)
    assert ending.status in {to for _, to in MOVES[Status.IN_PROGRESS]}


@given(outcome=OUTCOMES, attempts=st.integers(1, 6), max_attempts=st.integers(1, 6), crashed=st.integers(0, 5))
def test_a_job_without_attempts_left_waits_only_if_the_attempt_is_given_back(outcome, attempts, max_attempts, crashed):
    ending = move(outcome, attempts=attempts, max_attempts=max_attempts, crashed=crashed)
    if ending.status is Status.QUEUED:
        assert ending.give_back == 1 or attempts < max_attempts
    assert ending.failed + ending.crashed + ending.give_back <= 1


@given(outcome=OUTCOMES, spread=st.floats(0, 1, exclude_max=True))
def test_a_move_never_goes_back_in_time(outcome, spread):
    ending = move(outcome, spread=spread)
    assert ending.wait_ms is None or ending.wait_ms >= 0


def test_jitter_is_added_to_the_back_off():
    assert move(Raised(FAILURE), spread=0.5).wait_ms == 2_500


def test_a_type_has_its_own_back_off_and_bound_of_crashes():
    policy = Policy(backoff=Backoff(base_ms=10, cap_ms=15, jitter_ms=0), max_crashes=1)
    assert move(Raised(FAILURE), policy).wait_ms == 15
    assert move(Crashed(FAILURE), policy).status is Status.DEAD_LETTER


@pytest.mark.parametrize(
    ("attempts", "wait"), [(0, 1_000), (1, 2_000), (5, 32_000), (6, 60_000), (40, 60_000), (10_000, 60_000)]
)
def test_the_wait_doubles_up_to_its_cap(attempts, wait):
    assert Backoff().delay_ms(attempts, 0.0) == wait


@given(st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_the_wait_lies_between_its_step_and_its_step_plus_jitter(attempts, spread):
    backoff = Backoff()
    assert backoff.delay_ms(attempts, 0.0) <= backoff.delay_ms(attempts, spread) < backoff.cap_ms + backoff.jitter_ms
    assert backoff.delay_ms(attempts + 1, 0.0) >= backoff.delay_ms(attempts, 0.0)


@given(st.integers(0, 30))
def test_an_uncapped_wait_is_an_exact_power(attempts):
    assert Backoff(cap_ms=10**18, jitter_ms=0).delay_ms(attempts, 0.9) == 1_000 * 2**attempts


def test_a_lease_is_renewed_when_a_third_of_it_is_gone():
    assert renew_when(NOW, 60_000) == NOW + 20_000
