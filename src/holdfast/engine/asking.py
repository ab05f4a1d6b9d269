"""The one verb of a process that only asks for work. Apart from the others: a cold hook loads no more."""

from __future__ import annotations

from holdfast.model.errors import QueueFull
from holdfast.model.request import HIGH_PRIORITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.model.request import NewJob
    from holdfast.store.port import Transaction


def enqueue(
    tx: Transaction, jobs: Sequence[NewJob], max_depth: Mapping[str, int] | None = None
) -> list[tuple[str, str]]:
    """Store new jobs, all or none; for each its id and what was done: see `Handle.outcome`."""
    if max_depth:
        check_depth(tx, jobs, max_depth)
    return tx.ask(jobs)


def check_depth(tx: Transaction, jobs: Sequence[NewJob], max_depth: Mapping[str, int]) -> None:
    """Refuse new jobs for which a queue has no room."""
    bounded = [job for job in jobs if job.queue in max_depth and job.priority > HIGH_PRIORITY]
    fresh = [
        job
        for job in bounded
        if (job.key is None or not tx.has_key(job.tenant, job.key))
        and (job.coalesce_key is None or not tx.waits(job))  # a replacement makes the queue no longer
    ]
    for queue in {job.queue for job in fresh}:
        most = max_depth[queue]
        low = sum(1 for job in fresh if job.queue == queue)
        if tx.depth(queue, most + 1) + low > most:
            raise QueueFull(
                "QUEUE_FULL",
                f"queue {queue!r} holds its maximum of {most} waiting jobs: try again later, or use a priority of "
                f"{HIGH_PRIORITY} or better",
            )
