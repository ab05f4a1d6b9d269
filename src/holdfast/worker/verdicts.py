"""How the runs of a dead child, or of a whole dead worker, ended.

One run alone in a child crashed, several are suspects, and what had not begun is unharmed. A handler that has returned
may have left something behind that killed the process, until its ending is durable. But hundreds may wait for one
commit beside a handler that runs: those are interrupted, and suspects only if that befalls them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.model.failure import Failure, timed_out
from holdfast.model.outcome import Crashed, Outcome, Raised, Stopped, Suspected, Unstarted
from holdfast.worker.death import describe_exit
from holdfast.worker.slots import RETURNED, RUNNING, TAKEN, read_slots

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.lease import Claim
    from holdfast.worker.look import Child


class Verdicts:
    """Made once per death, asked for each of its leases."""

    def __init__(self, child: Child, status: int, peak_kib: int) -> None:
        self._child = child
        self.judged: list[str] = []
        self._phases = {(run.id, run.token): run.phase for run in child.slots.started()}
        self.runs = list(self._phases)
        self._entered = sum(phase != TAKEN for phase in self._phases.values())
        self._someone_ran = RUNNING in self._phases.values()
        self._failure = Failure(
            "WorkerDied",
            f"the process died by {describe_exit(status)}, peak memory {peak_kib // 1024} MiB, worker {child.owner}",
            "WORKER_DIED",
        )

    def of(self, claim: Claim) -> Outcome:
        """How this run ended."""
        child, key = self._child, (claim.id, claim.token)
        self.judged.append(claim.id)
        phase = self._phases.get(key, TAKEN)
        # A solo child that died on its way to the handler crashed too, else it would be tried for ever.
        if phase == TAKEN and not (child.solo and child.pid):
            return Unstarted()
        if key in child.overdue:
            return Raised(timed_out(child.overdue[key], how="its process was killed"))
        if child.killed_for is not None or child.leaving_since is not None:
            return Stopped()  # it was our doing
        if child.solo or self._entered == 1:
            return Crashed(self._failure, alone=True)
        if phase == RETURNED and self._someone_ran and not claim.interrupted:
            return Stopped()
        return Suspected(self._failure)


def of_dead_worker(room: str) -> Callable[[Claim], Outcome]:
    """How the runs of a worker ended that died with all its children: its room tells which had begun."""
    files = {path.stem: read_slots(str(path)) for path in Path(room).glob("*.slots")}
    phases = {(run.id, run.token): run.phase for runs in files.values() for run in runs}
    died = Crashed(Failure("WorkerDied", "the whole worker died", "WORKER_DIED"))

    def of(claim: Claim) -> Outcome:
        if claim.lease_owner.rpartition("/")[2] not in files:
            return died  # nothing is known of it
        phase = phases.get((claim.id, claim.token), TAKEN)
        return Unstarted() if phase == TAKEN else died

    return of
