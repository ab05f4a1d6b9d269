"""Limits, the same on every store: a job with keys stands in line, and is admitted when each of its keys has room.

An admitted job holds a unit of each key already, so a claim checks nothing, and what stands in line is nowhere near the
jobs that are claimed. Those who enqueue, finish or cancel only note that a line is to be looked at; they lock nothing.
Whoever claims next does the looking (`store/admission.py`), one transaction at a time.
"""

from __future__ import annotations

import json
from time import monotonic

from holdfast.model import stamp
from holdfast.model.status import Status
from holdfast.store.newest import NewestVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from holdfast.model.lease import Claim
    from holdfast.model.limit import Limit
    from holdfast.model.request import NewJob
    from holdfast.store.port import Order
    from holdfast.store.sql import Queries

HERD_MS = 6_000  # after which every process has heard of a new rule
AGAIN_MS = 20  # until another look at lines that somebody else looks at just now
LINES_SEEN = 10.0  # seconds in which claims ask for lines to look at, after there were some
STRAY_MS = 60_000
LOOKS = 200  # at lines, in one step
FEW, FEW_EACH = 20, 3  # before a claim, and for each run that was handed in with it: its end may have stirred some
FEW_MS = 0.05  # so long ago was the last of them, for each: who claims seldom can look at more


class LimitVerbs(NewestVerbs):
    """Part of the transaction of either store."""

    __slots__ = ()

    if TYPE_CHECKING:
        queries: Queries

        def lock_limits(self) -> bool: ...
        def heads(self, wanted: Sequence[tuple[str, int]]) -> list[tuple[Any, ...]]: ...

    # -- for those who enqueue

    def tie_limits(self, jobs: Sequence[tuple[NewJob, str]]) -> None:
        """New jobs with keys were stored under these ids: they stand in line."""
        rows = [
            (job_id, json.dumps(job.flow.limits), job.flow.limits[0])
            for job, job_id in jobs
            if job.flow is not None and job.flow.limits
        ]
        if rows:
            self.run("limits_tie", rows=json.dumps(rows))
            self.look_for([job_id for job_id, *_ in rows])

    def line_up(self, ids: Sequence[str], *, in_ms: int = 0) -> None:
        """Jobs that wait again, or are no longer held for another reason, stand in line; without keys, nothing is done.

        Called by whoever makes a job wait again: a person's retry, a resume, a parent that has ended.
        """
        lined_up = [job_id for (job_id,) in self.run("limits_line_up", ids=json.dumps(ids))]
        if lined_up:
            self.run("units_free", ids=json.dumps(lined_up))
            self.look_for(lined_up, in_ms)

    def look_for(self, ids: Sequence[str], in_ms: int = 0) -> None:
        """Look at the lines that these jobs stand in, when they are due: they are due earlier now, or held no more."""
        at = stamp.to_text(min(self.now + in_ms, stamp.LAST))
        self.run("looks_for", ids=json.dumps(ids), at=at, lead=int(not in_ms))
        self.stirred = True

    def retry(self, job_id: str, tenant: str | None = None) -> bool:
        sent = super().retry(job_id, tenant)
        if sent:
            self.line_up([job_id])
        return sent

    def resume(self, queue: str) -> bool:
        self._bring_back()
        return super().resume(queue)

    def beat(self, worker: dict[str, Any]) -> bool:
        new = super().beat(worker)
        if new:
            self._bring_back()
        return new

    def _bring_back(self) -> None:
        """Those who stood aside because nobody took them: somebody may now."""
        from holdfast.model.limit import ASIDE  # noqa: PLC0415

        if self.run("lanes_between", low=ASIDE, high=ASIDE + "~~", limit=1):
            self.look([ASIDE])
            self.news.queues.add("*")

    # -- for those who claim and finish

    def took(self, claims: list[Claim]) -> list[Claim]:
        """Jobs were claimed: the units that they hold are in use. The same claims."""
        limited = [claim for claim in claims if claim.limits is not None]
        if limited:
            from holdfast.model.limit import FAIR, rule_of, shares_of  # noqa: PLC0415

            ids = json.dumps([claim.id for claim in limited])
            self.run("units_claim", owner=limited[0].lease_owner, ids=ids)
            shares = {rule_of(key) for claim in limited for key in keys_of(claim) if key.startswith(FAIR)}
            for name in sorted(shares):
                low, high = shares_of(name)
                if not self.run("units_idle_between", low=low, high=high):
                    self.look([name])  # the round is over
        return claims

    def end_units(self, ended: Sequence[tuple[Claim, str]]) -> None:
        """Runs with keys have ended with these statuses: their units are free."""
        if not ended:
            return
        self.free_units([claim.id for claim, _ in ended])
        if back := [claim.id for claim, status in ended if status == Status.QUEUED]:
            self.line_up(back)

    def free_units(self, job_ids: Sequence[str]) -> None:
        """These jobs hold no units any more: they have ended, or the handlers of those that were cancelled have."""
        keys = [key for (key,) in self.run("units_free", ids=json.dumps(job_ids))]
        self.look(keys)
        self.tell_lines(keys)

    def cancel_units(self, job_id: str, limited: Sequence[tuple[Any, ...]]) -> None:
        """A job was cancelled by hand. `limited` is what `limits_of` said before: a run keeps its units until its
        handler has stopped, as long as its lease at most.
        """
        for _, until in limited:
            if until is None:
                self.free_units([job_id])
            else:
                keys = [key for (key,) in self.run("units_keep", id=job_id, until=until)]
                self.look(keys, stamp.from_text(until) - self.now)

    def look(self, keys: Iterable[str], in_ms: int = 0) -> None:
        """Look at the lines of these keys, now or later."""
        at = stamp.to_text(min(self.now + max(0, in_ms), stamp.LAST))
        self.look_at((key, at) for key in set(keys))

    def look_at(self, looks: Iterable[tuple[str, str]]) -> None:
        """Look at lines at these instants."""
        wanted = sorted(looks)
        if wanted:
            self.run("looks_add", looks=json.dumps(wanted))
            self.stirred = self.stirred or any(at <= self.stamp for _, at in wanted)

    def tell_lines(self, keys: Sequence[str]) -> None:
        """Wake the workers of those who stand first in these lines."""
        if keys:
            self.news.queues.update(queue for (queue,) in self.run("lane_queues", keys=json.dumps(keys)) if queue)

    def next_look(self) -> int | None:
        """When a line is to be looked at next; sees whether that is now."""
        at = self.run("looks_next")[0][0]
        return self.seen_look(at)

    def seen_look(self, at: str | None) -> int | None:
        """The same, for whoever has asked already."""
        if at is None:
            return None
        if at <= self.stamp:
            self.saw_lines()
            return self.now + AGAIN_MS
        return stamp.from_text(at)

    def saw_lines(self, *, seen: bool = True) -> None:
        """Whether there are lines to look at: then for a while, who claims looks first."""
        if seen:
            self.stirred = True
            self.queries.kept["lines"] = monotonic() + LINES_SEEN

    def few_lines(self, ended: int) -> int:
        """At how many lines to look before a claim. A crowd of them takes its time in small pieces: a twelfth of what
        passes, or as long again as claims take that come one after the other.
        """
        now = monotonic()
        since = now - self.queries.kept.get("looked", 0.0)
        self.queries.kept["looked"] = now
        return max(FEW + FEW_EACH * ended, min(LOOKS, int(since * 1000 / FEW_MS)))

    def admit(self, orders: Sequence[Order] = (), most: int | None = None) -> int:
        """Look at the lines that are to be looked at now, or at so many; answers how many more jobs may be claimed."""
        self.stirred = self.crowded = False
        if not self.lock_limits():
            return 0
        from holdfast.store.admission import Admission  # noqa: PLC0415  # only where there are limits

        return Admission(self, orders, most or LOOKS).run()

    def over_host(self, claims: Sequence[Claim]) -> list[Claim]:
        """Of these claims, those that are too many for the host that has them: they go to another."""
        from holdfast.model.limit import under  # noqa: PLC0415

        limits = {limit.name: limit for limit in self.limits() if limit.scope == "host" and not limit.removed}
        if not limits:
            return []
        keys = {key: limit for claim in claims for key in keys_of(claim) if (limit := under(key, limits)) is not None}
        over: list[Claim] = []
        for key, _, _, here in self.count_units(list(keys), claims[0].lease_owner):
            many = here - (keys[key].concurrency or 0)
            over += [claim for claim in reversed(claims) if key in keys_of(claim)][: max(0, many)]
        return list(dict.fromkeys(over))

    def count_units(self, keys: Sequence[str], owner: str) -> list[tuple[str, int, int, int]]:
        """For each key its units: all, those of jobs that nobody has claimed, those on the host of an owner."""
        host = owner.partition(":")[0].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return self.run("units_count", keys=json.dumps(keys), host=f"{host}:%", now=self.stamp)

    def mend_units(self) -> None:
        """Drop units that belong to no run and to no job that may run: none should be there."""
        before = stamp.to_text(max(0, self.now - STRAY_MS))
        self.look([key for (key,) in self.run("units_stray", before=before)])

    # -- for those who say what the limits are

    def limits(self, name: str | None = None) -> list[Limit]:
        """Every limit by name, or the one of a name; those that a person removed, too."""
        return [_limit(row) for row in self.run("limits", name=name)]

    def set_limit(self, limit: Limit) -> None:
        """Store a limit, or change one. Lines are looked at anew."""
        self.run(
            "limit_set",
            name=limit.name,
            concurrency=limit.concurrency,
            scope=limit.scope,
            rate=limit.rate,
            per_ms=limit.per_ms,
            burst=limit.burst,
            queues=json.dumps(limit.queues) if limit.queues else None,
            weights=json.dumps(dict(limit.weights)) if limit.weights else None,
            code=limit.code,
            removed=int(limit.removed),
            now=self.stamp,
            by=limit.updated_by,
        )
        self._said_anew(limit.name)

    def drop_limit(self, name: str) -> bool:
        """Forget a limit; those in its lines go on. False if there is none."""
        gone = self.change("limit_drop", name=name) == 1
        if gone:
            self._said_anew(name)
        return gone

    def pace(self, key: str, limit: Limit, most_ms: int | None) -> int | None:
        """Give out one start of a key, and say in how many milliseconds it is; None if that is too long to wait. It is
        -1 while another transaction has the key in its hands: ask again. To wait for it here could be a deadlock.
        """
        keys = json.dumps([key])
        rows = self.run("lanes_hold", keys=keys)
        if not rows and not self.run("lanes_see", keys=keys):
            self.run("lanes_make", lanes=json.dumps([(key, self.now + limit.slack)]))
            rows = self.run("lanes_hold", keys=keys)
        if not rows:
            return -1
        ((_, tat, blocked),) = rows
        base = max(tat, self.now, blocked)
        wait = max(0.0, base - limit.slack - self.now, blocked - self.now)
        if most_ms is not None and wait > most_ms:
            return None
        self.run("lanes_set", lanes=json.dumps([(key, base + limit.gap)]))
        return int(wait + 0.999)

    def penalise(self, key: str, ms: int) -> None:
        """No starts of a key for a while."""
        self.run("lanes_make", lanes=json.dumps([(key, float(self.now))]))
        self.run("lane_block", key=key, until=float(self.now + ms))

    def lane_state(self, key: str, limit: int) -> tuple[list[str], float, float]:
        """Who holds units of a key, some of them; when its starts would be worked off; until when it is blocked."""
        rows = self.run("lanes_see", keys=json.dumps([key]))
        holders = [job_id for (job_id,) in self.run("lane_holders", key=key, now=self.stamp, limit=limit)]
        return holders, *(rows[0][1:] if rows else (0.0, 0.0))

    def _said_anew(self, name: str) -> None:
        from holdfast.model.limit import HERD, LINES  # noqa: PLC0415

        self.queries.kept.pop("rules", None)
        self.look([name, LINES + name])
        self.look([HERD + name], HERD_MS)
        self.news.queues.add("*")

    def _limits_of(self, rows: list[tuple[Any, ...]]) -> tuple[Limit, ...]:
        from holdfast.model.limit import Limit  # noqa: PLC0415

        return tuple(Limit(name, queues=tuple(json.loads(queues))) for name, queues in rows)

    def _with_keys(self, job: NewJob, rules: tuple[Limit, ...]) -> NewJob:
        from holdfast.model.flow import Flow  # noqa: PLC0415
        from holdfast.model.limit import keys_for  # noqa: PLC0415

        shares, others = keys_for(job.queue, str(self.new_row(job, "")["tenant"]), rules)
        if not shares and not others:
            return job
        new = job.with_payload(job.payload)
        old = job.flow or Flow()
        new.flow = Flow(
            depends_on=old.depends_on,
            on_parent=old.on_parent,
            limits=tuple(dict.fromkeys((*shares, *old.limits, *others))),
            batch=old.batch,
            item=old.item,
        )
        return new


def keys_of(claim: Claim) -> list[str]:
    """The keys of a run."""
    return json.loads(claim.limits) if claim.limits is not None else []


def _limit(row: tuple[Any, ...]) -> Limit:
    from holdfast.model.limit import Limit  # noqa: PLC0415

    name, concurrency, scope, rate, per_ms, burst, queues, weights, code, removed, updated_at, updated_by = row
    return Limit(
        name=name,
        concurrency=concurrency,
        scope=scope,
        rate=rate,
        per_ms=per_ms,
        burst=burst,
        queues=tuple(json.loads(queues)) if queues else (),
        weights=tuple(sorted(json.loads(weights).items())) if weights else (),
        code=code,
        removed=bool(removed),
        updated_at=updated_at,
        updated_by=updated_by,
    )
