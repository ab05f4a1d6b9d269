"""A solo child: runs one job, alone in its process.

The supervisor has claimed the job and shows it in the slot map; it ends the process when the run overruns its time-out
or has lost its lease. After SIGTERM the run may go on for the time to stop; then a coroutine is cancelled and a plain
function sees `cancelled`, and unless it returns all the same, it was interrupted. The supervisor ends what is left.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from time import sleep
from typing import TYPE_CHECKING, Any

from holdfast.engine import leases
from holdfast.model.errors import StoreError
from holdfast.model.failure import failure_of
from holdfast.model.lease import Claim
from holdfast.model.outcome import Outcome, Raised, Returned, Stopped
from holdfast.worker.chunks import new_run
from holdfast.worker.runner import Run, call_function, outcome_of, refused, run_coroutine
from holdfast.worker.slots import ASK, READY, RETURNED, RUNNING, SlotMap
from holdfast.worker.transaction import end_of_settled

if TYPE_CHECKING:
    from holdfast.worker.application import Application

log = logging.getLogger("holdfast.worker")

TICK = 0.1
_SLOT = 0


def run_solo(app: Application, config: dict[str, Any]) -> None:
    """Run one job, which the supervisor has claimed, and end it."""
    claim = Claim._make(config["claim"])
    definition = app.registry.get(claim.type)
    assert definition is not None, "the supervisor claims only types that the template told it of"
    slots = SlotMap(config["slots"], 1)
    run = new_run(claim, definition, app.desk)
    run.slots, run.slot = slots, _SLOT
    threading.Thread(target=_watch, args=(slots, run), daemon=True).start()
    slots.enter(_SLOT, RUNNING)
    slots.say(READY)
    try:
        outcome = (
            asyncio.run(_awaited(run, config["drain"])) if definition.is_coroutine else _called(run, config["drain"])
        )
    except BaseException as error:  # noqa: BLE001  # the job must end, whatever the handler's error does to us
        outcome = Raised(failure_of(error))
    slots.enter(_SLOT, RETURNED)
    if run.settled:
        end_of_settled(run, outcome)
        return
    _hand_in(app, claim, outcome if isinstance(outcome, Returned) else run.verdict or outcome)


def _watch(slots: SlotMap, run: Run) -> None:
    """Let the handler see that a cancel was asked for."""
    while slots.order(_SLOT) != ASK:
        sleep(TICK)
    run.ask_to_stop()


def _called(run: Run, drain: float) -> Outcome:
    def later(*_: object) -> None:
        timer = threading.Timer(drain, _stop, args=(run,))
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, later)
    _heed_stop()
    return call_function(run)


async def _awaited(run: Run, drain: float) -> Outcome:
    task = asyncio.ensure_future(run_coroutine(run))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        _stop(run)
        task.cancel()

    loop.add_signal_handler(signal.SIGTERM, lambda: loop.call_later(drain, stop))
    _heed_stop()
    try:
        return await task
    except asyncio.CancelledError as error:
        return outcome_of(error, run.definition)


def _stop(run: Run) -> None:
    run.verdict = Stopped()
    run.ask_to_stop()


def _heed_stop() -> None:
    """The template holds SIGTERM back: one that came while this process started is delivered now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _hand_in(app: Application, claim: Claim, outcome: Outcome) -> None:
    """End the run; while the store is away, wait for it. One that it will not take for what is in it has failed."""
    away = False
    while True:
        try:
            app.desk.write(leases.finish, [(claim, outcome)], app.registry.policies())
        except StoreError as error:
            if failed := refused(error, outcome):
                outcome = failed
                continue
            if not away:
                log.warning("the store is away: %s", error)
            away = True
            sleep(TICK)
        else:
            return
