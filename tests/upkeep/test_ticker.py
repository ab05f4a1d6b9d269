"""The ticker: what the code says is stored once, ticks come at their time, and news make it look."""

from __future__ import annotations

import time

import pytest

from holdfast.engine import jobs, schedules
from holdfast.engine.desk import Desk
from holdfast.model.errors import StoreError
from holdfast.model.news import News
from holdfast.model.request import NewJob
from holdfast.model.schedule import plan_of
from holdfast.store.sqlite.store import SqliteStore
from holdfast.upkeep.loop import Upkeep
from holdfast.upkeep.ticker import Ticker

PLANS = {"often": plan_of(NewJob("work", "{}"), every=10, overlap="allow")}


def test_the_first_run_stores_what_the_code_says(desk):
    ticker = Ticker(desk, PLANS)
    assert ticker.run_once() == {}
    (row,) = desk.read(schedules.schedules)
    assert (row.name, row.plan, row.source) == ("often", PLANS["often"], "code")
    assert 10 <= ticker.interval <= 10.2


def test_it_rests_half_a_minute_where_there_is_nothing_to_do(desk):
    ticker = Ticker(desk, {})
    assert ticker.run_once() == {}
    assert 30 <= ticker.interval <= 30.2


def test_several_tickers_make_one_job_a_tick(desk, other, clock):
    tickers = [Ticker(desk, PLANS), Ticker(other, PLANS), Ticker(desk, {})]
    for _ in range(5):
        for ticker in tickers:
            ticker.run_once()
        clock.advance(10)
    assert len(desk.read(jobs.list_jobs)[0]) == 4


def test_what_could_not_be_stored_is_stored_at_the_next_turn(desk, clock):
    impatient = Desk(SqliteStore(desk.store.url, clock=clock, patience=0.05))
    ticker = Ticker(impatient, PLANS)
    desk.store.begin()  # holds the file's only write lock
    with pytest.raises(StoreError):
        ticker.run_once()
    desk.store.roll_back()
    ticker.run_once()
    impatient.close()
    assert len(desk.read(schedules.schedules)) == 1


def test_news_of_everything_make_it_look_soon_and_other_news_do_not(desk):
    upkeep = Upkeep(desk, "a", [Ticker(desk, {})])
    upkeep.run_due()
    news = News()
    news.queues.add("default")
    upkeep.hear(news)
    assert upkeep.next_at > time.monotonic() + 20
    upkeep.hear(News.of_everything())
    assert upkeep.next_at <= time.monotonic() + 2


def test_news_mean_nothing_to_upkeep_without_a_ticker(desk):
    upkeep = Upkeep(desk, "a", [])
    upkeep.hear(News.of_everything())
    assert upkeep.run_due() == {}
