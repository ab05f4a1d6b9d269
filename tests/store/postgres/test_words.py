"""A lone job's word goes out with its commit, and whatever becomes of the word, the job is stored."""

from __future__ import annotations

import pytest

from holdfast.model.request import NewJob
from holdfast.store.postgres import crowd
from tests.store.given import get

MAIL = NewJob("mail", "{}", queue="post")


@pytest.fixture
def store(url, open_url):
    """One whose every lone job has a word."""
    one = open_url(url)
    one.word = lambda news: f"work for {', '.join(news.queues)}"
    one.insert_alone(MAIL)  # the connection is made
    return one


@pytest.fixture
def words(admin):
    """What somebody hears who listens."""
    admin.execute("listen holdfast")
    return lambda: [notice.payload for notice in admin.notifies(timeout=0.2)]


def test_the_word_is_heard_and_need_not_be_told_again(store, words):
    (job_id, created), news = store.insert_alone(MAIL)
    assert (created, news.told, news.queues) == (True, True, {"post"})
    assert get(store, job_id).queue == "post"
    assert words() == ["work for post"]


def test_a_job_that_was_there_before_tells_nothing(store, words):
    keyed = NewJob("mail", "{}", key="once")
    first, _ = store.insert_alone(keyed)
    words()
    again, news = store.insert_alone(keyed)
    assert (again, news.told) == ((first[0], False), False)
    assert words() == []


def test_while_anothers_word_is_on_its_way_to_the_disk_nobody_waits_for_it(store, words, admin):
    with admin.transaction():
        admin.execute("select pg_advisory_xact_lock(4747, 0)")
        (job_id, created), news = store.insert_alone(MAIL)
        assert (created, news.told) == (True, False)
    assert get(store, job_id).status == "queued"
    assert words() == []
    assert store.insert_alone(MAIL)[1].told


def test_a_word_that_the_server_refuses_does_not_take_the_job_along(store, words):
    store.word = lambda _: "x" * 9_000  # more than NOTIFY takes
    (job_id, created), news = store.insert_alone(MAIL)
    assert (created, news.told, get(store, job_id).queue) == (True, False, "post")
    assert words() == []


def test_a_job_that_the_server_refuses_is_an_error_as_without_a_word(store, admin):
    admin.execute("alter table job_queue add constraint none_of_these check (type <> 'rare')")
    try:
        with pytest.raises(Exception, match="none_of_these"):
            store.insert_alone(NewJob("rare", "{}"))
        assert store.insert_alone(MAIL)[1].told
    finally:
        admin.execute("alter table job_queue drop constraint none_of_these")


def test_a_connection_that_was_lost_costs_the_word_nothing(store, words, kill):
    kill(store._writer)
    (job_id, created), news = store.insert_alone(MAIL)
    assert (created, news.told, get(store, job_id).queue) == (True, True, "post")
    assert words() == ["work for post"]


def test_a_job_behind_a_crowd_has_no_word(store, words, monkeypatch):
    monkeypatch.setattr(crowd.Crowd, "waited", lambda *_: True)
    assert not store.insert_alone(MAIL)[1].told
    assert words() == []


def test_a_crowd_is_known_from_the_last_look_at_its_lane():
    seen = crowd.Crowd()
    assert not seen.waited(MAIL)
    seen.waits(MAIL, 0.0, lambda: True)
    assert not seen.waited(MAIL)
    seen._lanes[crowd._lane(MAIL)].last = True
    assert seen.waited(MAIL)
    assert not seen.waited(NewJob("mail", "{}"))
