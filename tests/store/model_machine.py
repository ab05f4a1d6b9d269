"""A machine that drives a store and the model side by side, and compares every field after every step."""

from __future__ import annotations

import json
from datetime import datetime
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
from tests.store.given import TABLES, Clock, write
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
COLUMNS = (
    "select id, status, attempts, failed, crashed, interrupted, lease_token, lease_owner, lease_until, scheduled_at, version, "
    "error, cast(result as text), idempotency_key, cancel_requested_at is not null, completed_at, held from job_queue order by id"
)

# Mostly plain jobs in one lane, so that the actions meet; now and then everything else.
OPTIONS: dict[str, list[Any]] = {
    "kind": ["a"] * 6 + ["b"],
    "queue": ["default"] * 6 + ["gpu"],
    "payload_version": [1] * 8 + [2],
    "priority": [5] * 5 + [1, 9],
    "delay": [0, 0, 0, 1, 60_000],
    "key": [None, None, "k", "l"],
    "tenant": ["", "", "t"],
    "window": [None, "active", 60_000],
    "payload": ["{}", "{}", "[1]"],
    "max_attempts": [3, 5, 9, 1],
}

# How often each action is taken. Hypothesis leaves out whole rules at random, and would so make most histories in
# which nothing is ever claimed: one rule that deals the actions itself keeps them together.
ACTIONS = {
    "enqueue": 3, "coalesce": 3, "claim": 9, "claim_alone": 2, "finish": 8, "renew": 2, "watchdog": 1, "cancel": 2, "retry": 2,
    "retention": 1, "pause_or_resume": 1, "time_passes": 5, "a_lease_ends": 3, "crash": 1,
}  # fmt: skip
DEALT = [name for name, weight in ACTIONS.items() for _ in range(weight)]


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

    @rule(action=st.sampled_from(DEALT), number=st.integers(0, 2**16))
    def step(self, action: str, number: int) -> None:
        getattr(self, action)(Random(number))

    def verb(self, call: Any) -> Any:
        return write(self.store, call)

    def any_job(self, dice: Random) -> str:
        return dice.choice(list(self.model.rows)) if self.model.rows else "0" * 26

    def some_runs(self, dice: Random, count: int) -> list[Claim]:
        """Mostly runs that hold their lease; often one whose job another holds by now; sometimes any."""
        live = [run for run in self.claims if self.holder.get(run.id) == run.token]
        robbed = [run for run in self.claims if self.holder.get(run.id, run.token) != run.token]
        return [
            dice.choice(dice.choice([live, live, robbed, self.claims]) or self.claims)
            for _ in range(count)
            if self.claims
        ]

    def enqueue(self, dice: Random) -> None:
        jobs = [
            {name: dice.choice(values) for name, values in OPTIONS.items()} for _ in range(dice.choice([1, 1, 2, 3]))
        ]
        for job in jobs:
            job["window"] = job["window"] if job["key"] else None
            job["newest"] = job["sequence"] = None
            job["parents"] = self.some_parents(dice, job["tenant"])
            job["runs_anyway"] = bool(job["parents"]) and dice.random() < 0.2
        new = [_request(job) for job in jobs]
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

    def some_parents(self, dice: Random, tenant: str) -> list[str]:
        """Of a third of the jobs: some of their tenant's jobs, of any status."""
        own = [row.id for row in self.model.rows.values() if row.tenant == tenant]
        return dice.sample(own, min(len(own), dice.choice([1, 1, 2, 3]))) if dice.random() < 0.35 else []

    def coalesce(self, dice: Random) -> None:
        job = {name: dice.choice(values) for name, values in OPTIONS.items()} | {"key": None, "window": None}
        job |= {"newest": dice.choice("cd"), "sequence": dice.choice([None, None, 1, 2, 3])}
        known, expected = self.model.coalesce(job)
        job_id, outcome = self.verb(lambda tx: tx.coalesce(_request(job)))
        assert outcome == expected
        assert job_id not in self.model.rows if known is None else job_id == known
        if outcome == "created":
            self.model.add(job_id, job)
        if outcome != "discarded":
            self.model.remember(job_id, job)

    def claim(self, dice: Random) -> None:
        owner, limit = dice.choice(["w1", "w2"]), dice.choice([1, 1, 2, 4])
        lanes = dice.choice([LANES, LANES, LANES[:1], LANES[1:5]])
        taken = self.verb(lambda tx: tx.claim(Order(owner, lanes, limit, LEASE)))
        self.started(taken, self.model.claim(owner, lanes, limit, LEASE))

    def claim_alone(self, dice: Random) -> None:
        limit = dice.choice([1, 2])
        taken = self.verb(lambda tx: tx.claim_alone(Order("w3", LANES, limit, LEASE)))
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

    def renew(self, dice: Random) -> None:
        runs, lease_ms = self.some_runs(dice, 3), dice.choice([LEASE, LEASE, 1_000])
        answers = self.verb(lambda tx: tx.renew([(run.id, run.token) for run in runs], lease_ms))
        for run, held in zip(runs, answers, strict=True):
            row = self.model.held(run.id, run.token)
            assert held == (row is not None)
            assert held == (self.holder.get(run.id) == run.token), "a stale token renewed"
            if row:
                row.until = self.model.now + lease_ms
        if runs:
            self.show_progress(runs[0])

    def show_progress(self, run: Claim) -> None:
        held = self.verb(lambda tx: tx.progress(run.id, run.token, "1"))
        row = self.model.held(run.id, run.token)
        assert held == (row is not None), "a stale token showed progress"
        if row:
            row.version += 1

    def finish(self, dice: Random) -> None:
        """Now and then as a watchdog whose look at the leases was long ago."""
        runs = [(run, dice.choice(list(OUTCOMES))) for run in self.some_runs(dice, dice.choice([1, 1, 2, 3]))]
        self.end(runs, expired=dice.random() < 0.2)

    def watchdog(self, _: Random) -> None:
        late = sorted(
            (row for row in self.model.rows.values() if row.status == "in_progress" and row.until < self.model.now),
            key=lambda row: (row.until, row.id),
        )
        runs = self.store.read(lambda tx: tx.expired(100))
        assert [(run.id, run.token) for run in runs] == [(row.id, row.token) for row in late]
        self.end([(run, "crashed") for run in runs], expired=True)

    def end(self, runs: list[tuple[Claim, str]], *, expired: bool) -> None:
        def call(tx: Any) -> list[bool]:
            moves = [decide(run, OUTCOMES[name], POLICY, spread=0.0) for run, name in runs]
            return tx.finish([Ending(run, move) for (run, _), move in zip(runs, moves, strict=True)], expired=expired)

        accepted = self.verb(call)
        ended = []
        for (run, name), held in zip(runs, accepted, strict=True):
            assert held == self.model.finish(run.id, run.token, name, expired=expired), (run.id, name)
            if held:
                assert self.holder.pop(run.id, None) == run.token, "a stale token finished"
                ended.append(self.model.rows[run.id])
        self.model.over(*(row for row in ended if row.ended is not None))

    def cancel(self, dice: Random) -> None:
        live = [run.id for run in self.some_runs(dice, 1)]
        job_id = dice.choice([self.any_job(dice), *live])
        graceful, tenant = dice.random() < 0.6, dice.choice([None, None, None, "", "t"])
        left = self.verb(lambda tx: tx.cancel(job_id, tenant=tenant, graceful=graceful, error=CANCELLED))
        assert left == self.model.cancel(job_id, graceful=graceful, tenant=tenant)
        if left and self.model.rows[job_id].status == "cancelled":
            self.holder.pop(job_id, None)
            self.cancelled.add(job_id)

    def retry(self, dice: Random) -> None:
        bad = [row.id for row in self.model.rows.values() if row.status in ("failed", "dead_letter")]
        job_id = dice.choice([self.any_job(dice), *bad])
        assert self.verb(lambda tx: tx.retry(job_id)) == self.model.retry(job_id)

    def retention(self, dice: Random) -> None:
        keep_ms = dice.choice([0, 60_000, 600_000])
        keep = dict.fromkeys(map(str, Status), keep_ms)
        count, after = self.verb(lambda tx: tx.sweep_ended(keep, "", 1000))
        assert (count, after) == (self.model.sweep(keep_ms), None)
        self.seen = {job_id: seen for job_id, seen in self.seen.items() if job_id in self.model.rows}

    def pause_or_resume(self, dice: Random) -> None:
        queue, pause = dice.choice(["default", "gpu"]), dice.random() < 0.3
        changed = self.verb(lambda tx: tx.pause(queue, "ann") if pause else tx.resume(queue))
        assert changed == ((queue in self.model.paused) != pause)
        (self.model.paused.add if pause else self.model.paused.discard)(queue)

    def time_passes(self, dice: Random) -> None:
        self.forward(dice.choice([1, 999, 1_000, 4_000, 8_000, 16_000, 61_000]))

    def a_lease_ends(self, dice: Random) -> None:
        """To the very instant of a lease's end, or one millisecond past it."""
        ends = [row.until for row in self.model.rows.values() if row.until and row.until >= self.model.now]
        if ends:
            self.forward(min(ends) + dice.choice([0, 1]) - self.model.now)
        self.watchdog(dice)

    def forward(self, ms: int) -> None:
        self.clock.forward(ms)
        self.model.now += ms

    def crash(self, _: Random) -> None:
        """The process dies in the middle of a transaction; another one opens the file."""
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


def _told(found: tuple[Any, ...]) -> tuple[Any, ...]:
    row = [_text(stamp.from_datetime(value)) if isinstance(value, datetime) else value for value in found]
    error = row[11]
    kind = None if error is None else ERRORS.get(error) or json.loads(error)["class"]
    due = row[9] if row[1] == "queued" else None
    return (*row[:9], due, row[10], kind, *row[12:14], bool(row[14]), row[15], row[16] if row[1] == "queued" else 0)


def _expected(row: Row) -> tuple[Any, ...]:
    due = _text(row.due) if row.status == "queued" else None
    return (
        row.id, row.status, row.attempts, row.failed, row.crashed, row.interrupted, row.token, row.owner, _text(row.until),
        due, row.version, row.error, row.result, row.key, row.asked_to_stop, _text(row.ended),
        int(row.alone) + 2 * int(row.behind) + 4 * bool(row.waits_for) if row.status == "queued" else 0,
    )  # fmt: skip


def _text(at: int | None) -> str | None:
    return None if at is None else stamp.to_text(at)


def _request(job: dict[str, Any]) -> NewJob:
    window = job["window"]
    return NewJob(
        job["kind"], job["payload"], queue=job["queue"], priority=job["priority"], delay=job["delay"] / 1000, key=job["key"],
        tenant=job["tenant"], max_attempts=job["max_attempts"], payload_version=job["payload_version"],
        key_window=window / 1000 if isinstance(window, int) else window, coalesce_key=job["newest"],
        sequence=job["sequence"], depends_on=job.get("parents") or None, on_parent="run" if job.get("runs_anyway") else None,
    )  # fmt: skip
