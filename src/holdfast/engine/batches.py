"""The verbs of batches: store one, look at it, cancel it; and for workers, store how its items ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.engine.asking import check_depth
from holdfast.engine.jobs import CANCELLED, MOST_LISTED
from holdfast.model.errors import BadInput, NotFound
from holdfast.model.request import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.engine.watch import Subject
    from holdfast.model.batch import Batch, ItemEnd, NewBatch
    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob
    from holdfast.store.port import Transaction

AT_ONCE = 200  # jobs cancelled in one transaction
_LAST_ID = "~"  # sorts behind every id


def create(
    tx: Transaction,
    batch: NewBatch,
    jobs: Sequence[NewJob],
    items: Sequence[int | None],
    max_depth: Mapping[str, int] | None = None,
) -> tuple[str, bool]:
    """Store a batch and its jobs, all or none: its id, and whether it was created."""
    if max_depth:
        check_depth(tx, jobs, max_depth)
    return tx.add_batch(batch, jobs, items)


def get(tx: Transaction, batch_id: str, tenant: str | None = None) -> Batch:
    """The batch as it is now."""
    if not isinstance(batch_id, str):
        raise BadInput("BAD_OPTION", f"a batch's id is text, such as batch.id, not {shown(batch_id)}")
    batch = tx.batch(batch_id, tenant) if batch_id.isascii() and batch_id.isprintable() else None
    if batch is None:
        raise NotFound("BATCH_NOT_FOUND", f"no batch {batch_id[:50]!a}: it never was, or ended more than 30 days ago")
    return batch


def list_batches(
    tx: Transaction, *, before: str | None = None, limit: int = 50, tenant: str | None = None
) -> tuple[list[Batch], str | None]:
    """The newest batches, and the cursor to go on from (None at the end)."""
    _check_limit(limit)
    found = tx.batches(before=before or _LAST_ID, limit=limit, tenant=tenant)
    return found, found[-1].id if len(found) == limit else None


def items(
    tx: Transaction,
    batch_id: str,
    *,
    after: int | None = None,
    limit: int = MOST_LISTED,
    failed: bool = False,
    tenant: str | None = None,
) -> tuple[list[dict[str, Any]], int | None]:
    """A page of items that have ended, by number, and the cursor to go on from (None at the end)."""
    _check_limit(limit)
    get(tx, batch_id, tenant)
    found = tx.items(batch_id, after=-1 if after is None else after, limit=limit, failed=failed)
    return found, found[-1]["number"] if len(found) == limit else None


def cancel(tx: Transaction, batch_id: str, *, tenant: str | None = None) -> tuple[int, bool]:
    """Cancel some of its jobs: how many, and whether any is left. Call until none is."""
    get(tx, batch_id, tenant)
    return tx.cancel_batch(batch_id, limit=AT_ONCE, tenant=tenant, error=CANCELLED)


def stored_items(tx: Transaction, batch_id: str, first: int, last: int) -> dict[int, tuple[str, str]]:
    """Which items of a chunk need no run: number -> (status, job id)."""
    return tx.stored_items(batch_id, first, last)


def store_items(tx: Transaction, claim: Claim, ends: Sequence[ItemEnd], progress: str) -> bool:
    """Items of a chunk have ended; False means the lease was lost and nothing was written."""
    return tx.store_items(claim, ends, progress)


def versions(tx: Transaction, ids: list[str], _: object) -> dict[Subject, int | str]:
    """What a watcher of batches needs to know."""
    return {batch_id: version for batch_id, (version, _) in tx.batch_versions(ids).items()}


def _check_limit(limit: object) -> None:
    if type(limit) is not int or not 1 <= limit <= MOST_LISTED:
        raise BadInput("BAD_OPTION", f"limit is a whole number from 1 to {MOST_LISTED}, not {shown(limit)}")
