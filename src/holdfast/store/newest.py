"""Newest wins, the same on every store: of the jobs with one coalesce key at most one waits and one runs.

A newer request takes the place of the one that waits. While one runs, the next is held; whatever ends the run frees it.
So all who enqueue for a key, and all who end its runs, come one after the other: a SQLite file has one writer anyway,
elsewhere `lock_keys` sees to it.
"""

from __future__ import annotations

import json

from holdfast.model.held import BEHIND
from holdfast.model.status import TERMINAL, Status
from holdfast.store.asking import named
from holdfast.store.verbs import CommonVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.decide import Move
    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob
    from holdfast.store.asking import Key
    from holdfast.store.port import Ending

SEQUENCES_KEPT_MS = 30 * 24 * 3600 * 1000  # after their last use: longer than any job is kept


class NewestVerbs(CommonVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    def outrun(self, claim: Claim) -> str | None:
        """The job that waits behind a run, if there is one."""
        if claim.coalesce_key is None:
            return None
        rows = self.run("newest_waiting", **named((claim.tenant, claim.type, claim.coalesce_key)))
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
            for job_id, queue, lane in self.run("newest_free", behind=BEHIND, now=self.stamp, **named(key)):
                if lane is not None:
                    self.look_for([job_id])
                self.news.jobs.append(job_id)
                self.news.queues.add(queue)

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        return self.newer(job_id) is None and super().retry(job_id, tenant)

    def newer(self, job_id: str) -> str | None:
        for key, sequence in self.key_of(job_id):
            rivals = self.run("newest_waiting", **named(key)) + self.run("newest_running", **named(key))
            known = [] if sequence is None else self.run("sequence", **named(key))
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

    def _too_late(self, key: Key, request: NewJob) -> str | None:
        """The job of a newer request; or of the same one, unless it ended badly or is forced."""
        for last, job_id, ended in self.run("sequence", **named(key)):
            assert request.sequence is not None, "only requests with a number are asked about"
            if request.sequence > last:
                return None
            if request.sequence == last:
                job = self.get(job_id)
                status = ended if job is None else job.status
                if request.force or (status in TERMINAL and status != Status.COMPLETED):
                    return None
            self.change("sequence_late", now=self.stamp, **named(key))
            return str(job_id)
        return None

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


def keys_of(endings: Sequence[Ending]) -> list[Key]:
    """The coalesce keys of runs, each once, in order."""
    claims = [ending.claim for ending in endings if ending.claim.coalesce_key is not None]
    return sorted({(claim.tenant, claim.type, str(claim.coalesce_key)) for claim in claims})
