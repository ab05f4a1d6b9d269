"""One process's work: claim, run, finish, again.

One loop exchanges endings for new claims; it has at most one exchange under way, and handlers run meanwhile. A run's
place is free as soon as its handler returns; its slot, and so its lease, lasts until its ending is durable.

States: working -> draining (no more claims; what has not begun is handed back) -> stopped. Failure cases: the store
is away (logged once, tried again with growing pauses; handlers go on, endings wait); a lease is lost (the supervisor
marks the slot; the handler is stopped and its ending dropped); a handler overruns its time-out (it is cancelled; a
thread that does not heed it makes this process worn, and the supervisor replaces it).
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.engine import leases, limits
from holdfast.model.errors import StoreError
from holdfast.model.failure import failure_of, timed_out
from holdfast.model.outcome import Outcome, Raised, Stopped, Unstarted
from holdfast.model.status import RETRYABLE_BY_HAND
from holdfast.store.port import Order
from holdfast.worker import slots as slot_words
from holdfast.worker.away import Away
from holdfast.worker.calls import gather
from holdfast.worker.chunks import new_run
from holdfast.worker.errand import Errand
from holdfast.worker.log_lines import Pulse, log_run, word
from holdfast.worker.runner import Run, refused, run_coroutine, run_function
from holdfast.worker.transaction import end_of_settled

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from holdfast.engine.desk import Desk
    from holdfast.engine.registry import Registry
    from holdfast.model.lease import Claim
    from holdfast.model.limit import Limit
    from holdfast.signals.port import Ear
    from holdfast.worker.places import Places
    from holdfast.worker.slots import SlotMap

log = logging.getLogger("holdfast.worker")

POLL = 1.0  # seconds between looks when nothing woke us and no proven ear would
TICK = 0.1
THREAD_GRACE = 5.0
SPARED = 3_600.0  # while the supervisor looks for us, it is the tick that sees when it no longer does


class Worker:
    """The loop of one process. `wake` may be called from any thread when there may be something to claim."""

    def __init__(
        self, desk: Desk, registry: Registry, pools: Sequence[Places], *, owner: str, slots: SlotMap, threads: int = 10
    ) -> None:
        self.desk = desk
        self.registry = registry
        self.owner = owner
        self._pools = pools
        self.slots = slots
        self._policies = registry.policies()
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix="holdfast-job")
        self._ended: list[Run] = []
        self._handed_back: list[Claim] = []
        self._stopped: list[tuple[str, int]] = []  # runs that lost their lease, and then ended
        self._runs: set[Run] = set()
        self._wake = asyncio.Event()
        self.ear: Ear | None = None
        self.may_block = False  # the loop, for a moment: it is our own, and the store a file of this machine
        self._errand: Errand | None = None  # what the ear's own thread may claim for us while we rest
        self._loop: asyncio.AbstractEventLoop | None = None
        self.said: dict[str, Limit] = {}  # limits of the code, to be stored before anything is claimed
        self._looked = float("-inf")
        self._draining = False
        self._deadline: float | None = None
        self._pulse = Pulse(slots)
        self._away = Away()

    def look(self) -> None:
        """There may be something to claim; called in the loop."""
        if self.may_block and not self._runs:  # nobody waits for this thread: a job begins two turns of the loop sooner
            self._fetch(self._bring)
        self._wake.set()

    def wake(self) -> None:
        """The same from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    def fetch(self) -> bool:
        """Claim for a loop that rests: called by the thread that has heard of new work, while the loop still sleeps.

        False if it does not rest, or has nothing to claim: then it has to be woken.
        """
        return self._fetch(lambda *brought: self.loop.call_soon_threadsafe(self._bring, *brought))

    def _fetch(self, bring: Callable[[Errand, leases.Exchanged | None], object]) -> bool:
        errand = self._errand
        if errand is None or not errand.take():
            return False
        self.slots.hold(holds=True)
        got = None
        with suppress(Exception):  # whatever it is, the loop meets it again, and knows what to do
            got = self.desk.taken(leases.exchange, (), errand.orders, self._policies)
        bring(errand, got)
        return True

    def _bring(self, errand: Errand, got: leases.Exchanged | None) -> None:
        """An errand was run, or the store would not have it; called in the loop, while its work rests."""
        errand.end(None if got is None else self._begin_all(errand.wanted, got))
        self._wake.set()

    def drain(self, seconds: float) -> None:
        """Claim no more; end when nothing runs, at the latest after so many seconds."""
        self._draining = True
        self._deadline = monotonic() + seconds
        for run in self._runs:
            run.leave()
        self._wake.set()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where its runs begin."""
        assert self._loop is not None, "runs begin in the loop"
        return self._loop

    @property
    def running(self) -> int:
        """How many handlers run."""
        return len(self._runs)

    async def work(self) -> None:
        """Until drained."""
        self._loop = asyncio.get_running_loop()
        ticker = asyncio.create_task(self._tick())
        try:
            while not self._done():
                self._wake.clear()  # before the claim: a signal that lands during it must wake us again
                pause = await self._exchange()
                if pause and not self._done():  # who leaves with nothing more to do rests no more
                    await self._rest(pause)
                elif not self._ended:
                    await asyncio.sleep(0)  # handlers begin first: the database thread would take the interpreter
        finally:
            ticker.cancel()
            self.executor.shutdown(wait=False, cancel_futures=True)

    # -- exchange

    async def _exchange(self) -> float:
        """Hand in what ended, take what fits; answers how long to rest if nothing wakes us."""
        self._looked = monotonic()
        errand, self._errand = self._errand, None
        if errand is not None and errand.pause is not None:
            return self._leave_errand(errand.wanted, errand.orders, errand.pause)
        ended, self._ended = self._ended, []
        back, self._handed_back = self._handed_back, []
        stopped, self._stopped = self._stopped, []
        wanted = [] if self._draining else [(pool, want) for pool in self._pools if (want := pool.wanted()) > 0]
        if not ended and not back and not wanted and not stopped:
            return self._poll()
        handed_in = _endings(ended)
        handed_in += [(claim, Unstarted()) for claim in back]
        self.slots.hold(holds=True)
        orders = [Order(self.owner, pool.lanes, want, pool.lease_ms, pool.each > 1) for pool, want in wanted]
        try:
            if self.said:
                await self.desk.awrite(limits.declare, self.said)
                self.said = {}
            got = await self._exchanged(handed_in, orders, stopped)
        except StoreError as error:
            self._handed_back[:0], self._stopped[:0] = back, stopped
            if ended and error.code == "STORE_REFUSED":
                await self._hand_in_singly(ended)
            else:
                self._ended[:0] = ended
                await self._rest(self._away.pause(error))
            return 0
        if self._away.over() and self.ear is not None:
            self.ear.doubt()
        self._let_go(ended, got)
        return self._leave_errand(wanted, orders, self._begin_all(wanted, got))

    def _leave_errand(self, wanted: list[tuple[Places, int]], orders: list[Order], pause: float) -> float:
        """Before a rest of that length."""
        self._errand = Errand(wanted, orders) if pause and wanted else None
        return pause

    def _begin_all(self, wanted: list[tuple[Places, int]], got: leases.Exchanged) -> float:
        """Begin what was claimed; answers how long to rest, if nothing was."""
        now = monotonic()
        for (pool, _), claims in zip(wanted, got.claims, strict=True):
            pool.ready.extend([(claim, got.at) for claim in claims])  # this process may have been stuck since
            self._fill(pool, now)
        if any(got.claims) or self._ended:
            return 0
        self.slots.hold(holds=self._may_hold())
        if got.next_due is None:
            return self._poll()
        return max(0.001, min(self._poll(), (got.next_due - got.now) / 1000 - (monotonic() - got.at)))

    async def _exchanged(
        self, handed_in: list[tuple[Claim, Outcome]], orders: list[Order], stopped: list[tuple[str, int]]
    ) -> leases.Exchanged:
        if handed_in or stopped:
            return await self.desk.awrite(leases.exchange, handed_in, orders, self._policies, stopped)
        # Claims alone promise nothing: after a power cut their jobs wait as before, and their runs are gone.
        if self.may_block and not self._runs:  # nobody waits for this thread: a job begins two turns of threads sooner
            with suppress(StoreError):  # others write; or it is met again below
                return self.desk.taken(leases.exchange, (), orders, self._policies)
        return await self.desk.ataken(leases.exchange, (), orders, self._policies)

    async def _hand_in_singly(self, ended: list[Run]) -> None:
        """Endings that the store refuses together are handed in one by one: only the one it will not take fails."""
        for run in ended:
            try:
                got = await self.desk.awrite(leases.exchange, _endings([run]), (), self._policies)
            except StoreError as error:
                self._ended.append(run)
                if (failed := refused(error, run.outcome)) is None:
                    await self._rest(self._away.pause(error))
                else:
                    run.outcome = failed
            else:
                self._let_go([run], got)

    def _let_go(self, ended: list[Run], got: leases.Exchanged) -> None:
        """Their endings are durable."""
        for run in ended:
            self.slots.give(run.slot)
        all_of_them = log.isEnabledFor(logging.INFO)
        for run, move, accepted in zip(ended, got.moves, got.accepted, strict=False):  # handed back come last
            if all_of_them or move.status in RETRYABLE_BY_HAND:
                level = logging.WARNING if move.status in RETRYABLE_BY_HAND else logging.INFO
                log_run(word(move) if accepted else "lost its lease", run, level)

    def _may_hold(self) -> bool:
        """Whether the supervisor should compare. A claim whose answer was lost with the store is seen by it alone."""
        return bool(self._away.recently or self._runs or self._handed_back or any(pool.ready for pool in self._pools))

    def _poll(self) -> float:
        """How long to rest if nothing wakes us. An ear that is no longer proven wakes us to rest less."""
        if self.ear is None or not self.ear.proven:
            return POLL
        return SPARED if self.slots.spared() else self.ear.patience

    def _is_to_look(self, now: float) -> bool:
        """Whether the supervisor has found something, or looks no more."""
        spared = self.slots.spared() / 1000
        if not spared or now < spared or self.ear is None:
            return False
        return self._looked < max(spared, now - self.ear.patience)

    async def _rest(self, pause: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._wake.wait()
        if self._errand is not None and not self._errand.take():  # the ear's thread is at it: one exchange at a time
            await self._errand.over()

    # -- runs

    def _fill(self, pool: Places, now: float) -> None:
        """Begin what is ready, as far as there are places and slots to show it in."""
        while pool.ready and (pool.running < pool.places or pool.joins()) and self.slots.free and not self._draining:
            claim, came = pool.ready.popleft()
            if now - came > pool.patience:  # the supervisor may have handed it back while we were stuck
                self._handed_back.append(claim)
            else:
                self._begin(claim, pool, now)

    def _begin(self, claim: Claim, pool: Places, now: float) -> None:
        definition = self.registry.get(claim.type)
        assert definition is not None, "only lanes of known types are claimed from"
        if definition.batch is not None:
            gather(self, claim, definition, pool, now)  # type: ignore[arg-type]
            return
        timeout_ms = claim.timeout_ms or definition.policy.timeout_ms
        kind = Run if claim.batch is None else new_run
        run = kind(claim, definition, self.desk, pool, since=now, timeout_ms=timeout_ms)
        run.slots, run.slot = self.slots, self.slots.take(claim.id, claim.token, int(now * 1000), timeout_ms or 0)
        pool.running += 1
        self.begun(run)
        work = run_coroutine(run) if definition.is_coroutine else run_function(run, self.executor)
        run.task = self.loop.create_task(self._run(run, work), name=claim.id, context=contextvars.Context())

    def begun(self, run: Run) -> None:
        """A run has a slot."""
        self._runs.add(run)
        if log.isEnabledFor(logging.INFO):
            log_run("claimed", run)

    def end_call(self, runs: Sequence[Run], outcomes: Sequence[Outcome]) -> None:
        """Runs that shared a call, and a place, are over."""
        runs[0].pool.running += len(runs) - 1  # each of them gives one back
        for run, outcome in zip(runs, outcomes, strict=True):
            self._end(run, outcome)

    async def _run(self, run: Run, work: Coroutine[None, None, Outcome]) -> None:
        if monotonic() - run.since > run.pool.patience:  # the loop was blocked: the supervisor may have handed it back
            work.close()
            self._end(run, Unstarted())
            return
        self.slots.enter(run.slot, slot_words.RUNNING)
        try:
            outcome = await work
        except BaseException as error:  # noqa: BLE001  # a cancellation that we did not ask for is the handler's own
            outcome = Raised(failure_of(error))
        self._end(run, outcome)

    def _end(self, run: Run, outcome: Outcome) -> None:
        now = monotonic()
        self._runs.discard(run)
        self.slots.enter(run.slot, slot_words.RETURNED)
        run.pool.ended(now - run.since)
        if run.lost or run.settled:
            self.slots.give(run.slot)
            if run.settled:
                end_of_settled(run, outcome)
                log_run("completed", run)
            else:
                self._stopped.append((run.claim.id, run.claim.token))
        else:
            run.outcome = run.verdict or outcome
            self._ended.append(run)
        self._fill(run.pool, now)
        if run.pool.sibling is not None:
            self._fill(run.pool.sibling, now)
        self._wake.set()

    # -- time passing

    async def _tick(self) -> None:
        """Ten times a second: heed the supervisor, end what overran, hand back what never began."""
        while True:
            await asyncio.sleep(TICK)
            now = monotonic()
            self.slots.beat(int(now * 1000))
            self._pulse.beat(now, self._runs)
            if self._is_to_look(now):
                self._wake.set()
            for run in list(self._runs):
                self._heed(run, now)
            if self._draining and self._deadline is not None and now > self._deadline:
                self._stop_all()
            for pool in self._pools:
                if stale := pool.stale(now, 0.0 if self._draining else pool.patience):
                    self._handed_back += stale
                    self._wake.set()

    def _heed(self, run: Run, now: float) -> None:
        order = self.slots.order(run.slot)
        if order == slot_words.STOP and not run.lost and not run.settled:
            run.lost = True
            self._cancel(run, now)
        elif order == slot_words.ASK:
            run.ask_to_stop()
        if run.timeout_ms is not None and run.verdict is None and (now - run.since) * 1000 > run.timeout_ms:
            run.verdict = Raised(timed_out(run.timeout_ms, run.task and run.task.get_coro()))
            self._cancel(run, now)
        if run.stopping_since is not None and now - run.stopping_since > THREAD_GRACE:
            self.slots.say(slot_words.WORN)

    def _cancel(self, run: Run, now: float) -> None:
        """Stop a handler: a coroutine is cancelled, a thread is asked and its place given up only when it returns."""
        run.ask_to_stop()
        if run.stopping_since is None:
            run.stopping_since = now
        if run.definition.is_coroutine and run.task is not None:
            run.task.cancel()

    def _stop_all(self) -> None:
        now = monotonic()
        self._deadline = None
        for run in list(self._runs):
            run.verdict = run.verdict or Stopped()
            self._cancel(run, now)
            if not run.definition.is_coroutine and run.task is not None:
                run.task.cancel()  # the thread cannot be stopped; its process ends soon

    def _done(self) -> bool:
        return (
            self._draining
            and not self._runs
            and not self._ended
            and not self._handed_back
            and not self._stopped
            and not any(pool.ready for pool in self._pools)
        )


def _endings(ended: list[Run]) -> list[tuple[Claim, Outcome]]:
    return [(run.claim, run.outcome) for run in ended]  # type: ignore[misc]  # they have ended, so they have one
