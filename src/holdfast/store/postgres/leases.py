"""The verbs for workers: claim, renew, finish. Every write names the token."""

from __future__ import annotations

from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.lease import Claim
from holdfast.store.newest import keys_of
from holdfast.store.postgres.base import Verbs, array, numbers
from holdfast.store.verbs import claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.decide import Move
    from holdfast.model.lease import Lane
    from holdfast.store.port import Ending, Order
    from holdfast.store.postgres.trail import Trail

_NEVER = "infinity"
_by_turn = itemgetter(11, 17, 0)  # priority, scheduled_at, id of a claimed row
_STARTED_AT = 20
ONE_REST = 10  # after a claim of one, so many times as long as it took


class LeaseVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def claim(self, order: Order) -> list[Claim]:
        if order.limit < 1:
            return []
        trail = self.connection.trail(order.lanes)
        return self.took(claims(self._along(order, trail) if trail.thick else self._from_the_front(order, trail)))

    def claim_at_once(self, order: Order) -> list[Claim]:
        """The same outside of any transaction: one statement that commits by itself, and writes nothing else.

        Nothing is found where that will not do: for jobs with limits, and where the front of the lanes is left alone.
        """
        trail = self.connection.trail(order.lanes)
        if trail.thick or not order.lanes:
            return []
        begin = monotonic()
        if begin >= trail.one_at and not order.together:
            return self._claim_one(order, trail, begin)
        query, keep = self.queries["claim"], self.queries["keep_settings"]
        told = self.connection.run_at_once(query, _front(order, now=None, plain=True), keep)
        rows = self._seen(told)
        if rows:
            now = stamp.from_text(rows[0][_STARTED_AT])
            trail.looked(rows, now, full=len(rows) == order.limit, read=told[0][-2] or 0, took=monotonic() - begin)
        return claims(rows)

    def _claim_one(self, order: Order, trail: Trail, begin: float) -> list[Claim]:
        """Take one job. Who comes again soon gets as many as there are: places are not to be filled one by one."""
        asked: dict[str, object] = {"owner": order.owner, "lease": order.lease_ms, **_lanes(order.lanes)}
        rows = self.connection.run_at_once(self.queries["claim_one"], asked, self.queries["keep_settings"])
        now = monotonic()
        trail.one_at = now + ONE_REST * (now - begin)
        return claims(rows)

    def claim_alone(self, order: Order) -> list[Claim]:
        return self.took(claims(sorted(self._take("due_alone", order, order.limit), key=_by_turn)))

    def renew(self, holds: Sequence[tuple[str, int]], lease_ms: int) -> list[bool]:
        wanted = sorted(set(holds))
        until = stamp.to_text(self.now + lease_ms)
        held = set(
            self.run(
                "renew",
                ids=array(job_id for job_id, _ in wanted),
                tokens=numbers(token for _, token in wanted),
                until=until,
            )
        )
        return [tuple(hold) in held for hold in holds]

    def finish(self, endings: Sequence[Ending], *, expired: bool = False) -> list[bool]:
        if any(ending.follow_ups for ending in endings):
            return self.finish_and_follow(endings, expired=expired)
        return self.finish_runs(endings, expired=expired)

    def finish_runs(self, endings: Sequence[Ending], *, expired: bool) -> list[bool]:
        if not endings:
            return []
        endings = self.settle_newest(endings)
        runs: dict[tuple[str, int], int] = {}
        for place, (claim, _, _) in enumerate(endings):
            runs.setdefault((claim.id, claim.token), place)  # a run ends once: its first ending holds
        wanted = self._unlocked(sorted(runs)) if expired else sorted(runs)
        reached = self._end([endings[runs[key]] for key in wanted], expired=expired)
        accepted = [False] * len(endings)
        for key in reached:
            accepted[runs[key]] = True
        ended = [ending for ending, held in zip(endings, accepted, strict=True) if held]
        self.record([(ending, reached[ending.claim.id, ending.claim.token]) for ending in ended])
        self.free_newest(keys_of(ended))
        return accepted

    def next_due(self, lanes: Sequence[Lane], *, due_too: bool = False) -> int | None:
        due, at = self.run_again("next_due", now=self.ever if due_too else self.stamp, **_lanes(lanes))[0]
        dues = [] if due is None else [stamp.from_text(due)]
        look = self.seen_look(at)
        dues += [] if look is None else [look]
        return min(dues + [self.now + int(rest * 1000) for rest in self.connection.rests()], default=None)

    def _from_the_front(self, order: Order, trail: Trail) -> list[tuple[Any, ...]]:
        """The best jobs that are due."""
        begin = monotonic()
        told = self.run_again("claim", **_front(order, now=self.stamp, plain=False))
        took = monotonic() - begin
        rows = self._seen(told)
        if not told or len(told) < told[0][-3]:  # others may have been quicker
            rows += self._take("claim_rest", order, order.limit - len(rows))
            rows.sort(key=_by_turn)
        if told:
            trail.looked(rows, self.now, full=len(rows) == order.limit, read=told[0][-2] or 0, took=took)
        return rows

    def _seen(self, told: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows of a claim from the front, best first, without what it tells beside them."""
        self.saw_lines(seen=any(row[-1] for row in told[:1]))
        return sorted([row[:-3] for row in told], key=_by_turn)

    def _along(self, order: Order, trail: Trail) -> list[tuple[Any, ...]]:
        """The best jobs that are due and not behind the last claims; at times from the front, past all that is dead
        there. `claim` would pass it twice.
        """
        front, begin = not trail.rest, monotonic()
        queues, types, versions, priorities, since = map(array, zip(*trail.starts(front=front), strict=True))
        told = self.run_again(
            "claim_on",
            owner=order.owner,
            until=stamp.to_text(self.now + order.lease_ms),
            now=self.stamp,
            limit=order.limit,
            queues=queues,
            types=types,
            payload_versions=versions,
            priorities=priorities,
            since=since,
        )
        took = monotonic() - begin
        self.saw_lines(seen=any(row[-1] for row in told[:1]))
        rows = sorted([row[:-2] for row in told], key=_by_turn)
        read = told[0][-2] or 0 if told else 0
        if front:
            trail.looked(rows, self.now, full=len(rows) == order.limit, read=read, took=took)
        elif rows:
            trail.went_on(rows, read)
        return rows

    def _take(self, query: str, order: Order, limit: int) -> list[tuple[Any, ...]]:
        until = stamp.to_text(self.now + order.lease_ms)
        return self.run_again(query, owner=order.owner, until=until, now=self.stamp, limit=limit, **_lanes(order.lanes))

    def _unlocked(self, runs: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those whose row no other transaction holds: one that was cut off in the middle holds it for seconds."""
        free = {job_id for (job_id,) in self.run("unlocked", ids=array(job_id for job_id, _ in runs))}
        return [run for run in runs if run[0] in free]

    def _end(self, endings: list[Ending], *, expired: bool) -> dict[tuple[str, int], str]:
        """Write the endings in one statement; answers the status that each accepted one reached."""
        kinds: dict[tuple[Any, ...], int] = {}
        kind_of = [kinds.setdefault((move.status, *move[2:]), len(kinds) + 1) for _, move, _ in endings]
        moves = [endings[kind_of.index(number)].move for number in kinds.values()]
        rows = self.run(
            "finish",
            ids=array(claim.id for claim, _, _ in endings),
            tokens=numbers(claim.token for claim, _, _ in endings),
            results=array(move.result for _, move, _ in endings),
            moves=numbers(kind_of),
            statuses=array(move.status.value for move in moves),
            due=array(map(self._due, moves)),
            errors=array(move.error for move in moves),
            give_back=numbers(move.give_back for move in moves),
            failed=numbers(move.failed for move in moves),
            crashed=numbers(move.crashed for move in moves),
            interrupted=numbers(move.interrupted for move in moves),
            hold=numbers(move.hold for move in moves),
            free=numbers(move.free for move in moves),
            forced=int(expired),
            expired_before=self.stamp if expired else _NEVER,
            now=self.stamp,
        )
        self.childless.update([job_id for job_id, _, _, children in rows if not children])
        return {(job_id, token): status for job_id, token, status, _ in rows}

    def _due(self, move: Move) -> str | None:
        return None if move.wait_ms is None else stamp.to_text(min(self.now + move.wait_ms, stamp.LAST))

    def _count(self, ended: list[tuple[str, str, str, str, str]]) -> None:
        """Add the endings to the minute's histograms."""
        if not ended:
            return
        counts = self.histograms(ended)
        queues, types, statuses, measures, buckets = map(array, zip(*counts, strict=True))
        self.run(
            "figure",
            minute=minute_of(self.stamp),
            queues=queues,
            types=types,
            statuses=statuses,
            measures=measures,
            buckets=buckets,
            counts=numbers(counts.values()),
        )


def minute_of(at: str) -> str:
    """The stamp of the minute that a stamp lies in."""
    return at[:16] + ":00.000Z"


def _front(order: Order, *, now: str | None, plain: bool) -> dict[str, object]:
    return {
        "owner": order.owner,
        "lease": order.lease_ms,
        "now": now,
        "limit": order.limit,
        "plain": plain,
        **_lanes(order.lanes),
    }


def _lanes(lanes: Sequence[Lane]) -> dict[str, object]:
    return {
        "queues": array(lane.queue for lane in lanes),
        "types": array(lane.type for lane in lanes),
        "payload_versions": array(lane.payload_version for lane in lanes),
    }
