from __future__ import annotations

import pytest

from tests.store.given import MINUTE, write


def lead(store, owner="first"):
    return write(store, lambda tx: tx.lead(owner, MINUTE))


def test_one_leads_at_a_time(store, other):
    assert lead(store)
    assert not lead(other, "second")


def test_the_leader_stays_the_leader(store, clock):
    lead(store)
    clock.forward(MINUTE)
    assert lead(store)
    clock.forward(MINUTE)
    assert not lead(store, "second")


@pytest.mark.parametrize(("past", "free"), [(-1, False), (0, False), (1, True)])
def test_a_leader_that_fell_silent_is_followed(store, clock, past, free):
    lead(store)
    clock.forward(MINUTE + past)
    assert lead(store, "second") is free
    assert lead(store) is not free


def test_a_leader_that_resigned_is_followed_at_once(store):
    lead(store)
    write(store, lambda tx: tx.resign("first"))
    assert lead(store, "second")


def test_only_the_leader_can_resign(store):
    lead(store)
    write(store, lambda tx: tx.resign("second"))
    assert not lead(store, "second")
