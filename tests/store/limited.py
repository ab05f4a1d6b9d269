"""One-line verbs for the tests of limits."""

from __future__ import annotations

from typing import Any

from holdfast.engine import limits
from holdfast.engine.leases import exchange
from holdfast.model.lease import Claim, Lane
from holdfast.model.limit import limit_of
from holdfast.store.port import Order
from tests.store.given import LEASE, MAIL, write


def limit(store: Any, name: str, **says: Any) -> None:
    write(store, lambda tx: limits.set_limit(tx, limit_of(name, **says), by="test"))


def rule(store: Any, said: Any) -> None:
    write(store, lambda tx: limits.set_limit(tx, said, by="test"))


def drop(store: Any, name: str) -> None:
    write(store, lambda tx: limits.drop(tx, name, by="test"))


def take(store: Any, *lanes: Lane, owner: str = "here:1:a", limit: int = 10, lease_ms: int = LEASE) -> list[Claim]:
    """What a worker gets: lines are looked at, and what may be claimed is."""
    return write(store, lambda tx: exchange(tx, [], [Order(owner, lanes or (MAIL,), limit, lease_ms)]).claims[0])
