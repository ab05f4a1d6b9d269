"""What one who enqueues needs of a transaction, the same on every store. All that a cold hook loads of the verbs.

Newest wins: of the jobs with one coalesce key at most one waits and one runs. `store/newest.py` has the other half, for
those who end runs.
"""

from __future__ import annotations

from time import monotonic

from holdfast.model import stamp
from holdfast.model.held import BEHIND
from holdfast.model.request import Alike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.model.limit import Limit
    from holdfast.model.news import News
    from holdfast.model.request import NewJob
    from holdfast.store.sql import Queries

    Key = tuple[str, str, str]  # tenant, type, coalesce key

RULES_KEPT = 5.0  # seconds for which a process goes by the rules of queues that it has read
_BECAME = "requests became this run"


class Line:
    """A line of history, to be written."""

    __slots__ = ("actor", "attempt", "error_class", "from_status", "job_id", "why", "worker")

    def __init__(
        self,
        job_id: str,
        from_status: str,
        why: str,
        attempt: int,
        *,
        worker: str | None = None,
        error_class: str | None = None,
        actor: str | None = None,
    ) -> None:
        self.job_id = job_id
        self.from_status = from_status
        self.why = why
        self.attempt = attempt
        self.worker = worker
        self.error_class = error_class
        self.actor = actor


def as_asked(job: NewJob) -> dict[str, object]:
    """What is stored of a new job whenever that is done."""
    return {
        "type": job.type,
        "priority": job.priority,
        "payload": job.payload,
        "key": job.key,
        "max_attempts": job.max_attempts,
        "queue": job.queue,
        "tenant": job.tenant,
        "group": job.group,
        "context": job.context,
        "payload_version": job.payload_version,
        "timeout_ms": job.timeout_ms,
    }


class AskingVerbs:
    """Part of the transaction of either store."""

    __slots__ = ("crowded", "stirred")
    stirred: bool  # there are lines to look at now
    crowded: bool  # more of them than the last look has seen

    if TYPE_CHECKING:
        news: News
        now: int
        queries: Queries
        stamp: str

        def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]: ...
        def change(self, query: str, **parameters: object) -> int: ...
        def write_history(self, lines: Sequence[Line]) -> None: ...
        def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]: ...
        def lock_keys(self, keys: Sequence[Key]) -> None: ...
        def look_for(self, ids: Sequence[str], in_ms: int = 0) -> None: ...
        def _limits_of(self, rows: list[tuple[Any, ...]]) -> tuple[Limit, ...]: ...
        def _too_late(self, key: Key, request: NewJob) -> str | None: ...
        def _with_keys(self, job: NewJob, rules: tuple[Limit, ...]) -> NewJob: ...

    def has_key(self, tenant: str, key: str) -> bool:
        return bool(self.run("key_holder", tenant=tenant, key=key))

    def ask(self, jobs: Sequence[NewJob]) -> list[tuple[str, str]]:
        if isinstance(jobs, Alike) and jobs.pattern.coalesce_key is None:
            return outcomes(self.insert(jobs))
        jobs = list(jobs)  # each is told by its identity below
        plain = [job for job in jobs if job.coalesce_key is None]
        stored = outcomes(self.insert(plain)) if plain else []
        if len(plain) == len(jobs):
            return stored
        answers = {id(job): answer for job, answer in zip(plain, stored, strict=True)}
        # By key, in one order for all callers: nobody waits for somebody who waits for him.
        keyed = [job for job in jobs if job.coalesce_key is not None]
        for job in sorted(keyed, key=lambda job: (job.tenant, job.type, str(job.coalesce_key))):
            answers[id(job)] = self.coalesce(job)
        return [answers[id(job)] for job in jobs]

    def waits(self, job: NewJob) -> bool:
        return bool(self.run("newest_waiting", **named(self.key_for(job, self.new_row(job, "")))))

    def coalesce(self, job: NewJob) -> tuple[str, str]:
        row = self.new_row(job, "")
        key = self.key_for(job, row)
        self.lock_keys([key])
        if job.sequence is not None and (newer := self._too_late(key, job)):
            return newer, "discarded"
        job_id = self._replaced(job, row, key)
        answer = "replaced"
        if job_id is None:
            ((job_id, _),) = self.insert([job])
            held = BEHIND if self.run("newest_running", **named(key)) else 0
            self.change("newest_mark", id=job_id, coalesce_key=job.coalesce_key, sequence=job.sequence, held=held)
            answer = "created"
        if job.sequence is not None:
            self.change("sequence_set", id=job_id, sequence=job.sequence, now=self.stamp, **named(key))
        return job_id, answer

    def key_for(self, job: NewJob, row: dict[str, object]) -> Key:
        assert job.coalesce_key is not None, "jobs without a key are inserted"
        return str(row["tenant"]), job.type, job.coalesce_key

    def _replaced(self, job: NewJob, row: dict[str, object], key: Key) -> str | None:
        """The id of the waiting job that became this request. It may be claimed at this moment: then there is none."""
        for job_id, status, attempts, created_at, queue in self.run("newest_waiting", **named(key)):
            due = str(row["scheduled_at"])
            if job.max_wait is not None:
                due = min(due, stamp.to_text(min(stamp.from_text(created_at) + job.max_wait, stamp.LAST)))
            if not self.change(
                "replace",
                id=job_id,
                payload=job.payload,
                payload_version=job.payload_version,
                context=job.context,
                sequence=job.sequence,
                priority=job.priority,
                scheduled_at=due,
                later=int(job.debounce is not None),
                max_attempts=job.max_attempts,
                timeout_ms=job.timeout_ms,
                now=self.stamp,
            ):
                return None
            if job.flow is not None or self.rules():
                self.look_for([job_id])  # it may be due earlier now
            self._count_request(job_id, attempts, status)
            self.news.queues.add(queue)
            self.news.jobs.append(job_id)
            return str(job_id)
        return None

    def _count_request(self, job_id: str, attempts: int, status: str) -> None:
        """One line of history, however many they are."""
        for line, why in self.run("history_last", id=job_id):
            number, _, rest = why.partition(" ")
            if rest == _BECAME:
                self.change("history_mend", id=job_id, line=line, why=f"{int(number) + 1} {_BECAME}", now=self.stamp)
                return
        self.write_history([Line(job_id, status, f"2 {_BECAME}", attempts)])

    def rules(self) -> tuple[Limit, ...]:
        """The limits that whole queues fall under, as they were a few seconds ago."""
        kept = self.queries.kept
        if "rules" not in kept or kept["rules"][0] < monotonic():
            rows = self.run("limit_rules")
            kept["rules"] = (monotonic() + RULES_KEPT, self._limits_of(rows) if rows else ())
        return kept["rules"][1]  # type: ignore[no-any-return]

    def ruled(self, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
        """The same jobs, with the keys that they have by their queues."""
        rules = self.rules()
        return [self._with_keys(job, rules) for job in jobs] if rules else jobs

    def due(self, job: NewJob) -> str:
        """The stamp from which on a new job may run."""
        if job.scheduled_at is not None:
            return stamp.to_text(job.scheduled_at)
        if job.delay:
            return stamp.to_text(min(self.now + job.delay, stamp.LAST))
        return self.stamp

    def new_row(self, job: NewJob, job_id: str) -> dict[str, object]:
        """What is stored of a new job, by the names of the query."""
        window = job.key_window
        return as_asked(job) | {
            "id": job_id,
            "scheduled_at": self.due(job),
            "now": self.stamp,
            "key_until": stamp.to_text(min(self.now + window, stamp.LAST)) if isinstance(window, int) else window,
            "held": 0,
        }


def outcomes(answers: Sequence[tuple[str, bool]]) -> list[tuple[str, str]]:
    """What `insert` answers, in words."""
    return [(job_id, "created" if created else "duplicate") for job_id, created in answers]


def named(key: Key) -> dict[str, object]:
    """A key as queries take it."""
    tenant, kind, coalesce_key = key
    return {"tenant": tenant, "type": kind, "coalesce_key": coalesce_key}
