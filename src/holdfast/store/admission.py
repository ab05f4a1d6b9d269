"""Who may leave a line: the step that admits jobs with keys.

It takes the notes of lines to be looked at, reads what it must know of all their keys at once, decides, and writes, in
a dozen statements however many keys there are. One transaction at a time does this, so the numbers it reads are true
until it ends: units are only ever freed meanwhile, which leaves a note for the next step.

A job is admitted when each of its keys has room. One whose other key is full goes over to the line of that key, where
it is in nobody's way. A better job that comes to a full key takes the place of a worse one that was admitted and that
nobody has claimed. An admitted job that nobody claims for seconds, because its queue is paused or no live worker knows
its type, stands aside for a while if others wait; a queue that is resumed or a worker that starts ends that.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.model.limit import ASIDE, FAIR, HERD, LINES, SHARE, lines_under, rule_of, shares_of, tenant_of, under
from holdfast.store.limits import LOOKS
from holdfast.store.port import ALIVE_MS
from holdfast.store.room import FINEST_MS, Head, Room

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from holdfast.model.limit import Limit
    from holdfast.store.limits import LimitVerbs
    from holdfast.store.port import Order

MOST = 100  # jobs of one line in one step
MANY = 1_000  # jobs that are moved together
TENANTS = 500  # in one round
HOST_MS = 100  # between two looks at a line that other hosts may serve
STALE_MS = 5_000  # a unit that nobody has put to use for so long may go to another
ASIDE_MS = 60_000  # long enough for a dozen kinds of them to be found out, one after the other
LONG_ASIDE_MS = 120_000  # where many are in the way
TIDY = "tidy\x1f"  # the note to look for such units


class Admission:
    """One step."""

    def __init__(self, tx: LimitVerbs, orders: Sequence[Order], most: int) -> None:
        self.tx = tx
        self.most = most  # lines
        self.now = tx.now
        self.owner = orders[0].owner if orders else ""
        self.lanes = {tuple(lane) for order in orders for lane in order.lanes}
        self.places = sum(order.limit for order in orders)
        self.rooms: dict[str, Room] = {}
        self.rounds: dict[str, float] = {}
        self.limits: dict[str, Limit] = {}
        self.admitted: list[Head] = []
        self.moves: list[tuple[str, str]] = []
        self.looks: dict[str, int] = {}
        self.paced: set[str] = set()

    def run(self) -> int:
        """Do it; answers how many were admitted."""
        tx = self.tx
        noted = [key for (key,) in tx.run("looks_take", now=tx.stamp, limit=self.most)]
        if len(noted) == self.most:
            tx.stirred = tx.crowded = True
        noted += [key for (key,) in tx.run("units_over", now=tx.stamp)]
        if not noted:
            return 0
        self.limits = {limit.name: limit for limit in tx.limits() if not limit.removed}
        keys = self._meant(dict.fromkeys(noted))
        self._know(keys)
        heads = self._heads(keys)
        self._know(key for line in heads.values() for head in line for key in head.keys)
        for key in keys:
            if key in heads:
                self._serve(key, heads[key])
        return self._write()

    # -- which lines

    def _meant(self, noted: Iterable[str]) -> list[str]:
        """The lines to look at. Some notes mean others."""
        keys: dict[str, None] = {}
        for note in noted:
            if note == TIDY:
                self._tidy()
            elif note.startswith(HERD):
                self._herd(note.removeprefix(HERD))
            elif note.startswith(LINES):
                keys |= dict.fromkeys(self._lines(note.removeprefix(LINES)))
            elif note == ASIDE:
                for (aside,) in self.tx.run("lanes_between", low=ASIDE, high=ASIDE + "~~", limit=LOOKS):
                    self._bring_back(aside)
            elif note.startswith(ASIDE):
                self._bring_back_in_time(note)
            elif note.startswith(FAIR):
                keys |= dict.fromkeys(self._round(note))
            else:
                keys[note] = None
        return list(keys)

    def _lines(self, note: str) -> list[str]:
        """Lines of a limit that was said anew, some at a time."""
        name, _, after = note.partition("\x1f\x1f")
        ((low, high),) = lines_under(name)
        some = self.most // 2 + 1  # to find a line takes as long as to look at it
        found = [key for (key,) in self.tx.run("lanes_between", low=after or low, high=high, limit=some)]
        if len(found) == some:
            self.looks[f"{LINES}{name}\x1f\x1f{found[-1]}\x01"] = 0
            self.tx.crowded = True
        return found

    def _round(self, key: str) -> list[str]:
        """The lines of tenants to look at: all that wait, if a new round begins, else the one that was noted."""
        name = rule_of(key)
        if name not in self.rounds:
            self._begin(name)
            if self.rounds[name] < 0:
                return self._waiting(name)
        return [key] if key != name else []

    def _begin(self, name: str) -> None:
        """Learn which round it is. It is negative if it begins now, with nobody admitted who has not been claimed."""
        low, high = shares_of(name)
        self.tx.run("lanes_make", lanes=json.dumps([(name, 1.0)]))
        ((_, number, _),) = self.tx.run("lanes_hold", keys=json.dumps([name]))
        if self.tx.run("units_idle_between", low=low, high=high):
            self.rounds[name] = number
        else:
            self.rounds[name] = -(number + 1)
            self.tx.run("lanes_set", lanes=json.dumps([(name, number + 1)]))

    def _waiting(self, name: str) -> list[str]:
        low, high = shares_of(name)
        found = [key for (key,) in self.tx.run("lanes_between", low=low, high=high, limit=TENANTS)]
        random.shuffle(found)
        return found

    # -- what is known of them

    def _know(self, keys: Iterable[str]) -> None:
        new = [key for key in dict.fromkeys(keys) if key not in self.rooms]
        if not new:
            return
        for key in new:
            self.rooms[key] = Room(under(key, self.limits))
        for key, used, idle, here in self.tx.count_units(new, self.owner):
            room = self.rooms[key]
            room.used, room.idle, room.here = used, idle, here
        self._know_pace(new)
        for key in new:
            if key.startswith(FAIR):
                self._know_share(key)

    def _know_pace(self, new: list[str]) -> None:
        lanes = [
            (key, 0.0 if limit.is_fair else self.now + limit.slack)
            for key in new
            if (limit := self.rooms[key].limit) is not None and limit.is_paced
        ]
        if not lanes:
            return
        self.tx.run("lanes_make", lanes=json.dumps(sorted(lanes)))
        for key, _ in lanes:  # unless its state is in the hands of a handler that asks for its next start
            self.rooms[key].blocked = float(self.now + FINEST_MS)
        for key, tat, blocked in self.tx.run("lanes_hold", keys=json.dumps(sorted(key for key, _ in lanes))):
            self.rooms[key].tat, self.rooms[key].blocked = tat, blocked

    def _know_share(self, key: str) -> None:
        name = rule_of(key)
        if name not in self.rounds:
            self._begin(name)
            if self.rounds[name] < 0:
                self.looks |= dict.fromkeys(self._waiting(name), 0)
        room, number = self.rooms[key], abs(self.rounds[name])
        if room.limit is not None and room.tat < number:
            room.share = room.limit.weight(tenant_of(key)) * SHARE

    # -- who may go

    def _heads(self, keys: list[str]) -> dict[str, list[Head]]:
        wanted = []
        for key in keys:
            most = self._most(key)
            room = self.rooms[key]
            # Of a line without room only this matters: whether somebody waits for the next start, or for a worse job.
            if most or room.idle or (room.limit is not None and (room.limit.rate or room.limit.scope == "host")):
                wanted.append((key, most + 1))
        heads: dict[str, list[Head]] = {}
        for row in self.tx.heads(wanted) if wanted else ():
            heads.setdefault(row[0], []).append(Head._make(row))
        return heads

    def _most(self, key: str) -> int:
        room = self.rooms[key]
        if room.limit is None:
            return MANY
        if room.limit.scope == "host":
            return MOST if room.free(self.now) else 0
        return min(room.free(self.now), MOST)

    def _serve(self, key: str, line: list[Head]) -> None:
        most, moved, admitted = self._most(key), 0, 0
        room = self.rooms[key]
        rest = len(line) > most
        for head in line[:most] if most else ():
            if not room.free(self.now):
                rest = True
                break
            full = next((other for other in head.keys if not self.rooms[other].free(self.now)), None)
            if full is not None:
                self.moves.append((head.id, full))
                self._look_again(full)
                moved += 1
            elif self._may_serve(head):
                self._admit(head)
                admitted += 1
            else:
                self.looks[key] = HOST_MS
        if (rest or (moved and room.limit is not None and room.limit.is_fair)) and room.free(self.now):
            self.looks.setdefault(key, 0)
        elif rest and not self._swap(key, line[admitted + moved] if admitted + moved < len(line) else line[-1]):
            self._look_again(key)

    def _may_serve(self, head: Head) -> bool:
        """A limit for each host is only for those to admit who take the job themselves."""
        if not any((limit := self.rooms[key].limit) is not None and limit.scope == "host" for key in head.keys):
            return True
        if self.places > 0 and (head.queue, head.type, head.payload_version) in self.lanes:
            self.places -= 1
            return True
        return False

    def _admit(self, head: Head) -> None:
        self.admitted.append(head)
        for key in head.keys:
            room = self.rooms[key]
            room.take(self.now)
            if room.limit is not None and room.limit.is_fair:
                room.tat = abs(self.rounds[rule_of(key)])  # the round in which it had something
            self.paced.add(key)

    def _look_again(self, key: str) -> None:
        """When a full key may have room again, unless a unit that is freed will tell."""
        room = self.rooms[key]
        limit = room.limit
        if limit is not None and limit.scope == "host":
            self.looks[key] = HOST_MS
        elif limit is not None and (limit.concurrency is None or room.used < limit.concurrency):
            wait = room.next_start(self.now)
            if wait is not None:
                self.looks[key] = min(wait, self.looks.get(key, wait))

    def _swap(self, key: str, head: Head) -> bool:
        """A better job takes the place of a worse one that nobody has claimed."""
        room = self.rooms[key]
        if not room.idle or room.limit is None or room.limit.concurrency is None:
            return False
        for job_id, priority, limits in self.tx.run("idle_worst", key=key):
            if priority > head.priority and self.tx.run("limits_back", back=json.dumps([(job_id, key)])):
                self.tx.run("units_free", ids=json.dumps([job_id]))
                self.looks |= dict.fromkeys((*json.loads(limits), key), 0)
                return True
        return False

    # -- what nobody takes

    def _tidy(self) -> None:
        """Units of jobs that nobody claims go to others who wait."""
        tx = self.tx
        before = stamp.to_text(max(0, self.now - STALE_MS))
        rows = tx.run("units_stale", before=before, now=tx.stamp, limit=MOST)
        paused = {row[0] for row in tx.run("pauses")} if rows else set()
        workers = tx.workers(self.now - ALIVE_MS) if rows else []
        taken = self.lanes.union(tuple(lane) for worker in workers for lane in worker["lanes"])
        for job_id, queue, kind, payload_version, limits in rows:
            if (queue, kind, payload_version) in taken and queue not in paused:
                continue  # somebody has it before him, if only behind other work
            for key in json.loads(limits):
                if self._others_wait(key):
                    self._stand_aside(job_id, key, {"queue": queue, "type": kind, "payload_version": payload_version})
                    break
        if tx.run("units_idle_between", low="", high=chr(0x10FFFF)):
            self.looks[TIDY] = STALE_MS

    def _others_wait(self, key: str) -> bool:
        low, high = shares_of(rule_of(key)) if key.startswith(FAIR) else (key, key + "\x01")
        return bool(self.tx.run("lanes_between", low=low, high=high, limit=1))

    def _stand_aside(self, job_id: str, key: str, kind: dict[str, Any]) -> None:
        tx, aside = self.tx, ASIDE + key
        if not tx.run("limits_back", back=json.dumps([(job_id, aside)])):
            return
        tx.free_units([job_id])
        moved = tx.run("limits_aside", key=key, aside=aside, limit=MANY, **kind)
        wait = LONG_ASIDE_MS if len(moved) == MANY else ASIDE_MS
        tx.penalise(aside, wait)
        tx.look([aside], wait)
        tx.look([rule_of(key) if key.startswith(FAIR) else key])

    def _bring_back_in_time(self, aside: str) -> None:
        """All together, a while after the last of them stood aside: else they would take turns for ever."""
        if self.tx.lane_state(aside, 0)[2] <= self.now:
            self._bring_back(aside)

    def _bring_back(self, aside: str) -> None:
        key = aside.removeprefix(ASIDE)
        moved = self.tx.run("limits_return", key=key, aside=aside, limit=MANY)
        self.looks |= {key: 0} | ({aside: 0} if len(moved) == MANY else {})

    def _herd(self, name: str) -> None:
        """Jobs that waited before there was a rule for their queue get its key."""
        rule = self.limits.get(name)
        if rule is None or not rule.queues:
            return
        between = shares_of("")[0] if rule.is_fair else None
        moved = [
            job_id
            for queue in rule.queues
            for (job_id,) in self.tx.run("limits_herd", queue=queue, key=name, between=between, limit=MANY)
        ]
        if moved:
            self.tx.line_up(moved)
            self.looks[HERD + name] = 0

    # -- writing

    def _write(self) -> int:
        tx, count = self.tx, 0
        if self.moves:
            tx.run("limits_move", moves=json.dumps(self.moves))
        if self.admitted:
            heads = {head.id: head for head in self.admitted}
            free = tx.run("limits_admit", ids=json.dumps(list(heads)))
            count = len(free)
            tx.news.queues.update(queue for _, queue in free)
            units = sorted((key, job_id) for job_id, _ in free for key in heads[job_id].keys)
            tx.run("units_take", units=json.dumps(units), now=tx.stamp)
            # Not for each: a look that is under way sees to it that another follows as long as units lie idle.
            if not 0 <= self.now - tx.queries.kept.get("tidy", -STALE_MS) < STALE_MS // 2:
                tx.queries.kept["tidy"] = self.now
                self.looks.setdefault(TIDY, STALE_MS)
        lanes = [
            (key, self.rooms[key].tat)
            for key in sorted(self.paced)
            if (limit := self.rooms[key].limit) is not None and limit.is_paced
        ]
        if lanes:
            tx.run("lanes_set", lanes=json.dumps(lanes))
        tx.look_at((key, stamp.to_text(min(self.now + wait, stamp.LAST))) for key, wait in self.looks.items())
        return count
