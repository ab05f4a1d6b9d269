"""How the runs of a dead child ended: one alone in it crashed, several are suspects, the rest is unharmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model.failure import Failure
from holdfast.model.outcome import Crashed, Outcome, Raised, Stopped, Suspected, Unstarted
from holdfast.worker.death import describe_exit
from holdfast.worker.slots import RETURNED, RUNNING, TAKEN

if TYPE_CHECKING:
    from holdfast.model.lease import Claim
    from holdfast.worker.look import Child


class Verdicts:
    """Made once per death, asked for each of its leases."""

    def __init__(self, child: Child, status: int, peak_kib: int) -> None:
        self._child = child
        self._phases = {(run.id, run.token): run.phase for run in child.slots.started()}
        self._entered = sum(phase == RUNNING for phase in self._phases.values())
        self._failure = Failure(
            "WorkerDied",
            f"the process died by {describe_exit(status)}, peak memory {peak_kib // 1024} MiB, worker {child.owner}",
            "WORKER_DIED",
        )

    def of(self, claim: Claim) -> Outcome:
        """How this run ended."""
        child, key = self._child, (claim.id, claim.token)
        phase = self._phases.get(key, TAKEN)
        # A solo child that died on its way to the handler crashed too, else it would be tried for ever.
        if phase == TAKEN and not (child.solo and child.pid):
            return Unstarted()
        if key in child.overdue:
            return Raised(Failure("TimeoutError", "ran past its time-out and its process was killed", "TIMEOUT"))
        if phase == RETURNED or child.killed_for is not None or child.leaving_since is not None:
            return Stopped()  # it did no harm
        if child.solo or self._entered == 1:
            return Crashed(self._failure, alone=True)
        return Suspected(self._failure)
