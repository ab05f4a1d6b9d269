"""Batches, the same on every store: how each item ended, how many have, and the callback of the last.

The counts of a batch change when one of its jobs ends, in the transaction that ends it: a chunk counts the items that
ended in it, an item's own job counts one. While a chunk runs, only its own row and rows of its own items are written,
so runs of one batch never wait for each other. Whoever ends jobs of several batches counts them in their order.
"""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.errors import KeyConflict
from holdfast.store.newest import NewestVerbs
from holdfast.store.verbs import follow_up_refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from holdfast.model.batch import Batch, ItemEnd, NewBatch
    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob

BATCHES_KEPT_MS = 30 * 24 * 3600 * 1000  # after their end
ITEMS_AT_ONCE = 5_000  # deleted in one go
_CANCELLED = '{"class":"Cancelled","message":"its chunk was cancelled before it could run","code":"CANCELLED"}'
_UNRUN = '{"class":"Unrun","message":"its chunk ended before it could run","code":"CANCELLED"}'


class BatchVerbs(NewestVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:

        def all_or_none(self) -> AbstractContextManager[None]: ...
        def anyway(self) -> AbstractContextManager[None]: ...
        def follow(self, jobs: Sequence[NewJob], started_at: str) -> list[tuple[str, str]]: ...
        def _insert_one(self, row: dict[str, object]) -> tuple[str, bool]: ...
        def cancel(self, job_id: str, *, tenant: str | None, graceful: bool, error: str) -> str | None: ...

    # -- for everyone

    def add_batch(self, batch: NewBatch, jobs: Sequence[NewJob], items: Sequence[int | None]) -> tuple[str, bool]:
        row = self.new_row(batch.pattern, "")
        told = {name: row[name] for name in ("tenant", "group", "type", "queue", "now")}
        about = {"total": batch.total, "callback": batch.callback, "key": batch.key, "digest": batch.digest}
        ((holder, kind, digest),) = self.run("batch_add", id=batch.id, **told, **about)
        if holder != batch.id:
            _refuse_other_batch(batch, holder, same=(kind, digest) == (batch.pattern.type, batch.digest))
            return str(holder), False
        if jobs:
            stored = self.insert(jobs)
            self._mark_batch(
                batch.id, [(job_id, item, 0, 0, None) for (job_id, _), item in zip(stored, items, strict=True)]
            )
        self._count_batch(batch.id)
        return batch.id, True

    def batch(self, batch_id: str, tenant: str | None = None) -> Batch | None:
        rows = self.run("batch", id=batch_id, tenant=tenant)
        return _batch(rows[0]) if rows else None

    def batches(self, *, before: str, limit: int, tenant: str | None) -> list[Batch]:
        return [_batch(row) for row in self.run("batches", before=before, limit=limit, tenant=tenant)]

    def batch_versions(self, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        found = self.run("batch_versions", ids=json.dumps(list(ids)))
        return {batch_id: (version, status) for batch_id, version, status in found}

    def items(self, batch_id: str, *, after: int, limit: int, failed: bool) -> list[dict[str, Any]]:
        from holdfast.model.job import readable  # noqa: PLC0415  # a cold hook asks for no items

        return [
            {
                "number": number,
                "status": _status(status, told := readable(error)),
                "result": readable(result),
                "error": told,
                "job": job_id,
            }
            for number, status, result, error, job_id in self.run(
                "items", batch=batch_id, after=after, limit=limit, failed=int(failed)
            )
        ]

    def cancel_batch(self, batch_id: str, *, limit: int, tenant: str | None, error: str) -> tuple[int, bool]:
        # The batch first, then jobs that nobody else has in hand: who waits for one of the two holds none of the other.
        if not self.run("batch_hold", id=batch_id, tenant=tenant):
            return 0, False
        found = [job_id for (job_id,) in self.run("batch_jobs", batch=batch_id, limit=limit)]
        ended = sum(self.cancel(job_id, tenant=None, graceful=False, error=error) is not None for job_id in found)
        return ended, bool(self.run("batch_left", batch=batch_id)[0][0])

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        if not super().retry(job_id, tenant):
            return False
        for _, batch_id, item, _, payload in self.run("batch_ended", ids=json.dumps([job_id])):
            if item is not None:
                reopened = self.change("item_reopen", batch=batch_id, number=item)
                self._count_batch(batch_id, failed=-reopened)
                continue
            # It counts all of its items anew when it ends.
            where = {"batch": batch_id, "id": job_id, **_ends(payload)}
            done, failed, unrun = self._tally(where)
            self.change("items_reopen", **where)
            self._count_batch(batch_id, -done, -failed - unrun)
        return True

    # -- for workers

    def stored_items(self, batch_id: str, first: int, last: int) -> dict[int, tuple[str, str]]:
        found = self.run("items_stored", batch=batch_id, first=first, last=last)
        return {number: (status, job_id) for number, status, job_id in found}

    def store_items(self, claim: Claim, ends: Sequence[ItemEnd], progress: str) -> bool:
        if not self.progress(claim.id, claim.token, progress):
            return False
        ends = [self._followed(end, claim.started_at) for end in ends]
        own = [end for end in ends if end.status == "own"]
        ids = self._store_children([_own_job(claim, end) for end in own])
        self._mark_batch(
            str(claim.batch),
            [(job_id, end.number, end.attempts, end.failed, end.error) for job_id, end in zip(ids, own, strict=True)],
        )
        whose = {end.number: job_id for job_id, end in zip(ids, own, strict=True)}
        items = [
            (end.number, whose.get(end.number, claim.id), end.status, end.result, None if own_job else end.error)
            for end in ends
            for own_job in (end.number in whose,)
        ]
        self.change("items_add", batch=claim.batch, items=json.dumps(items, ensure_ascii=False))
        return True

    def _followed(self, end: ItemEnd, started_at: str) -> ItemEnd:
        """What an item asked to be done next is stored with it; if that cannot be, the item has failed."""
        if not end.follow_ups:
            return end
        from dataclasses import replace  # noqa: PLC0415  # heavier than a cold hook can afford

        from holdfast.model.errors import HoldfastError  # noqa: PLC0415

        try:
            with self.all_or_none():
                self.follow(end.follow_ups, started_at)
        except HoldfastError as error:
            return replace(end, status="failed", result=None, error=follow_up_refused(error))
        return end

    # -- for the stores

    def count_items(self, ids: Sequence[str]) -> None:
        """Jobs have ended, of which some may be part of batches."""
        ended = self.run("batch_ended", ids=json.dumps(list(ids)))
        if not ended:
            return
        if any(item is not None for _, _, item, _, _ in ended):
            self.change("item_ends", ids=json.dumps([job_id for job_id, *_ in ended]))
        counts: dict[str, tuple[int, int, int]] = {}
        for job_id, batch_id, item, status, payload in ended:
            so_far = counts.get(batch_id, (0, 0, 0))
            more = _of_one(status) if item is not None else self._chunk_over(batch_id, job_id, status, payload)
            counts[batch_id] = so_far[0] + more[0], so_far[1] + more[1], so_far[2] + more[2]
        for batch_id, (done, failed, cancelled) in sorted(counts.items()):
            self._count_batch(batch_id, done, failed, cancelled)

    def forget_batches(self) -> None:
        """Drop batches that ended long ago, and their items, a bounded number at a time."""
        before = stamp.to_text(max(0, self.now - BATCHES_KEPT_MS))
        self.change("forget_items", before=before, limit=ITEMS_AT_ONCE)
        self.change("forget_batches", before=before)

    def _chunk_over(self, batch_id: str, job_id: str, status: str, payload: str) -> tuple[int, int, int]:
        """How many items ended in a chunk: done, failed, cancelled. Those it never came to ended as it did."""
        where = _ends(payload)
        cancelled = status == "cancelled"
        if status != "completed":
            numbers = range(where["first"], where["last"] + 1)
            rows = [(number, job_id, "unrun", None, _CANCELLED if cancelled else _UNRUN) for number in numbers]
            self.change("items_add", batch=batch_id, items=json.dumps(rows))
        done, failed, unrun = self._tally({"batch": batch_id, "id": job_id, **where})
        return (done, failed, unrun) if cancelled else (done, failed + unrun, 0)

    def _tally(self, where: dict[str, object]) -> tuple[int, int, int]:
        found = dict(self.run("items_counts", **where))
        return int(found.get("done", 0)), int(found.get("failed", 0)), int(found.get("unrun", 0))

    def _count_batch(self, batch_id: str, done: int = 0, failed: int = 0, cancelled: int = 0) -> None:
        self.change("batch_count", id=batch_id, done=done, failed=failed, cancelled=cancelled)
        self.news.jobs.append(batch_id)
        for (callback,) in self.run("batch_end", id=batch_id, now=self.stamp):
            if callback is not None:
                from holdfast.model.batch import callback_of  # noqa: PLC0415

                (job_id,) = self._store_children([callback_of(callback)])
                self.change("batch_called", id=batch_id, job=job_id)

    def _store_children(self, jobs: Sequence[NewJob]) -> list[str]:
        """Jobs that follow from others. A disk that is nearly full refuses new work, but not these."""
        with self.anyway():
            return [job_id for job_id, _ in self.insert(jobs)] if jobs else []

    def _mark_batch(self, batch_id: str, jobs: Sequence[tuple[str, int | None, int, int, str | None]]) -> None:
        if jobs:
            self.change("batch_mark", batch=batch_id, jobs=json.dumps(jobs, ensure_ascii=False))


def _status(stored: str, error: Any) -> str:
    """What an item is told to be. No error of a handler has this class: those are told with their module."""
    if stored == "done":
        return stored
    told = error.get("class") if isinstance(error, dict) else None
    return "cancelled" if told in ("Cancelled", "ParentFailed") else "failed"


def _of_one(status: str) -> tuple[int, int, int]:
    """Done, failed, cancelled."""
    return int(status == "completed"), int(status not in ("completed", "cancelled")), int(status == "cancelled")


def _ends(payload: str) -> dict[str, int]:
    """The numbers of a chunk's first and last item; those between follow each other."""
    items = json.loads(payload)["items"]
    return {"first": items[0][0], "last": items[-1][0]}


def _own_job(claim: Claim, end: ItemEnd) -> NewJob:
    from holdfast.model.job import loads  # noqa: PLC0415
    from holdfast.model.request import NewJob  # noqa: PLC0415

    assert end.payload is not None, "an item that is tried again needs what it was called with"
    return NewJob(
        claim.type,
        end.payload,
        queue=claim.queue,
        priority=claim.priority,
        delay=end.wait_ms / 1000,
        group=claim.group,
        tenant=claim.tenant,
        max_attempts=claim.max_attempts,
        timeout=None if claim.timeout_ms is None else claim.timeout_ms / 1000,
        limits=loads(claim.limits),
        context=claim.context,
        payload_version=claim.payload_version,
    )


def _batch(row: tuple[Any, ...]) -> Batch:
    from holdfast.model.batch import Batch  # noqa: PLC0415

    (
        batch_id, tenant, group, kind, queue, total, done, failed, cancelled, key, callback_job, created_at, ended_at,
        version,
    ) = row  # fmt: skip
    return Batch(
        id=batch_id,
        tenant=tenant,
        group=group,
        type=kind,
        queue=queue,
        total=total,
        done=done,
        failed=failed,
        cancelled=cancelled,
        idempotency_key=key,
        callback_job=callback_job,
        created_at=created_at,
        ended_at=ended_at,
        version=version,
    )


def _refuse_other_batch(batch: NewBatch, holder: str, *, same: bool) -> None:
    if not same:
        raise KeyConflict(
            "KEY_CONFLICT",
            f"key {batch.key!r} belongs to batch {holder} of another type or with other items: use a key of its own "
            "for each different request",
        )
