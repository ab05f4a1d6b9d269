"""The supervisor: keeps children working, leases alive and time-outs kept, and never imports user code.

It talks to a template process, which has the application imported and forks children. From each child's slot map it
sees which runs have begun; from the store, which leases the child holds. Every look compares the two:

    lease without a run, older than a moment     handed back: the child is stuck and will not begin it
    run without a lease                          lost: the child is told to stop it, and killed if it does not
    run past its time-out and a grace            the child is killed: the run failed, its neighbours were interrupted
    lease a third gone                           renewed

When a child dies its runs are ended at once: one run alone in it counts as crashed; several are suspects, and each is
tried again in a process of its own. States: starting -> working -> stopping -> stopped; a second signal skips the wait.
"""

from __future__ import annotations

import logging
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import leases, repairs
from holdfast.engine.desk import Desk
from holdfast.model.errors import StoreError
from holdfast.model.failure import Failure
from holdfast.model.outcome import Crashed, Outcome, Raised, Stopped, Suspected, Unstarted
from holdfast.signals.folder import Listener, Teller, make_folder
from holdfast.signals.presence import Presence
from holdfast.store.port import Order
from holdfast.worker import slots as slot_words
from holdfast.worker.application import Described
from holdfast.worker.channel import Channel
from holdfast.worker.child import COROUTINES, THREADS, slots_needed
from holdfast.worker.death import describe_exit, kill_group
from holdfast.worker.places import MOST_READY
from holdfast.worker.slots import SlotMap, Started

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.model.lease import Claim
    from holdfast.store.port import Hold, Store

log = logging.getLogger("holdfast.supervisor")

STOP_SECONDS = 25.0
KILL_AFTER = 27.0
OVERRUN_GRACE = 5.0
UNSTARTED_MS = 2_500
HELLO_SECONDS = 120.0


@dataclass(kw_only=True)
class Options:
    """How the worker is run."""

    spec: str
    folder: str
    processes: int = 1
    queues: Mapping[str, int | None] | None = None
    coroutines: int = COROUTINES
    threads: int = THREADS
    prefetch: int = MOST_READY
    solos: int = 4
    signals: bool = True
    url: str | None = None
    log_level: str = "WARNING"
    stop_seconds: float = STOP_SECONDS


@dataclass(kw_only=True, eq=False)
class Child:
    """One child as its supervisor knows it."""

    name: str
    owner: str
    slots: SlotMap
    claim: Claim | None = None  # of a solo child
    pid: int = 0
    born: float = 0.0
    leaving_since: float | None = None  # told to drain
    killed_for: str | None = None
    overdue: set[tuple[str, int]] = field(default_factory=set)
    told_to_stop: dict[tuple[str, int], float] = field(default_factory=dict)

    @property
    def solo(self) -> bool:
        return self.claim is not None


class Supervisor:
    """Run it with `run()`; ends by SIGTERM or SIGINT, or `stop()`."""

    def __init__(
        self, options: Options, open_store: Callable[[str], Store], upkeep: Callable[[Supervisor], Any] | None = None
    ) -> None:
        self.options = options
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.children: dict[str, Child] = {}
        self.desk: Desk
        self.app: Described
        self.stopping_since: float | None = None
        self._open_store = open_store
        self._make_upkeep = upkeep
        self._channel: Channel
        self._template: subprocess.Popen[bytes]
        self._work_folder = ""
        self._count = 0
        self._unended: list[tuple[Child, int, int]] = []
        self._signals_seen = 0
        self._away = False

    # -- life

    def run(self) -> int:
        """Work until stopped; answers the exit code."""
        self._work_folder = tempfile.mkdtemp(prefix="holdfast-")
        wake = _catch_signals(self._on_signal)
        try:
            if not self._start_template():
                return 2
            self.desk = Desk(self._open_store(self.app.url))
            return self._supervise(wake)
        finally:
            shutil.rmtree(self._work_folder, ignore_errors=True)

    def stop(self) -> None:
        """Drain; called again, kill."""
        self._signals_seen += 1
        if self.stopping_since is None:
            self.stopping_since = monotonic()
            for child in self.children.values():
                self._tell_to_leave(child)
        else:
            for child in self.children.values():
                self._kill(child, "stopped at once")

    def _supervise(self, wake: int) -> int:
        path = self.desk.store.location.path  # type: ignore[attr-defined]
        folder = make_folder(path)
        self.desk.listeners.append(Teller(path))
        presence = Presence(folder, self.owner)
        listener = Listener(path, self.owner.replace(":", "-")) if self.options.signals else None
        upkeep = self._make_upkeep(self) if self._make_upkeep else None
        try:
            for _ in range(self.options.processes):
                self._spawn()
            self._loop(wake, listener, upkeep)
            return 0
        finally:
            for child in self.children.values():
                kill_group(child.pid)
            self._end_runs()
            if upkeep is not None:
                upkeep.goodbye()
            if listener is not None:
                listener.close()
            presence.end()
            self._channel.close()
            self._template.wait()
            self.desk.close()

    def _loop(self, wake: int, listener: Listener | None, upkeep: Any) -> None:
        interval = min(1.0, max(0.05, self.app.shortest_lease() / 6000))
        sources: list[Any] = [self._channel, wake, *([listener] if listener else [])]
        next_look = 0.0
        while self.children or self.stopping_since is None:
            pause = max(0.0, min(next_look, upkeep.next_at if upkeep else next_look) - monotonic())
            ready, _, _ = select.select(sources, [], [], pause)
            if wake in ready:
                os.read(wake, 4096)
            if self._channel in ready:
                for message in self._channel.receive():
                    self._on_message(message)
                if self._channel.closed:
                    raise SystemExit("the template process died: look at its messages above")
            heard = bool(listener and listener in ready and listener.receive())
            if monotonic() >= next_look or heard:
                self._guarded(self._look)
                self._guarded(self._claim_solos)
                next_look = monotonic() + interval
            if upkeep is not None:
                self._guarded(upkeep.run_due)

    def _guarded(self, act: Callable[[], None]) -> None:
        """The store may be away for a while: say so once, and go on trying."""
        try:
            act()
            if self._away:
                log.warning("the store is back")
            self._away = False
        except StoreError as error:
            if not self._away:
                log.warning("the store is away: %s", error)
            self._away = True

    # -- template and children

    def _start_template(self) -> bool:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "holdfast.worker.template", str(theirs.fileno()), str(os.getpid()),
                   self.options.folder, self.options.log_level, self.options.spec, self.options.url or ""]  # fmt: skip
        self._template = subprocess.Popen(command, pass_fds=[theirs.fileno()])  # noqa: S603  # our own interpreter and module
        theirs.close()
        self._channel = Channel(ours)
        give_up = monotonic() + HELLO_SECONDS
        while monotonic() < give_up and self.stopping_since is None:
            if not select.select([self._channel], [], [], 0.2)[0]:
                continue
            for message in self._channel.receive():
                if "hello" in message:
                    self.app = Described(message["hello"], self.options.queues)
                    return True
                _report(message)
            if self._channel.closed:
                break
        self._template.kill()
        self._template.wait()
        return False

    def _spawn(self, claim: Claim | None = None, owner: str | None = None) -> None:
        self._count += 1
        name = f"{'solo' if claim else 'child'}-{self._count}"
        config = {
            "name": name,
            "owner": owner or f"{self.owner}/{name}",
            "slots": f"{self._work_folder}/{name}.slots",
            "claim": claim,
            "queues": self.options.queues,
            "coroutines": self.options.coroutines,
            "threads": self.options.threads,
            "prefetch": self.options.prefetch,
            "signals": self.options.signals,
            "drain": self.options.stop_seconds,
        }
        slots = SlotMap(str(config["slots"]), 1 if claim else slots_needed(config))
        child = Child(name=name, owner=str(config["owner"]), slots=slots, claim=claim, born=monotonic())
        self.children[name] = child
        self._channel.send({"fork": config})

    def _on_message(self, message: dict[str, Any]) -> None:
        if "forked" in message:
            child = self.children[message["forked"]]
            child.pid = message["pid"]
            if self.stopping_since is not None:
                self._tell_to_leave(child)
        elif "ended" in message:
            child = next((one for one in self.children.values() if one.pid == message["ended"]), None)  # type: ignore[assignment]
            if child is not None:
                self._on_death(child, message["status"], message["peak_kib"])

    def _on_death(self, child: Child, status: int, peak_kib: int) -> None:
        del self.children[child.name]
        kill_group(child.pid)  # what its handlers started goes too
        self._unended.append((child, status, peak_kib))
        self._guarded(self._end_runs)
        if not child.solo and self.stopping_since is None and child.leaving_since is None:
            self._spawn()
        if child.solo:
            self._guarded(self._claim_solos)

    def _tell_to_leave(self, child: Child) -> None:
        if child.pid and child.leaving_since is None:
            child.leaving_since = monotonic()
            _signal(child.pid, signal.SIGTERM)

    def _kill(self, child: Child, why: str) -> None:
        if child.pid and child.killed_for is None:
            child.killed_for = why
            kill_group(child.pid)

    def _on_signal(self) -> None:
        self.stop()

    # -- the ends of runs

    def _end_runs(self) -> None:
        """End what dead children held. Kept until the store has taken it."""
        while self._unended:
            child, status, peak_kib = self._unended[0]
            verdicts = _Verdicts(child, status, peak_kib)
            counts = self.desk.write(repairs.end_runs_of, child.owner, verdicts.of, self.app.policies())
            if counts:
                log.warning("%s ended by %s; its runs: %s", child.name, describe_exit(status), counts)
            child.slots.close()
            self._unended.pop(0)

    # -- looks

    def _look(self) -> None:
        """Compare what children run with what they hold."""
        now = monotonic()
        begun = {child.name: child.slots.started() for child in self.children.values() if child.pid}
        # Slots before leases: a run that begins in between is in neither or in both.
        holds = self.desk.read(leases.held, self.owner) if self.children else []
        by_owner: dict[str, dict[tuple[str, int], Hold]] = {}
        for hold in holds:
            by_owner.setdefault(hold.owner, {})[hold.id, hold.token] = hold
        for name, runs in begun.items():
            child = self.children[name]
            self._judge(child, runs, by_owner.get(child.owner, {}), now)
        self._renew(begun, by_owner)
        self._hand_back(begun, by_owner)
        if self.stopping_since is not None and now - self.stopping_since > self.options.stop_seconds + 2:
            for child in self.children.values():
                self._kill(child, "stopped")

    def _judge(self, child: Child, runs: list[Started], holds: dict[tuple[str, int], Hold], now: float) -> None:
        for run in runs:
            key = (run.id, run.token)
            hold = holds.get(key)
            if hold is None:
                since = child.told_to_stop.setdefault(key, now)
                child.slots.command(run, slot_words.STOP)
                if now - since > OVERRUN_GRACE:
                    self._kill(child, "a run that lost its lease would not stop")
            elif hold.asked_to_stop:
                child.slots.command(run, slot_words.ASK)
            if run.limit and now * 1000 - run.since > run.limit + (0 if child.solo else OVERRUN_GRACE * 1000):
                child.overdue.add(key)
                self._kill(child, "a run overran its time-out")
        if child.slots.state() == slot_words.WORN and child.leaving_since is None and self.stopping_since is None:
            log.warning("%s has a thread that will not stop: it is replaced", child.name)
            self._tell_to_leave(child)
            self._spawn()
        if (
            child.leaving_since is not None
            and child.slots.state() == slot_words.WORN
            and now - child.leaving_since > OVERRUN_GRACE
        ):
            self._kill(child, "a thread would not stop")

    def _renew(self, begun: dict[str, list[Started]], by_owner: dict[str, dict[tuple[str, int], Hold]]) -> None:
        lease_ms = self.app.shortest_lease()
        due = []
        for name, runs in begun.items():
            holds = by_owner.get(self.children[name].owner, {}) if name in self.children else {}
            due += [
                (run.id, run.token)
                for run in runs
                if (hold := holds.get((run.id, run.token))) and self._third_gone(hold, lease_ms)
            ]
        if due:
            self.desk.write(leases.renew, due, lease_ms)

    def _third_gone(self, hold: Hold, lease_ms: int) -> bool:
        return hold.until - self.desk.store.now() < lease_ms * 2 / 3

    def _hand_back(self, begun: dict[str, list[Started]], by_owner: dict[str, dict[tuple[str, int], Hold]]) -> None:
        """Release what a child claimed and did not begin in time."""
        owners = {
            self.children[name].owner: {(run.id, run.token) for run in runs}
            for name, runs in begun.items()
            if name in self.children
        }
        late = self.desk.store.now() - UNSTARTED_MS
        for owner, started in owners.items():
            if any(hold.since < late and key not in started for key, hold in by_owner.get(owner, {}).items()):
                self.desk.write(_release_unstarted, owner, started, late)

    # -- jobs that run alone

    def _claim_solos(self) -> None:
        """Take jobs that run in processes of their own: types that ask for it, and suspects."""
        while self.stopping_since is None and sum(one.solo for one in self.children.values()) < self.options.solos:
            owner = f"{self.owner}/solo-{self._count + 1}"
            lease_ms = self.app.shortest_lease()
            claims = []
            if isolated := self.app.lanes(isolated=True):
                claims = self.desk.write(leases.claim, Order(owner, isolated, 1, lease_ms))
            if not claims:
                claims = self.desk.write(leases.claim_alone, Order(owner, self.app.lanes(), 1, lease_ms))
            if not claims:
                return
            self._spawn(claims[0], owner)


class _Verdicts:
    """How the runs of a dead child ended."""

    def __init__(self, child: Child, status: int, peak_kib: int) -> None:
        self._child = child
        self._phases = {(run.id, run.token): run.phase for run in child.slots.started()}
        self._entered = sum(phase == slot_words.RUNNING for phase in self._phases.values())
        how = describe_exit(status)
        self._failure = Failure(
            "WorkerDied",
            f"the process died by {how}, peak memory {peak_kib // 1024} MiB, worker {child.owner}",
            "WORKER_DIED",
        )

    def of(self, claim: Claim) -> Outcome:
        key = (claim.id, claim.token)
        phase = slot_words.RUNNING if self._child.solo else self._phases.get(key, slot_words.TAKEN)
        if phase == slot_words.TAKEN:
            return Unstarted()
        if key in self._child.overdue:
            return Raised(Failure("TimeoutError", "ran past its time-out and its process was killed", "TIMEOUT"))
        if phase == slot_words.RETURNED or self._child.killed_for is not None or self._child.leaving_since is not None:
            return Stopped()  # it did no harm
        if self._child.solo or self._entered == 1:
            return Crashed(self._failure, alone=True)
        return Suspected(self._failure)


def _release_unstarted(tx: Any, owner: str, started: set[tuple[str, int]], late: int) -> list[bool]:
    from holdfast.model import stamp  # noqa: PLC0415

    claims = [
        claim
        for claim in tx.held_by(owner)
        if (claim.id, claim.token) not in started and stamp.from_text(claim.started_at) < late
    ]
    return leases.finish(tx, [(claim, Unstarted()) for claim in claims])


def _catch_signals(act: Callable[[], None]) -> int:
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: act())
    return read


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _report(message: Mapping[str, Any]) -> None:
    if os.environ.get("HOLDFAST_DEBUG"):
        sys.stderr.write(message.get("traceback", ""))
    sys.stderr.write(f"the application could not be loaded: {message.get('error', '')}\n")
