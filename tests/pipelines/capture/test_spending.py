"""The purse: two caps that any number of workers share, and that nobody ever spends more than."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import holdfast
from holdfast.testing import Clock, drain
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.capture.places import Places
from holdfast_pipelines.capture.reading import Reader
from holdfast_pipelines.capture.spending import Caps, Purse, dollars
from holdfast_pipelines.providers.claude import Busy, Declined, Price
from tests.pipelines.capture import claude_server as claude
from tests.pipelines.capture.test_jobs import rows, tell

ROOT = Path(__file__).parents[3]
CALLS = int(os.environ.get("HOLDFAST_TEST_SPENDING_CALLS", "40"))  # of each of eight processes
SPENDER = """
import sys, random
import holdfast
from holdfast_pipelines.capture.spending import Caps, Purse
from holdfast_pipelines.providers.claude import Declined
app = holdfast.App(sys.argv[1])
purse, rng = Purse(app, Caps(day=int(sys.argv[2]), month=10**9)), random.Random(sys.argv[3])
total = 0
for _ in range(int(sys.argv[4])):
    try:
        held = purse.reserve(100)
    except Declined:
        continue
    if rng.random() < 0.2:
        total += 100  # killed before it could tell
        continue
    spent = rng.randrange(101)
    purse.settle(held, spent)
    total += spent
print(total)
app.close()
"""


@pytest.fixture
def app(tmp_path):
    made = holdfast.App(f"sqlite:///{tmp_path / 'capture.db'}?synchronous=normal")
    yield made
    made.close()


@pytest.fixture
def clock():
    return Clock(datetime(2026, 11, 30, 23, 59, tzinfo=UTC))


def refusal(purse, most):
    with pytest.raises(Declined) as told:
        purse.reserve(most)
    return str(told.value)


def test_what_is_set_aside_counts_until_it_is_settled(app, clock):
    purse = Purse(app, Caps(day=1_000, month=10_000), clock)
    first = purse.reserve(600)
    assert "the cap of the day, $0.001, is spent" in refusal(purse, 401)
    second = purse.reserve(400)
    purse.settle(first, 100)
    purse.settle(first, 100)  # told twice, counted once
    purse.settle(second, 0)
    totals = purse.totals()
    assert (totals.day, totals.day_held, totals.month) == (100, 0, 100)
    purse.settle(purse.reserve(900), 900)
    refusal(purse, 1)


def test_a_day_ends_at_midnight_and_a_month_with_its_last_day(app, clock):
    purse = Purse(app, Caps(day=1_000, month=1_500), clock)
    late = purse.reserve(1_000)
    clock.advance(120)  # the first of December
    purse.settle(late, 1_000)
    assert rows(app, "select day, micros from spending") == [("2026-11-30", 1_000)]  # the day on which it was asked
    purse.settle(purse.reserve(1_000), 1_000)  # neither cap knows of November
    clock.advance(86_400)
    assert "the cap of the month" in refusal(purse, 501)
    purse.settle(purse.reserve(500), 500)
    clock.move_to(datetime(2026, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC))
    refusal(purse, 1)
    clock.advance(0.001)
    assert purse.reserve(1_000)


def test_what_was_set_aside_is_forgotten_when_no_cap_asks_for_it(tmp_path):
    app = application({"HOLDFAST_CAPTURE_FOLDER": str(tmp_path / "data")})
    now = datetime.now(UTC)
    for days in (0, 31, 40, 41, 400):
        then = int((now - timedelta(days=days)).timestamp() * 1000)
        Purse(app, Caps(day=10_000, month=100_000), lambda then=then: then).reserve(1_000 + days)
    app.enqueue("sweep:capture_rows_without_a_job", queue="capture")
    drain(app)
    left = [micros for (micros,) in rows(app, "select micros from spending_held order by micros")]
    app.close()
    assert left[:2] == [1_000, 1_031]
    assert 1_400 not in left
    assert 1_041 not in left


def test_what_a_killed_worker_set_aside_counts_until_its_day_is_over(app, clock):
    purse = Purse(app, Caps(day=1_000, month=10_000), clock)
    purse.reserve(1_000)  # and nothing more is heard of it
    refusal(purse, 1)
    clock.advance(60)
    assert purse.reserve(1_000)
    clock.move_to(datetime(2026, 12, 2, tzinfo=UTC))
    totals = purse.totals()
    assert (totals.day, totals.day_held, totals.month_held) == (0, 0, 1_000)  # it may have been billed


def test_a_pause_is_for_everybody_and_is_not_cut_short(app, clock):
    purse, other = (Purse(app, Caps(day=1_000, month=10_000), clock) for _ in range(2))
    assert purse.trouble("asks for a pause (429)", pause=60)
    assert not other.trouble("asks for a pause (429)", pause=5)
    with pytest.raises(Busy) as told:
        other.reserve(1)
    assert told.value.after == 60
    clock.advance(60)
    other.settle(other.reserve(1), 0)
    other.well()
    assert purse.last_trouble() is None


@pytest.mark.slow
def test_eight_processes_never_spend_more_than_the_cap(app, tmp_path):
    Purse(app, Caps(day=1, month=1)).totals()  # the tables
    cap = 2_500
    command = [sys.executable, "-c", SPENDER, app.url, str(cap)]
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    running = [
        subprocess.Popen([*command, str(number), str(CALLS)], stdout=subprocess.PIPE, env=environment, text=True)
        for number in range(8)
    ]
    told = [int(process.communicate(timeout=240)[0]) for process in running]
    assert [process.returncode for process in running] == [0] * 8
    purse = Purse(app, Caps(day=cap, month=10**9))
    totals = purse.totals()
    assert sum(told) == totals.day + totals.day_held
    assert cap - 100 < sum(told) <= cap


def test_eight_at_once_ask_only_as_often_as_the_cap_has_room(app, tmp_path):
    """All of them ask at the same time, and none is answered before the last one was refused."""
    with claude.serving(lambda _: None) as server, ThreadPoolExecutor(8) as pool:
        server.answer = lambda _: (server.released.wait(20), claude.findings())[1]
        given = claude.environment(tmp_path, server.url, HOLDFAST_CAPTURE_CLAUDE_DAY="0.01")
        reader = Reader(app, Places(given), given)  # a question needs about 2,600 of these 10,000
        waiting = {pool.submit(reader.judge, f"hello from session {number}") for number in range(8)}
        by = []
        while len(by) < 5:
            done, waiting = wait(waiting, timeout=60, return_when=FIRST_COMPLETED)
            by += [one.result()[1] for one in done]
        assert by == ["rules-1"] * 5
        ((held, most),) = rows(app, "select sum(micros), max(micros) from spending_held")
        assert 10_000 - most < held <= 10_000
        server.released.set()
        assert [one.result(timeout=60)[1] for one in waiting] == ["claude-haiku-5-5"] * 3
    assert server.connections == 3
    assert rows(app, "select calls, micros from spending") == [(3, 450)]


def test_a_spent_cap_means_rules_until_the_next_day(tmp_path):
    clock = Clock(datetime(2026, 11, 16, 12, tzinfo=UTC))
    with claude.serving(lambda _: claude.said({"findings": []}, given=9_000)) as server:
        app = application(
            claude.environment(tmp_path, server.url, HOLDFAST_CAPTURE_CLAUDE_DAY="0.004"), clock=clock
        )  # a question costs 950 millionths, and nearly 3,000 must be there to ask it
        for number in range(4):
            tell(app, [("user", f"hello {number}")], f"s{number}")
            drain(app)
        clock.advance(86_400)
        tell(app, [("user", "good morning")], "s9")
        drain(app)
        by = [name for (name,) in rows(app, "select validated_by from messages order by rowid")]
        app.close()
    assert by == ["claude-haiku-5-5"] * 2 + ["rules-1"] * 2 + ["claude-haiku-5-5"]
    assert server.connections == 3
    log = (tmp_path / "capture.log").read_text().splitlines()
    assert len(log) == 1
    assert "the cap of the day, $0.004, is spent" in log[0]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 1_000, "output_tokens": 100}, 150),
        ({"input_tokens": 1, "output_tokens": 0}, 1),  # rounded up
        ({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 1_000, "cache_read_input_tokens": None}, 200),
        ({"input_tokens": 10**18, "output_tokens": 1}, None),
        ({"input_tokens": -5, "output_tokens": 1}, None),
        ({"input_tokens": True, "output_tokens": 1}, None),
        ({"input_tokens": "7", "output_tokens": 1}, None),
        ({}, None),
        (None, None),
    ],
)  # fmt: skip
def test_a_call_costs_what_is_reported_or_all_that_was_set_aside(tmp_path, usage, expected):
    with claude.serving(lambda _: claude.said({"findings": []}, usage=usage)) as server:
        app = application(claude.environment(tmp_path, server.url))
        tell(app, [("user", "hello")])
        drain(app)
        ((spent,),) = rows(app, "select micros from spending")
        app.close()
    assert spent == expected if expected is not None else 2_500 < spent < 4_000


def test_what_is_set_aside_is_never_less_than_a_question_can_cost():
    """No token is shorter than a byte: whatever the text, the bytes of a request bound its tokens."""
    price, rng = Price(given=Decimal("0.1"), answered=Decimal("0.5")), random.Random(5)
    for _ in range(1_000):
        given, answered = rng.randrange(10**6), rng.randrange(5_000)
        assert 0 <= price.of(given, answered) - (given * 0.1 + answered * 0.5) <= 1.001
    assert dollars(price.of(10**7, 0)) == "$1.00"
    assert dollars(123) == "$0.0001"
