"""The verbs for workers: claim, renew, finish. Every write names the token."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from holdfast.model import stamp
from holdfast.model.status import Status
from holdfast.store.newest import keys_of
from holdfast.store.sqlite.base import Verbs
from holdfast.store.verbs import claims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from holdfast.model.lease import Claim, Lane
    from holdfast.store.port import Ending, Order

_NEVER = "~"  # sorts behind every stamp
_by_turn = itemgetter(11, 17, 0)  # priority, scheduled_at, id of a claimed row
# Of a claim, what its ending is counted by: queue, type, started_at, created_at. Behind them its ties: group,
# key_until, batch, limits, auth_data.
_kind = itemgetter(3, 2, 20, 16, 13, 21, 25, 27, 28)
_TIES, _NO_TIES = 4, (None, None, None, None, None)
_follow_ups = itemgetter(2)  # of an ending


class LeaseVerbs(Verbs):
    """Part of the transaction; the promises stand in the port."""

    __slots__ = ()

    def claim(self, order: Order) -> list[Claim]:
        return self._take(self._due(order), order)

    def claim_alone(self, order: Order) -> list[Claim]:
        rows = self.run("due_alone", lanes=as_json(tuple(order.lanes)), now=self.stamp, limit=order.limit)
        return self._take([job_id for (job_id,) in rows], order)

    def _take(self, ids: list[str], order: Order) -> list[Claim]:
        if not ids:
            return []
        until, taken = stamp.to_text(self.now + order.lease_ms), _write(ids)
        self.change("claim", ids=taken, owner=order.owner, until=until, now=self.stamp)
        return self.took(claims(sorted(self._array("claimed", ids=taken), key=_by_turn)))

    def renew(self, holds: Sequence[tuple[str, int]], lease_ms: int) -> list[bool]:
        until = stamp.to_text(self.now + lease_ms)
        return [self.change("renew", id=job_id, token=token, until=until) == 1 for job_id, token in holds]

    def finish(self, endings: Sequence[Ending], *, expired: bool = False) -> list[bool]:
        if any(ending.follow_ups for ending in endings):
            return self.finish_and_follow(endings, expired=expired)
        return self.finish_runs(endings, expired=expired)

    def finish_runs(self, endings: Sequence[Ending], *, expired: bool) -> list[bool]:
        keys = keys_of(endings)
        if not keys:
            return self._finish_all(endings, expired=expired)
        # One after the other: each looks at who waits behind it.
        accepted = [self._finish_all(self.settle_newest([ending]), expired=expired)[0] for ending in endings]
        self.free_newest(keys_of([ending for ending, held in zip(endings, accepted, strict=True) if held]))
        return accepted

    def _finish_all(self, endings: Sequence[Ending], *, expired: bool) -> list[bool]:
        once = not expired and len({ending.claim.id for ending in endings}) == len(endings)  # of two the first counts
        completed = [ending for ending in endings if once and ending.move.status is Status.COMPLETED]
        at_once = bool(completed) and self._complete(completed)
        if at_once and len(completed) == len(endings) and self._record_plain(completed):
            return [True] * len(endings)
        accepted = [
            (at_once and ending.move.status is Status.COMPLETED) or self._finish(ending, expired=expired)
            for ending in endings
        ]
        self._record([ending for ending, held in zip(endings, accepted, strict=True) if held])
        return accepted

    def next_due(self, lanes: Sequence[Lane], *, due_too: bool = False) -> int | None:
        past = self.ever if due_too else self.stamp
        stamps = [
            row[0]
            for priority, *lane in self.run("lanes", lanes=as_json(tuple(lanes)))
            for row in self.run("next_due", priority=priority, now=past, **_lane(lane))
            if row[0] is not None
        ]
        look = self.next_look()
        dues = [stamp.from_text(min(stamps))] if stamps else []
        return min(dues if look is None else [*dues, look], default=None)

    def _complete(self, endings: Sequence[Ending]) -> bool:
        """End many runs that went well in one statement, all or none."""
        ended = _write({f"{claim.token}:{claim.id}": move.result for claim, move, _ in endings})
        self.connection.save()
        if self.change("complete", ended=ended, free=endings[0].move.free, now=self.stamp) != len(endings):
            self.connection.back_to_save()
            return False
        self.connection.release()
        return True

    def _finish(self, ending: Ending, *, expired: bool) -> bool:
        return self.change("finish", **self._ending(ending, expired=expired)) == 1

    def _array(self, query: str, **parameters: object) -> list[Any]:
        """The rows of a query that answers with one JSON array of them."""
        return _read(self.run(query, **parameters)[0][0])  # type: ignore[no-any-return]

    def _due(self, order: Order) -> list[str]:
        """The ids to take: lane by lane within a priority, and no further than the order is filled."""
        ids: list[str] = []
        lanes = self.run("lanes", lanes=as_json(tuple(order.lanes)))
        for priority, group in groupby(lanes, key=itemgetter(0)):
            want = order.limit - len(ids)
            heads = [
                head
                for _, *lane in group
                for head in self._array("due", priority=priority, now=self.stamp, limit=want, **_lane(lane))
            ]
            heads.sort()
            ids += [job_id for _, job_id in heads[:want]]
            if len(ids) == order.limit:
                break
        return ids

    def _ending(self, ending: Ending, *, expired: bool) -> dict[str, object]:
        claim, move = ending.claim, ending.move
        return {
            "id": claim.id,
            "token": claim.token,
            "status": move.status,
            "scheduled_at": None if move.wait_ms is None else stamp.to_text(min(self.now + move.wait_ms, stamp.LAST)),
            "result": move.result,
            "error": move.error,
            "give_back": move.give_back,
            "failed": move.failed,
            "crashed": move.crashed,
            "interrupted": move.interrupted,
            "hold": move.hold,
            "free": move.free,
            "forced": int(expired),
            "expired_before": self.stamp if expired else _NEVER,
            "now": self.stamp,
        }

    def _record(self, endings: list[Ending]) -> None:
        unusual = [ending.claim.id for ending in endings if ending.move.status is not Status.COMPLETED]
        reached = {}
        if unusual:
            reached = {job_id: status for job_id, _, status in self.run("versions", ids=self.ids(unusual))}
        self.record([(ending, reached.get(ending.claim.id, ending.move.status)) for ending in endings])

    def _record_plain(self, endings: Sequence[Ending]) -> bool:
        """The same for runs that went well, if none of them has ties: most batches. False: nothing was done."""
        from collections import Counter  # noqa: PLC0415  # a cold hook ends no runs

        claims = [ending.claim for ending in endings]
        kinds = Counter(map(_kind, claims))
        if any(kind[_TIES:] != _NO_TIES for kind in kinds) or any(map(_follow_ups, endings)):
            return False
        ids = [claim.id for claim in claims]
        self.news.jobs += ids
        self._count({(*kind[:2], Status.COMPLETED, *kind[2:_TIES]): count for kind, count in kinds.items()})
        self.over([(job_id, Status.COMPLETED) for job_id in ids], ())
        return True

    def _count(self, ended: Iterable[tuple[str, str, str, str, str]]) -> None:
        """Add the endings, or so many of each kind, to the minute's histograms."""
        minute = self.stamp[:16]
        names = ("queue", "type", "status", "measure", "bucket")
        for key, count in self.histograms(ended).items():
            self.run("figure", minute=minute, count=count, **dict(zip(names, key, strict=True)))


def _lane(lane: list[Any]) -> dict[str, object]:
    queue, kind, payload_version = lane
    return {"queue": queue, "type": kind, "payload_version": payload_version}


def _read(text: str) -> Any:
    """JSON that SQLite wrote."""
    from pydantic_core import from_json  # noqa: PLC0415  # quicker than `json`; a cold hook claims nothing

    return from_json(text, cache_strings="none")


def _write(value: object) -> str:
    """JSON for SQLite to read."""
    from pydantic_core import to_json  # noqa: PLC0415

    return to_json(value).decode()


@lru_cache(maxsize=64)
def as_json(lanes: tuple[Lane, ...]) -> str:
    return json.dumps(list(dict.fromkeys(lanes)))
