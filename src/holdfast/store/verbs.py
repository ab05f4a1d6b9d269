"""The verbs that are the same on every store: each names a query and gives its rows a shape. The promises stand in the
port.
"""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.errors import KeyConflict
from holdfast.model.payload import same
from holdfast.store.asking import AskingVerbs, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence
    from typing import Any

    from holdfast.model.job import Job
    from holdfast.model.lease import Claim
    from holdfast.model.news import News
    from holdfast.store.port import Ending, Hold

WINDOW = 10_000


class CommonVerbs(AskingVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:
        news: News
        now: int
        stamp: str
        ever: str  # sorts before every stamp

        def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]: ...
        def change(self, query: str, **parameters: object) -> int: ...
        def write_history(self, lines: Sequence[Line]) -> None: ...

    # -- for everyone

    def get(self, job_id: str, tenant: str | None = None) -> Job | None:
        rows = self.run("get", id=job_id, tenant=tenant)
        return self.job(rows[0]) if rows else None

    def list_jobs(self, where: dict[str, str | None], before: str, limit: int) -> tuple[list[Job], str | None]:
        filters = dict.fromkeys(("status", "type", "queue", "group", "tenant")) | where
        found: list[Job] = []
        while len(found) < limit:
            edge = self.run("window", before=before, window=WINDOW)
            floor = edge[0][0] if edge else ""
            rows = self.run("list", floor=floor, before=before, limit=limit - len(found), **filters)
            found += map(self.job, rows)
            if not floor and len(found) < limit:
                return found, None
            before = found[-1].id if len(found) == limit else floor + "~"  # the floor's own row comes next
        return found, before

    def attention(self, status: str, before: str, limit: int, where: dict[str, str | None]) -> list[Job]:
        filters = {"type": None, "tenant": None} | where
        return list(map(self.job, self.run("attention", status=status, before=before, limit=limit, **filters)))

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        if not self.change("retry", id=job_id, tenant=tenant, now=self.stamp):
            return False
        row = self.get(job_id)
        assert row is not None, "the row was changed a moment ago, in this transaction"
        self.news.queues.add(row.queue)
        self.news.jobs.append(job_id)
        self.news.of_group(row.tenant, row.group)
        return True

    def note(self, job_id: str, *, from_status: str, why: str, attempt: int = 0, actor: str | None = None) -> None:
        self.write_history([Line(job_id, from_status, why, attempt, actor=actor)])

    def history(self, job_id: str) -> list[dict[str, Any]]:
        names = ("at", "from_status", "to_status", "why", "attempt", "worker", "error_class", "actor")
        return [dict(zip(names, row, strict=True)) for row in self.run("history_of", id=job_id)]

    def audit(self, act: str, jobs: Sequence[Job], actor: str | None) -> None:
        from holdfast.model.ids import new_ids  # noqa: PLC0415

        lines: dict[tuple[str, str, str], list[str]] = {}
        for job in jobs:
            lines.setdefault((job.tenant, job.queue, job.type), []).append(job.id)
        for line, (lane, ids) in zip(new_ids(self.now, len(lines)), lines.items(), strict=True):
            tenant, queue, kind = lane
            told = {"tenant": tenant, "queue": queue, "type": kind, "jobs": json.dumps(ids, separators=(",", ":"))}
            self.run("audit", id=line, now=self.stamp, actor=actor, act=act, **told)

    def audited(self, *, before: str, limit: int, tenant: str | None) -> list[dict[str, Any]]:
        names = ("id", "at", "actor", "act", "tenant", "queue", "type", "jobs")
        rows = self.run("audited", before=before, limit=limit, tenant=tenant)
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [line | {"jobs": json.loads(line["jobs"])} for line in found]

    # -- for workers and upkeep

    def progress(self, job_id: str, token: int, progress: str) -> bool:
        held = self.change("progress", id=job_id, token=token, progress=progress, now=self.stamp) == 1
        if held:
            self.news.jobs.append(job_id)
        return held

    def beat(self, worker: dict[str, Any]) -> bool:
        return bool(self.run("beat", now=self.stamp, **worker)[0][0])

    def expired(self, limit: int) -> list[Claim]:
        return claims(self.run("expired", now=self.stamp, limit=limit))

    def next_expiry(self) -> int | None:
        return _instant(self.run("next_expiry", now=self.stamp))

    def next_alone(self, *, due_too: bool = False) -> int | None:
        return _instant(self.run("next_alone", now=self.ever if due_too else self.stamp))

    def held_by(self, owner: str) -> list[Claim]:
        return claims(self.run("held_by", owner=owner))

    def held(self, owner: str) -> list[Hold]:
        from holdfast.store.port import Hold  # noqa: PLC0415

        return [
            Hold(job_id, token, name, stamp.from_text(until), stamp.from_text(since), bool(asked))
            for job_id, token, name, until, since, asked in self.run("held", owner=owner)
        ]

    def lead(self, owner: str, lead_ms: int) -> bool:
        return self.change("lead", owner=owner, until=stamp.to_text(self.now + lead_ms), now=self.stamp) == 1

    def resign(self, owner: str) -> None:
        self.run("resign", owner=owner)

    def pause(self, queue: str, by: str) -> bool:
        return self.change("pause", name=queue, by=by, now=self.stamp) == 1

    def resume(self, queue: str) -> bool:
        self.news.queues.add(queue)
        return self.change("resume", name=queue) == 1

    # -- for seeing

    def overview(self, cap: int) -> dict[str, list[tuple[Any, ...]]]:
        limited = self.run("waiting_limited", cap=cap)
        return {
            "waiting": self.run("waiting", cap=cap) + self.run("waiting_alone", cap=cap) + limited,
            "limited": limited,
            "blocked": self.run("blocked_count", cap=cap),
            "running": self.run("running", now=self.stamp),
            "dead": self.run("dead_count", cap=cap),
            "paused": self.run("pauses"),
        }

    def workers(self, since: int) -> list[dict[str, Any]]:
        names = ("id", "host", "pid", "started_at", "seen_at", "lanes", "places", "running")
        rows = self.run("workers", since=stamp.to_text(max(0, since)))
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [worker | {"lanes": json.loads(worker["lanes"])} for worker in found]

    def depth(self, queue: str, cap: int) -> int:
        return int(self.run("depth", queue=queue, cap=cap)[0][0])

    def ahead(self, job: Job, cap: int) -> int:
        rows = self.run(
            "ahead",
            id=job.id,
            scheduled_at=stamp.to_text(stamp.from_datetime(job.scheduled_at)),
            cap=cap,
            priority=job.priority,
            queue=job.queue,
            type=job.type,
            payload_version=job.payload_version,
        )
        return int(rows[0][0])

    # -- for the stores

    def histograms(self, ended: Iterable[tuple[str, str, str, str, str]]) -> Counter[tuple[str, str, str, str, int]]:
        """Endings (queue, type, status, started, created) as counts for the minute's figures; those that share a claim
        and an enqueue are counted together. A mapping says how many there are of each.
        """
        from collections import Counter  # noqa: PLC0415  # a cold hook ends no runs

        from holdfast.model.figures import bucket_of  # noqa: PLC0415

        counts: Counter[tuple[str, str, str, str, int]] = Counter()
        for (queue, kind, status, started_at, created_at), count in Counter(ended).items():
            counts[queue, kind, status, "run", bucket_of(self.now - stamp.from_text(started_at))] += count
            counts[queue, kind, status, "total", bucket_of(self.now - stamp.from_text(created_at))] += count
        return counts

    def job(self, row: tuple[Any, ...]) -> Job:
        """The job of a row."""
        from holdfast.store.rows import job_of  # noqa: PLC0415  # heavier than a cold hook can afford

        return job_of(row)


def _instant(rows: list[tuple[Any, ...]]) -> int | None:
    text = rows[0][0]
    return None if text is None else stamp.from_text(text)


def claims(rows: list[tuple[Any, ...]]) -> list[Claim]:
    """Rows as workers take them."""
    from holdfast.model.lease import Claim  # noqa: PLC0415  # a cold hook enqueues, it never claims

    new = tuple.__new__  # what `_make` calls; a claim has as many fields as its queries have columns
    return [new(Claim, row) for row in rows]


def line_of(ending: Ending, reached: str | None) -> Line:
    """The line of history that an ending leaves; after a cancel that was asked for, the cancel is what ended it."""
    claim, move = ending.claim, ending.move
    kind = None if move.error is None else json.loads(move.error)["class"]
    why = "cancelled" if reached == "cancelled" and move.status != "cancelled" else move.why
    return Line(claim.id, "in_progress", why, claim.attempts, worker=claim.lease_owner, error_class=kind)


def refuse_other_request(row: dict[str, object], holder: str, kind: str, payload: str) -> None:
    """Raise unless the holder of a taken idempotency key is the same request."""
    if kind != row["type"] or not same(payload, str(row["payload"])):
        raise KeyConflict(
            "KEY_CONFLICT",
            f"key {row['key']!r} belongs to job {holder} of type {kind!r} with another "
            f"{'payload' if kind == row['type'] else 'type'}: use a key of its own for each different request",
        )


def follow_up_refused(error: Exception) -> str:
    """Why a run failed that asked for a follow-up which cannot be stored."""
    from holdfast.model.failure import Failure  # noqa: PLC0415

    return Failure("FollowUpRefused", f"a follow-up cannot be stored: {error}", "FOLLOW_UP_REFUSED").as_text()
