"""A machine that drives a store and the model side by side, and compares every field after every step."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from holdfast.model import stamp
from holdfast.model.decide import decide
from holdfast.model.errors import KeyConflict
from holdfast.model.failure import Failure
from holdfast.model.lease import Claim, Lane
from holdfast.model.outcome import Abandoned, Crashed, Raised, Returned, Snoozed, Stopped, Suspected, Unstarted
from holdfast.model.policy import Policy
from holdfast.model.request import NewJob
from holdfast.model.status import MOVES, Status
from holdfast.store.port import Ending, Order
from tests.store.given import Clock, write
from tests.store.model import MAX_CRASHES, Conflict, Model, Row

START = 1_737_028_800_000
LEASE = 60_000
WRONG, CRASH = Failure("Wrong", "m"), Failure("Crash", "m", "LEASE_EXPIRED")
OUTCOMES = {
    "returned": Returned('"done"'),
    "raised": Raised(WRONG),
    "after": Raised(WRONG, after_ms=5_000),
    "permanent": Raised(WRONG, permanent=True),
    "crashed": Crashed(CRASH),
    "crashed alone": Crashed(CRASH, alone=True),
    "suspected": Suspected(CRASH),
    "snoozed": Snoozed(7_000),
    "stopped": Stopped(),
    "unstarted": Unstarted(),
    "abandoned": Abandoned(),
}
ERRORS = {Failure(name, text, code).as_text(): name for name, text, code in [
    ("Wrong", "m", "HANDLER_ERROR"), ("Crash", "m", "LEASE_EXPIRED"), ("Cancelled", "stopped on request", "CANCELLED"),
]}  # fmt: skip
CANCELLED = Failure("Cancelled", "stopped on request", "CANCELLED").as_text()
POLICY = Policy(max_crashes=MAX_CRASHES)
LEGAL = {(str(old), str(new)) for old, moves in MOVES.items() for _, new in moves}
LANES = [Lane(queue, kind, version) for queue in ("default", "gpu") for kind in ("a", "b") for version in (1, 2)]
TABLES = ("job_queue", "job_history", "job_figures", "job_pauses")
COLUMNS = (
    "select id, status, attempts, failed, crashed, interrupted, lease_token, lease_owner, lease_until, scheduled_at, version, "
    "error, result, idempotency_key, cancel_requested_at is not null, completed_at, held from job_queue order by id"
)

# Mostly plain jobs in one lane, so that the rules meet; now and then everything else. Drawn from a fixed pool:
# one choice a job, plain jobs first, keeps Hypothesis quick and its smallest failing history readable.
_OPTIONS: dict[str, list[Any]] = {
    "kind": ["a"] * 6 + ["b"],
    "queue": ["default"] * 6 + ["gpu"],
    "payload_version": [1] * 8 + [2],
    "priority": [5] * 5 + [1, 9],
    "delay": [0, 0, 0, 1, 60_000],
    "key": [None, None, "k", "l"],
    "tenant": ["", "", "t"],
    "window": [None, "active", 60_000],
    "payload": ["{}", "{}", "[1]"],
    "max_attempts": [3, 1, 2, 5],
}
_POOL = [{name: values[0] for name, values in _OPTIONS.items()}]
_POOL += [{name: pool.choice(values) for name, values in _OPTIONS.items()} for pool in [Random(7)] for _ in range(500)]
JOBS = st.integers(0, 500).map(
    lambda number: _POOL[number] if _POOL[number]["key"] else _POOL[number] | {"window": None}
)
PICK = st.integers(0, 30)


class StoreMachine(RuleBasedStateMachine):
    """The rules are what callers, workers and upkeep do; `reopen` gives the store as a new process has it."""

    def __init__(self, reopen: Any) -> None:
        super().__init__()
        self.clock = Clock(START)
        self.reopen = reopen
        self.store = reopen(self.clock, crash=False)
        self.model = Model(START)
        self.claims: list[Claim] = []
        self.seen: dict[str, tuple[str, int]] = {}  # job -> status and token, as last observed
        self.holder: dict[str, int] = {}  # job -> token: the log of ownership, kept outside the store
        self.cancelled: set[str] = set()

    @initialize()
    def empty(self) -> None:
        write(self.store, lambda tx: [tx.execute(f"delete from {table}") for table in TABLES])

    def verb(self, call: Any) -> Any:
        return write(self.store, call)

    def pick(self, number: int) -> str:
        ids = list(self.model.rows)
        return ids[number % len(ids)] if ids else "0" * 26

    @rule(jobs=st.lists(JOBS, min_size=1, max_size=3))
    def enqueue(self, jobs: list[dict[str, Any]]) -> None:
        new = [
            NewJob(
                job["kind"], job["payload"], queue=job["queue"], priority=job["priority"], delay=job["delay"] / 1000,
                key=job["key"], tenant=job["tenant"], max_attempts=job["max_attempts"],
                key_window=job["window"] / 1000 if isinstance(job["window"], int) else job["window"],
                payload_version=job["payload_version"],
            )
            for job in jobs
        ]  # fmt: skip
        try:
            expected = self.model.insert(jobs)
        except Conflict:
            (answer,), _ = self.store.write([lambda tx: tx.insert(new)])
            assert isinstance(answer, KeyConflict), answer
            return
        made: dict[tuple[str, str | None], str] = {}
        for job, row, (job_id, created) in zip(jobs, expected, self.verb(lambda tx: tx.insert(new)), strict=True):
            twin = made.get((job["tenant"], job["key"])) if job["key"] else None
            assert created == (row is None and twin is None)
            if created:
                assert job_id not in self.model.rows
                self.model.add(job_id, job)
                made[job["tenant"], job["key"]] = job_id
            else:
                assert job_id == (twin if row is None else row.id)

    @rule(owner=st.sampled_from(["w1", "w2"]), lanes=st.sampled_from([LANES, LANES, LANES[:1], LANES[1:5]]),
          limit=st.integers(1, 4))  # fmt: skip
    def claim(self, owner: str, lanes: list[Lane], limit: int) -> None:
        taken = self.verb(lambda tx: tx.claim(Order(owner, lanes, limit, LEASE)))
        self.started(taken, self.model.claim(owner, lanes, limit, LEASE))

    @rule(limit=st.integers(1, 2))
    def claim_alone(self, limit: int) -> None:
        taken = self.verb(lambda tx: tx.claim_alone(Order("w3", LANES, limit, LEASE)))
        turn = {run.id: (run.scheduled_at, run.id) for run in taken}
        taken.sort(key=lambda run: turn[run.id])
        self.started(taken, self.model.claim("w3", LANES, limit, LEASE, alone=True))

    def started(self, taken: list[Claim], expected: list[Row]) -> None:
        assert [(run.id, run.token, run.attempts, run.crashed) for run in taken] == [
            (row.id, row.token, row.attempts, row.crashed) for row in expected
        ]
        for run in taken:
            assert run.id not in self.holder, "a live lease was stolen"
            assert run.id not in self.cancelled, "a job started after its cancel was acknowledged"
            assert run.attempts <= run.max_attempts, "a claim beyond the last attempt"
            self.holder[run.id] = run.token
        self.claims += taken

    @rule(number=PICK, lease_ms=st.sampled_from([LEASE, 1_000]))
    def renew(self, number: int, lease_ms: int) -> None:
        runs = self.claims[-1 - number % 5 :]
        answers = self.verb(lambda tx: tx.renew([(run.id, run.token) for run in runs], lease_ms))
        for run, held in zip(runs, answers, strict=True):
            row = self.model.held(run.id, run.token)
            assert held == (row is not None)
            assert held == (self.holder.get(run.id) == run.token), "a stale token renewed"
            if row:
                row.until = self.model.now + lease_ms

    @rule(number=PICK, names=st.lists(st.sampled_from(list(OUTCOMES)), min_size=1, max_size=3), expired=st.booleans())
    def finish(self, number: int, names: list[str], expired: bool) -> None:
        """Newest claims and old ones alike; with `expired`, as a watchdog whose look was long ago."""
        if not self.claims:
            return
        runs = [self.claims[-1 - (number + n) % min(len(self.claims), 6)] for n in range(len(names))]
        self.end(list(zip(runs, names, strict=True)), expired=expired and number % 3 == 0)

    @rule()
    def watchdog(self) -> None:
        late = sorted(
            (row for row in self.model.rows.values() if row.status == "in_progress" and row.until < self.model.now),
            key=lambda row: (row.until, row.id),
        )
        runs = self.store.read(lambda tx: tx.expired(100))
        assert [(run.id, run.token) for run in runs] == [(row.id, row.token) for row in late]
        self.end([(run, "crashed") for run in runs], expired=True)

    def end(self, runs: list[tuple[Claim, str]], *, expired: bool) -> None:
        def call(tx: Any) -> list[bool]:
            moves = [decide(run, OUTCOMES[name], POLICY, now=tx.now, spread=0.0) for run, name in runs]
            return tx.finish([Ending(run, move) for (run, _), move in zip(runs, moves, strict=True)], expired=expired)

        for (run, name), held in zip(runs, self.verb(call), strict=True):
            assert held == self.model.finish(run.id, run.token, name, expired=expired), (run.id, name)
            if held:
                assert self.holder.pop(run.id, None) == run.token, "a stale token finished"

    @rule(number=PICK, graceful=st.booleans(), tenant=st.sampled_from([None, None, "", "t"]))
    def cancel(self, number: int, graceful: bool, tenant: str | None) -> None:
        job_id = self.pick(number)
        left = self.verb(lambda tx: tx.cancel(job_id, tenant=tenant, graceful=graceful, error=CANCELLED))
        assert left == self.model.cancel(job_id, graceful=graceful, tenant=tenant)
        if left and self.model.rows[job_id].status == "cancelled":
            self.holder.pop(job_id, None)
            self.cancelled.add(job_id)

    @rule(number=PICK)
    def retry(self, number: int) -> None:
        bad = [row.id for row in self.model.rows.values() if row.status in ("failed", "dead_letter")]
        job_id = bad[number % len(bad)] if bad and number % 4 else self.pick(number)
        assert self.verb(lambda tx: tx.retry(job_id)) == self.model.retry(job_id)

    @rule(keep_ms=st.sampled_from([0, 1_000, 60_000]))
    def retention(self, keep_ms: int) -> None:
        keep = dict.fromkeys(map(str, Status), keep_ms)
        count, after = self.verb(lambda tx: tx.sweep_ended(keep, "", 1000))
        assert (count, after) == (self.model.sweep(keep_ms), None)
        self.seen = {job_id: seen for job_id, seen in self.seen.items() if job_id in self.model.rows}

    @rule(queue=st.sampled_from(["default", "gpu"]), pause=st.booleans())
    def pause_or_resume(self, queue: str, pause: bool) -> None:
        changed = self.verb(lambda tx: tx.pause(queue, "ann") if pause else tx.resume(queue))
        assert changed == ((queue in self.model.paused) != pause)
        (self.model.paused.add if pause else self.model.paused.discard)(queue)

    @rule(ms=st.sampled_from([1, 999, 1_000, 4_000, 60_000, 61_000, 3_600_000]))
    def time_passes(self, ms: int) -> None:
        self.clock.forward(ms)
        self.model.now += ms

    @rule(past=st.integers(0, 1))
    def a_lease_ends(self, past: int) -> None:
        """To the very instant of a lease's end, or one millisecond past it."""
        ends = [row.until for row in self.model.rows.values() if row.until and row.until >= self.model.now]
        if ends:
            self.time_passes(min(ends) + past - self.model.now)

    @rule(number=PICK)
    def crash(self, number: int) -> None:
        """The process dies in the middle of a transaction; another one opens the file."""
        if number % 3 == 0:
            self.store.begin().insert([NewJob("a", "{}")])
            self.store = self.reopen(self.clock, crash=True)

    @invariant()
    def the_store_equals_the_model(self) -> None:
        found = self.store.read(lambda tx: tx.execute(COLUMNS))
        assert [_told(row) for row in found] == [_expected(row) for row in self.model.rows.values()]
        for (
            job_id,
            status,
            *_,
        ) in found:
            row = self.model.rows[job_id]
            old, token = self.seen.get(job_id, ("queued", 0))
            assert old == status or (old, status) in LEGAL, f"{job_id} moved from {old} to {status}"
            assert row.token >= token, "a token fell"
            self.seen[job_id] = (status, row.token)

    @invariant()
    def one_job_holds_a_key(self) -> None:
        keys = [(row.tenant, row.key) for row in self.model.rows.values() if row.key]
        assert len(keys) == len(set(keys))

    def teardown(self) -> None:
        lines = self.store.read(lambda tx: tx.execute("select job_id, count(*) from job_history group by job_id"))
        assert dict(lines) == {row.id: row.lines for row in self.model.rows.values() if row.lines}
        counted = sum(count for *_, measure, _, count in self.store.read(lambda tx: tx.figures(0)) if measure == "run")
        assert counted == self.model.endings


def _told(row: tuple[Any, ...]) -> tuple[Any, ...]:
    error = row[11]
    kind = None if error is None else ERRORS.get(error) or json.loads(error)["class"]
    due = row[9] if row[1] == "queued" else None
    return (*row[:9], due, row[10], kind, *row[12:14], bool(row[14]), row[15], row[16] if row[1] == "queued" else 0)


def _expected(row: Row) -> tuple[Any, ...]:
    due = _text(row.due) if row.status == "queued" else None
    return (
        row.id, row.status, row.attempts, row.failed, row.crashed, row.interrupted, row.token, row.owner, _text(row.until),
        due, row.version, row.error, row.result, row.key, row.asked_to_stop, _text(row.ended),
        int(row.alone and row.status == "queued"),
    )  # fmt: skip


def _text(at: int | None) -> str | None:
    return None if at is None else stamp.to_text(at)
