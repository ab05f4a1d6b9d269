"""Newest wins, the same on every store: of the jobs with one coalesce key at most one waits and one runs.

A newer request takes the place of the one that waits. While one runs, the next is held; whatever ends the run frees it.
So all who enqueue for a key, and all who end its runs, come one after the other: a SQLite file has one writer anyway,
elsewhere `lock_keys` sees to it.
"""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.status import BEHIND, TERMINAL, Status
from holdfast.store.verbs import CommonVerbs, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.decide import Move
    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob
    from holdfast.store.port import Ending

    Key = tuple[str, str, str]  # tenant, type, coalesce key

SEQUENCES_KEPT_MS = 30 * 24 * 3600 * 1000  # after their last use: longer than any job is kept
_BECAME = "requests became this run"


class NewestVerbs(CommonVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:

        def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]: ...
        def lock_keys(self, keys: Sequence[Key]) -> None: ...
        def look_for(self, ids: Sequence[str]) -> None: ...
        def rules(self) -> tuple[object, ...]: ...

    def ask(self, jobs: Sequence[NewJob]) -> list[tuple[str, str]]:
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
        return bool(self.run("newest_waiting", **_named(self._key_of(job, self.new_row(job, "")))))

    def coalesce(self, job: NewJob) -> tuple[str, str]:
        row = self.new_row(job, "")
        key = self._key_of(job, row)
        self.lock_keys([key])
        if job.sequence is not None and (newer := self._too_late(key, job)):
            return newer, "discarded"
        job_id = self._replaced(job, row, key)
        answer = "replaced"
        if job_id is None:
            ((job_id, _),) = self.insert([job])
            held = BEHIND if self.run("newest_running", **_named(key)) else 0
            self.change("newest_mark", id=job_id, coalesce_key=job.coalesce_key, sequence=job.sequence, held=held)
            answer = "created"
        if job.sequence is not None:
            self.change("sequence_set", id=job_id, sequence=job.sequence, now=self.stamp, **_named(key))
        return job_id, answer

    def outrun(self, claim: Claim) -> str | None:
        """The job that waits behind a run, if there is one."""
        if claim.coalesce_key is None:
            return None
        rows = self.run("newest_waiting", **_named((claim.tenant, claim.type, claim.coalesce_key)))
        return str(rows[0][0]) if rows else None

    def settle_newest(self, endings: Sequence[Ending]) -> list[Ending]:
        """The endings, of which some become another: a run that was overtaken is over, and never tried again."""
        keys = keys_of(endings)
        if not keys:
            return list(endings)
        self.lock_keys(keys)
        return [ending._replace(move=self._overtaken(ending)) for ending in endings]

    def free_newest(self, keys: Sequence[Key]) -> None:
        """Runs of these keys are over: let those behind them begin."""
        for key in keys:
            for job_id, queue, lane in self.run("newest_free", behind=BEHIND, now=self.stamp, **_named(key)):
                if lane is not None:
                    self.look_for([job_id])
                self.news.jobs.append(job_id)
                self.news.queues.add(queue)

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        return self.newer(job_id) is None and super().retry(job_id, tenant)

    def newer(self, job_id: str) -> str | None:
        for key, sequence in self.key_of(job_id):
            rivals = self.run("newest_waiting", **_named(key)) + self.run("newest_running", **_named(key))
            known = [] if sequence is None else self.run("sequence", **_named(key))
            rivals += [(newest,) for last, newest, _ in known if last > sequence]
            for rival, *_ in rivals:
                if rival != job_id:
                    return str(rival)
        return None

    def key_of(self, job_id: str) -> list[tuple[Key, int | None]]:
        """The coalesce key of a job, locked, and its number."""
        found = [((tenant, kind, key), sequence) for tenant, kind, key, sequence in self.run("newest_of", id=job_id)]
        self.lock_keys([key for key, _ in found])
        return found

    def _key_of(self, job: NewJob, row: dict[str, object]) -> Key:
        assert job.coalesce_key is not None, "jobs without a key are inserted"
        return str(row["tenant"]), job.type, job.coalesce_key

    def _too_late(self, key: Key, request: NewJob) -> str | None:
        """The job of a newer request; or of the same one, unless it ended badly or is forced."""
        for last, job_id, ended in self.run("sequence", **_named(key)):
            assert request.sequence is not None, "only requests with a number are asked about"
            if request.sequence > last:
                return None
            if request.sequence == last:
                job = self.get(job_id)
                status = ended if job is None else job.status
                if request.force or (status in TERMINAL and status != Status.COMPLETED):
                    return None
            self.change("sequence_late", now=self.stamp, **_named(key))
            return str(job_id)
        return None

    def _replaced(self, job: NewJob, row: dict[str, object], key: Key) -> str | None:
        """The id of the waiting job that became this request. It may be claimed at this moment: then there is none."""
        for job_id, status, attempts, created_at, queue in self.run("newest_waiting", **_named(key)):
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

    def _overtaken(self, ending: Ending) -> Move:
        claim, move = ending.claim, ending.move
        successor = self.outrun(claim)
        again = move.status in (Status.QUEUED, Status.AWAITING_AUTH)
        if successor is None or (claim.sequence is None and not again):
            return move
        error = {"class": "Superseded", "message": "a newer request took its place", "code": "SUPERSEDED"}
        return move._replace(
            status=Status.CANCELLED,
            result=None,
            error=json.dumps(error | {"successor": successor}),
            wait_ms=None,
            hold=0,
            why="superseded",
        )


def outcomes(answers: Sequence[tuple[str, bool]]) -> list[tuple[str, str]]:
    """What `insert` answers, in words."""
    return [(job_id, "created" if created else "duplicate") for job_id, created in answers]


def keys_of(endings: Sequence[Ending]) -> list[Key]:
    """The coalesce keys of runs, each once, in order."""
    claims = [ending.claim for ending in endings if ending.claim.coalesce_key is not None]
    return sorted({(claim.tenant, claim.type, str(claim.coalesce_key)) for claim in claims})


def _named(key: Key) -> dict[str, object]:
    tenant, kind, coalesce_key = key
    return {"tenant": tenant, "type": kind, "coalesce_key": coalesce_key}
