"""Pause and resume a group or a tenant. Each scope is independent of the others.

First it is said, so that new jobs are held; then a walk holds what is there, part by part, in many short transactions:
these verbs are given a desk. Held jobs leave the due index, so a million of them slow no claim. What runs goes on, and
is held if it comes back. Whoever is stopped in the middle calls again.
"""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.model.errors import StoreError
from holdfast.model.request import check_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

R = TypeVar("R")

PART = 5_000  # jobs in one transaction
_PATIENCE = 10.0  # seconds, with transactions that enqueue and stay open
_REST = 0.05


def pause_group(desk: Desk, key: str, by: str, *, tenant: str = "") -> dict[str, Any]:
    """Stop claims of a group; what runs goes on."""
    return _switch(desk, "group", tenant, check_name("group", key), by)


def resume_group(desk: Desk, key: str, *, tenant: str = "") -> dict[str, Any]:
    """Let claims of a group go on, unless something else holds them."""
    return _switch(desk, "group", tenant, check_name("group", key), None)


def pause_tenant(desk: Desk, name: str, by: str) -> dict[str, Any]:
    """Stop claims of a tenant's jobs; what runs goes on."""
    return _switch(desk, "tenant", name, check_name("tenant", name), by)


def resume_tenant(desk: Desk, name: str) -> dict[str, Any]:
    """Let claims of a tenant's jobs go on, unless something else holds them."""
    return _switch(desk, "tenant", name, check_name("tenant", name), None)


def pauses(tx: Transaction) -> list[dict[str, Any]]:
    """All that is paused: queues, groups, tenants."""
    return tx.pauses()


def _switch(desk: Desk, scope: str, tenant: str, name: str, by: str | None) -> dict[str, Any]:
    changed = patiently(lambda: desk.write(_say, scope, tenant, name, by))
    held = by is not None
    jobs_moved, after = 0, ""
    while True:
        ids, edge = desk.read(_scope_part, scope, tenant, name, after, held=held)
        if ids and not desk.write(_hold_part, scope, tenant, name, ids, held=held):
            break
        jobs_moved += len(ids)
        if edge is None:
            break
        after = edge
    return {"scope": scope, "tenant": tenant, "name": name, "paused": held, "changed": changed, "jobs": jobs_moved}


def _say(tx: Transaction, scope: str, tenant: str, name: str, by: str | None) -> bool:
    return tx.resume_scope(scope, tenant, name) if by is None else tx.pause_scope(scope, tenant, name, by)


def _scope_part(
    tx: Transaction, scope: str, tenant: str, name: str, after: str, *, held: bool
) -> tuple[list[str], str | None]:
    return tx.scope_part(scope, tenant, name, held=held, after=after, window=PART)


def _hold_part(tx: Transaction, scope: str, tenant: str, name: str, ids: Sequence[str], *, held: bool) -> bool:
    return tx.hold_part(scope, tenant, name, ids, held=held)


def patiently(act: Callable[[], R]) -> R:
    """A transaction that enqueues and stays open is in the way for a while: try again, with rests for the others."""
    give_up = monotonic() + _PATIENCE
    while True:
        try:
            return act()
        except StoreError as error:
            if error.code != "SCOPE_BUSY" or monotonic() > give_up:
                raise
        sleep(_REST)
