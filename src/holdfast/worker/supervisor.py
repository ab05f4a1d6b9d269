"""The supervisor: keeps children working, leases alive and time-outs kept, and never imports user code.

It talks to a template process, which has the application imported and forks children. From each child's slot map it
sees which runs have begun; from the store, which leases the child holds; `look` says what follows when they differ.

When a child dies its runs are ended at once: one run alone in it counts as crashed; several are suspects, and each is
tried again in a process of its own. When the template dies its children die with it, and a new one is started.
States: starting -> working -> stopping -> stopped; a second signal skips the wait. If the store is away when all ends,
the lock on this worker's name goes with the process, and whichever worker comes next ends what it held.
"""

from __future__ import annotations

import logging
import os
import secrets
import select
import signal
import socket
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import leases, repairs
from holdfast.engine.desk import Desk
from holdfast.model.errors import StoreError
from holdfast.signals.presence import Presence
from holdfast.worker import look
from holdfast.worker.alone import Solos
from holdfast.worker.application import Described
from holdfast.worker.child import slots_needed
from holdfast.worker.death import describe_exit, kill_group
from holdfast.worker.look import Child, Holds
from holdfast.worker.nursery import Nursery
from holdfast.worker.slots import WORN, SlotMap, Started
from holdfast.worker.verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.lease import Claim
    from holdfast.signals.port import Ear, Signal
    from holdfast.store.port import Store
    from holdfast.worker.options import Options

log = logging.getLogger("holdfast.supervisor")


KILL_AFTER = 2.0  # after the time to stop: children that have not drained are killed
LEAVE_AFTER = 4.0  # after it: nobody is waited for
PATIENCE = 2.0  # for a lock: it may be held by a child that only we can kill
HURRY, HASTE = 1.0, 0.2  # the same when we are to stop, and when we leave at once
QUICKEST_LOOK = 0.05  # news may come with every commit; looks need not
REST = 25  # after a look, so many times as long as it took: under load it waits for the children's own commits
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
MOST_DEATHS = 5  # of a process that imports the application for the first time
DIED_YOUNG = 1.0  # seconds; such a child is replaced at the next look, not at once


class Supervisor:
    """Run it with `run()`; ends by SIGTERM or SIGINT, or `stop()`."""

    def __init__(
        self,
        options: Options,
        open_store: Callable[..., Store],
        open_signal: Callable[[str, str | None], Signal],
        upkeep: Callable[[Supervisor], Any] | None = None,
    ) -> None:
        self.options = options
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.children: dict[str, Child] = {}
        self.desk: Desk
        self.app: Described
        self.stopping_since: float | None = None
        self._leave_at = float("inf")
        self.signal: Signal
        self.ear: Ear | None = None
        self.solos: Solos
        self._open_store = open_store
        self._open_signal = open_signal
        self._make_upkeep = upkeep
        self._nursery: Nursery
        self._room, self._count = "", 0
        self._unended: list[tuple[Child, int, int]] = []
        self._away = self._loaded = False

    # -- life

    def run(self) -> int:
        """Work until stopped; answers the exit code."""
        wake = _catch_signals(self.stop)
        try:
            if not self._open_nursery():
                return 0 if self.stopping_since is not None else 2
            self.desk = Desk(self._open_store(self.app.url, patience=PATIENCE))
            self.solos = Solos(self.desk, self.options.solos)
            self.signal = self._open_signal(self.app.url, self.app.signal_by or self.options.signal)
            return self._supervise(wake)
        finally:
            for number in _STOP_SIGNALS:  # all is done: one more must not spoil the exit code
                signal.signal(number, signal.SIG_IGN)

    def stop(self) -> None:
        """Drain; called again, kill."""
        now = monotonic()
        if self.stopping_since is None:
            self.stopping_since = now
            self._leave_at = now + self.options.stop_seconds + LEAVE_AFTER
            self._hurry(HURRY)
            for child in self.children.values():
                self._tell_to_leave(child)
        else:
            self._leave_at = min(self._leave_at, now + LEAVE_AFTER - KILL_AFTER)
            self._hurry(HASTE)
            for child in self.children.values():
                self._kill(child, "stopped at once")

    def _hurry(self, seconds: float) -> None:
        """Whatever holds the store up, it must not hold up our leaving; called by a signal, at any time."""
        if (desk := getattr(self, "desk", None)) is not None:
            desk.store.hurry(seconds)

    def _supervise(self, wake: int) -> int:
        self.desk.listeners.append(self.signal.tell)
        presence = Presence(self.signal.folder(), self.owner)
        self._room = presence.room
        self.ear = listener = self.signal.listen(self.owner) if self.options.signals else None
        upkeep = self._make_upkeep(self) if self._make_upkeep else None
        try:
            return self._loop(wake, listener, upkeep)
        finally:
            for child in list(self.children.values()):
                self._kill(child, "stopped")
                self._bury(child, signal.SIGKILL, 0)
            self._nursery.close()
            if self._away:
                self._hurry(HASTE)
            self._guarded(self._end_runs, proves=False)  # nobody who leaves has to say that it is back
            if upkeep is not None:
                self._guarded(upkeep.goodbye, proves=False)
            if listener is not None:
                listener.close()
            if not self._unended:
                presence.end()
            self.desk.close()
            self.signal.close()

    def _loop(self, wake: int, listener: Ear | None, upkeep: Any) -> int:
        interval = min(1.0, max(0.05, self.app.shortest_lease() / 6000))
        looked, heard, pace = -interval, False, QUICKEST_LOOK
        while (self.children or self.stopping_since is None) and monotonic() < self._leave_at:
            next_look = looked + (pace if heard else interval)
            keeps = upkeep is not None and self.stopping_since is None and not self._away
            next_act = min(next_look, upkeep.next_at) if keeps else next_look
            sources: list[Any] = [self._nursery, wake, *filter(None, [listener])]
            ready, _, _ = select.select(sources, [], [], max(0.0, next_act - monotonic()))
            if wake in ready:
                os.read(wake, 4096)
            if self._nursery in ready and not self._hear_nursery():
                return 0 if self.stopping_since is not None else 1
            if listener in ready and (news := listener.receive()):  # type: ignore[union-attr]
                heard = True
                if upkeep:
                    upkeep.hear(news)
            if monotonic() >= looked + (pace if heard else interval):
                looked, told, heard = monotonic(), heard, False
                seen = self._guarded(self._look, proves=False)
                self._guarded(self._top_up, proves=False)
                if seen and (told or self._away or self.solos.worth_a_look(listener)):
                    self._guarded(self._claim_solos)
                pace = min(interval, max(QUICKEST_LOOK, REST * (monotonic() - looked)))
            if keeps and not self._away:
                self._guarded(upkeep.run_due)
        return 0

    def _guarded(self, act: Callable[[], object], *, proves: bool = True) -> bool:
        """The store may be away for a while: say so once, and go on trying. Only a write proves that it is back; an act
        that answers False found nothing to write.
        """
        try:
            wrote = act() is not False
        except StoreError as error:
            if not self._away:
                log.warning("the store is away: %s", error)
            self._away = True
            return False
        if self._away and proves and wrote:
            log.warning("the store is back")
            if self.ear is not None:
                self.ear.doubt()
            self._away = False
        return True

    # -- template and children

    def _open_nursery(self) -> bool:
        """Have a template; False if the application cannot be loaded, or nobody wants it any more.

        One that was loaded before is loaded again, however often: something kills its process. One that never was
        must be what kills it.
        """
        options = self.options
        deaths = 0
        while self.stopping_since is None:
            self._nursery = Nursery(options)
            told = self._nursery.hello(lambda: self.stopping_since is None)
            if told is not None:
                self.app = Described(told, options.queues)
                self._loaded = True
                return True
            if self._nursery.refused or self.stopping_since is not None:
                return False
            deaths += 1
            ended = self._nursery.ending
            if deaths == MOST_DEATHS and not self._loaded:
                log.error(
                    "importing %s ended its process %d times, last by %s: it is given up", options.spec, deaths, ended
                )
                return False
            log.warning("the process that imports %s died while it did, by %s: it is started anew", options.spec, ended)
        return False

    def _hear_nursery(self) -> bool:
        """Births and deaths; False when there is no template any more."""
        for message in self._nursery.news():
            self._on_message(message)
        if not self._nursery.gone:
            return True
        for child in list(self.children.values()):  # they died with it
            kill_group(child.pid)
            self._bury(child, signal.SIGKILL, 0)
        self._nursery.close()
        self._guarded(self._end_runs)
        if self.stopping_since is not None:
            return False
        log.warning("the template process died: it is started anew")
        return self._open_nursery()

    def _top_up(self) -> None:
        """Have as many children as were asked for."""
        staying = sum(not one.solo and one.leaving_since is None for one in self.children.values())
        for _ in range(self.options.processes - staying if self.stopping_since is None else 0):
            self._spawn()

    def _spawn(self, claim: Claim | None = None) -> None:
        self._count += 1
        name = self._next_name(solo=claim is not None, number=self._count)
        config = {
            "name": name,
            "owner": f"{self.owner}/{name}",
            "slots": f"{self._room}/{name}.slots",
            "claim": claim,
            "queues": self.options.queues,
            "coroutines": self.options.coroutines,
            "threads": self.options.threads,
            "prefetch": self.options.prefetch,
            "signals": self.options.signals,
            "drain": self.options.stop_seconds,
        }
        os.makedirs(self._room, 0o700, exist_ok=True)  # noqa: PTH103  # somebody may have tidied up
        slots = SlotMap(str(config["slots"]), 1 if claim else slots_needed(config, self.app.together()))
        child = Child(name=name, owner=str(config["owner"]), slots=slots, claim=claim, born=monotonic())
        if claim is not None:  # shown from the first moment on: it is renewed while its process starts
            timeout_ms = claim.timeout_ms or self.app.policies()[claim.type].timeout_ms
            slots.take(claim.id, claim.token, int(child.born * 1000), timeout_ms or 0)
        self.children[name] = child
        self._nursery.fork(config)

    def _next_name(self, *, solo: bool, number: int) -> str:
        # The number comes first: no owner's name is the beginning of another's.
        return f"{number}-{'solo' if solo else 'child'}"

    def _on_message(self, message: dict[str, Any]) -> None:
        if "forked" in message and (child := self.children.get(message["forked"])):
            child.pid = message["pid"]
            if self.stopping_since is not None:
                self._tell_to_leave(child)
        elif "unforked" in message and (child := self.children.get(message["unforked"])):
            log.warning("no process could be made for %s: %s", child.name, message["error"])
            self._bury(child, 0, 0)
            self._guarded(self._end_runs)
        elif "ended" in message:
            for child in [one for one in self.children.values() if one.pid == message["ended"]]:
                self._on_death(child, message["status"], message["peak_kib"])

    def _on_death(self, child: Child, status: int, peak_kib: int) -> None:
        self._bury(child, status, peak_kib)
        self._guarded(self._end_runs)
        if monotonic() - child.born > DIED_YOUNG:
            self._guarded(self._top_up, proves=False)
        self._guarded(self._claim_solos)

    def _bury(self, child: Child, status: int, peak_kib: int) -> None:
        del self.children[child.name]
        self._unended.append((child, status, peak_kib))

    def _tell_to_leave(self, child: Child) -> None:
        if child.pid and child.leaving_since is None:
            child.leaving_since = monotonic()
            _signal(child.pid, signal.SIGTERM)

    def _kill(self, child: Child, why: str) -> None:
        if child.pid and child.killed_for is None:
            child.killed_for = why
            kill_group(child.pid)

    # -- the ends of runs

    def _end_runs(self) -> bool:
        """End what dead children held, if they did. Kept until the store has taken it."""
        some = bool(self._unended)
        while self._unended:
            child, status, peak_kib = self._unended[0]
            verdicts = Verdicts(child, status, peak_kib)
            counts = self.desk.write(repairs.end_runs_of, child.owner, verdicts.of, self.app.policies(), verdicts.runs)
            if counts:
                named = ", ".join(verdicts.judged[:5]) + ", ..." * (len(verdicts.judged) > 5)  # noqa: PLR2004
                log.warning("%s ended by %s; its runs: %s (%s)", child.name, describe_exit(status), counts, named)
            child.slots.remove()
            self.signal.forget(child.owner)
            self._unended.pop(0)
        return some

    # -- looks

    def _look(self) -> None:
        """Compare what children run with what they hold."""
        living = [child for child in self.children.values() if child.pid]
        # Slots before leases: a run that begins in between is in neither or in both.
        begun = [(child, child.slots.started()) for child in living]
        by_owner: dict[str, Holds] = {}
        at: int | None = None
        if any(runs or child.solo or child.slots.holds() for child, runs in begun):  # else there is nothing to compare
            holds, at = self.desk.read(leases.held, self.owner)
            for hold in holds:
                by_owner.setdefault(hold.owner, {})[hold.id, hold.token] = hold
        now = monotonic()
        for child, runs in begun:
            why = look.judge(child, runs, by_owner.get(child.owner, {}), now)
            if why is None and self._has_to_go(now):
                why = "stopped"
            if why is not None:
                log.warning("%s is killed: %s", child.name, why)
                self._kill(child, why)
            elif child.slots.state() == WORN and child.leaving_since is None:
                log.warning("%s has a handler that will not stop: it is replaced", child.name)
                self._tell_to_leave(child)
        if at is not None:
            self._keep(begun, by_owner, at)
        for child, runs in begun:
            if not child.solo and child.killed_for is None:
                child.standstill.look(runs, now, self.desk, self.app.coroutines)

    def _has_to_go(self, now: float) -> bool:
        return self.stopping_since is not None and now - self.stopping_since > self.options.stop_seconds + KILL_AFTER

    def _keep(self, begun: list[tuple[Child, list[Started]]], by_owner: dict[str, Holds], now: int) -> None:
        """Renew what runs; hand back what was claimed and does not begin."""
        lease_ms = self.app.shortest_lease()
        late = look.unstarted_since(lease_ms, now)
        due = []
        for child, runs in begun:
            holds = by_owner.get(child.owner, {})
            keys = look.begun(child, runs)
            due += look.to_renew(keys, holds, before=now + lease_ms * 2 / 3)
            if look.has_unstarted(keys, holds, late=late):
                self.desk.write(look.release_unstarted, child.owner, keys, late)
        if due:
            self.desk.write(leases.renew, due, lease_ms)

    # -- jobs that run alone

    def _claim_solos(self) -> bool:
        """Take jobs that run in processes of their own: suspects first, then types that ask for it; none at a stop."""
        asked = False
        while self.stopping_since is None:
            owner = f"{self.owner}/{self._next_name(solo=True, number=self._count + 1)}"
            alone = sum(one.solo for one in self.children.values())
            claim = self.solos.take(self.app, owner, alone)
            asked = True
            if claim is None:
                break
            self._spawn(claim)
        return asked


def _catch_signals(act: Callable[[], None]) -> int:
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in _STOP_SIGNALS:
        signal.signal(number, lambda *_: act())
    return read


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
