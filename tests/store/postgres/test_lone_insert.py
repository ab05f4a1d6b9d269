"""A lone job is stored by the shortest way, and by the long one when that meets trouble."""

from __future__ import annotations

from holdfast.model.request import NewJob
from tests.store.given import get


def test_a_connection_that_was_lost_before_the_rules_were_read_costs_nothing(url, open_url, kill):
    store = open_url(url)
    store.insert_alone(NewJob("mail", "{}"))
    store.queries.kept.clear()  # what is remembered for five seconds is over
    kill(store._writer)
    (job_id, created), _ = store.insert_alone(NewJob("mail", "{}"))
    assert (created, get(store, job_id).type) == (True, "mail")
