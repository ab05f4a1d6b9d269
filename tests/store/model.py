"""What a store should do, in plain Python, written from the description of the engine and not from the queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BAD = ("failed", "dead_letter", "cancelled")
ENDED = ("completed", "failed", "dead_letter", "cancelled")
MAX_CRASHES = 3


@dataclass(slots=True)
class Row:
    id: str
    kind: str
    payload: str
    queue: str
    payload_version: int
    tenant: str
    priority: int
    due: int
    max_attempts: int
    key: str | None
    key_until: str | int | None
    status: str = "queued"
    attempts: int = 0
    failed: int = 0
    crashed: int = 0
    interrupted: int = 0
    token: int = 0
    owner: str | None = None
    until: int | None = None
    error: str | None = None
    result: str | None = None
    asked_to_stop: bool = False
    ended: int | None = None
    version: int = 1
    lines: int = 0
    alone: bool = False
    newest: str | None = None  # its coalesce key
    sequence: int | None = None
    behind: bool = False
    became: bool = False  # its last line tells how many requests became this run
    waits_for: list[str] = field(default_factory=list)  # parents it counts
    parents: list[str] = field(default_factory=list)  # and all it was given
    runs_anyway: bool = False

    def end(self, status: str, now: int) -> None:
        self.status = status
        self.ended = now if status in ENDED else None
        self.owner = self.until = None
        if self.ended is not None and self.key_until == "active":
            self.key = self.key_until = None


class Conflict(Exception):  # an answer of the model
    """The key belongs to another request."""


class Model:
    """All jobs of one store."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.rows: dict[str, Row] = {}
        self.paused: set[str] = set()
        self.sequences: dict[tuple[str, str, str], tuple[int, str]] = {}
        self.gone: dict[str, str] = {}  # how jobs ended that are no more
        self.endings = 0
        self.successors: dict[str, str] = {}

    def insert(self, jobs: list[dict[str, Any]]) -> list[Row | None]:
        """For each the row that answers it, None for a new one; Conflict if one of them cannot be."""
        answers: list[Row | None] = []
        freed: list[Row] = []
        asked: dict[tuple[str, str], dict[str, Any]] = {}
        for job in jobs:
            name = (job["tenant"], job["key"])
            holder = next((row for row in self.rows.values() if job["key"] and (row.tenant, row.key) == name), None)
            if holder in freed:
                holder = None
            elif (
                holder
                and isinstance(holder.key_until, int)
                and holder.key_until <= self.now
                and holder.ended is not None
            ):
                freed.append(holder)
                holder = None
            same = (holder.kind, holder.payload) if holder else None
            if holder is None and name in asked:
                same = (asked[name]["kind"], asked[name]["payload"])
            if same and same != (job["kind"], job["payload"]):
                raise Conflict
            if job["key"] and not holder:
                asked.setdefault(name, job)
            answers.append(holder)
        for row in freed:
            row.key = row.key_until = None
        return answers

    def add(self, job_id: str, job: dict[str, Any]) -> None:
        window = job["window"]
        until = self.now + window if isinstance(window, int) else window
        name = (job["tenant"], job["kind"], job["newest"])
        running = self._same(name, "in_progress")
        self.rows[job_id] = Row(
            job_id, job["kind"], job["payload"], job["queue"], job["payload_version"], job["tenant"], job["priority"],
            self.now + job["delay"], job["max_attempts"], job["key"], until if job["key"] else None,
            newest=job["newest"], sequence=job["sequence"], behind=running is not None,
        )  # fmt: skip
        if job.get("parents"):
            self._tie(self.rows[job_id], job["parents"], runs_anyway=job["runs_anyway"])

    # -- families

    def _tie(self, row: Row, parents: list[str], *, runs_anyway: bool) -> None:
        found = []
        for named in parents:
            parent = named
            while self.successors.get(parent) in self.rows:
                parent = self.successors[parent]
            found.append(parent)
        row.parents = list(dict.fromkeys(found))
        row.waits_for = [one for one in row.parents if self.rows[one].ended is None]
        row.runs_anyway = runs_anyway
        if not runs_anyway and any(self.rows[one].status in BAD for one in row.parents):
            self._fall(row)

    def _fall(self, row: Row) -> None:
        row.error = "ParentFailed"
        row.lines += 1
        row.version += 1
        row.end("cancelled", self.now)

    def over(self, *ended: Row) -> None:
        """These have ended together: children go on, or end with them."""
        generation = list(ended)
        while generation:
            generation = self._one_generation(generation)

    def _one_generation(self, ended: list[Row]) -> list[Row]:
        names = {row.id for row in ended}
        fallen = []
        for child in self.rows.values():
            before = list(child.waits_for)
            for one in names & set(child.parents):
                if one in self.successors:
                    self._follow(child, one, self.successors[one])
            over = [one for one in child.waits_for if one in names]
            child.waits_for = [one for one in child.waits_for if one not in names]
            if child.status != "queued" or len(child.waits_for) == len(before):
                continue
            if not child.runs_anyway and any(self.rows[one].status in BAD for one in over):
                self._fall(child)
                fallen.append(child)
            elif not child.waits_for:
                child.version += 1
                child.due = max(child.due, self.now)
        return fallen

    def _follow(self, child: Row, parent: str, successor: str) -> None:
        """The successor takes the place of the parent, unless it has a place already."""
        child.parents.remove(parent)
        if parent in child.waits_for:
            child.waits_for.remove(parent)
            if successor not in child.parents:
                child.parents.append(successor)
                child.waits_for.append(successor)

    def _revive(self, parent: str) -> None:
        generation = [parent]
        while generation:
            fallen = [
                row
                for row in self.rows.values()
                if row.status == "cancelled" and row.error == "ParentFailed" and set(generation) & set(row.parents)
            ]
            here = {row.id: [self.rows[one] for one in row.parents if one in self.rows] for row in fallen}
            back = [row for row in fallen if not any(one.status in BAD for one in here[row.id])]
            for row in fallen:
                row.waits_for = [one.id for one in here[row.id] if one.ended is None]
                row.version += 1
            for row in back:
                row.end("queued", self.now)
                row.error, row.asked_to_stop = None, False
                row.lines += 1
            generation = [row.id for row in back]

    def coalesce(self, job: dict[str, Any]) -> tuple[str | None, str]:
        """What a request with a coalesce key does; the id of its job, None for a new one."""
        name = (job["tenant"], job["kind"], job["newest"])
        last, last_id = self.sequences.get(name, (-1, ""))
        if job["sequence"] is not None and job["sequence"] <= last:
            row = self.rows.get(last_id)
            ended = self.gone.get(last_id) if row is None else row.status
            if job["sequence"] < last or ended not in ("failed", "dead_letter", "cancelled"):
                return last_id, "discarded"
        waiting = self._same(name, "queued")
        if waiting is None:
            return None, "created"
        waiting.payload, waiting.payload_version, waiting.sequence = (
            job["payload"],
            job["payload_version"],
            job["sequence"],
        )
        waiting.priority, waiting.due = (
            min(waiting.priority, job["priority"]),
            min(waiting.due, self.now + job["delay"]),
        )
        waiting.max_attempts, waiting.error = job["max_attempts"], None
        waiting.attempts = waiting.failed = waiting.crashed = waiting.interrupted = 0
        waiting.version += 1
        waiting.lines += not waiting.became
        waiting.became = True
        return waiting.id, "replaced"

    def remember(self, job_id: str, job: dict[str, Any]) -> None:
        if job["sequence"] is not None:
            self.sequences[job["tenant"], job["kind"], job["newest"]] = (job["sequence"], job_id)

    def _same(self, name: tuple[str, str, str | None], status: str) -> Row | None:
        found = [
            row for row in self.rows.values() if (row.tenant, row.kind, row.newest) == name and row.status == status
        ]
        assert len(found) < 2 or name[2] is None
        return found[0] if found and name[2] is not None else None

    def _free(self, row: Row) -> None:
        waiting = self._same((row.tenant, row.kind, row.newest), "queued")
        if waiting is not None and waiting.behind:
            waiting.behind = False
            waiting.version += 1

    def claim(self, owner: str, lanes: list[Any], limit: int, lease_ms: int, *, alone: bool = False) -> list[Row]:
        due = [
            row
            for row in self.rows.values()
            if row.status == "queued"
            and row.alone == alone
            and not row.behind
            and not row.waits_for
            and row.due <= self.now
            and row.queue not in self.paused
            and (row.queue, row.kind, row.payload_version) in lanes
        ]
        taken = sorted(due, key=lambda row: (row.priority, row.due, row.id))[:limit]
        for row in taken:
            row.status, row.owner, row.until = "in_progress", owner, self.now + lease_ms
            row.token += 1
            row.attempts += 1
            row.version += 1
        return taken

    def held(self, job_id: str, token: int) -> Row | None:
        row = self.rows.get(job_id)
        return row if row and row.status == "in_progress" and row.token == token else None

    def finish(self, job_id: str, token: int, outcome: str, *, expired: bool = False) -> bool:
        row = self.held(job_id, token)
        if row is None or (expired and row.until >= self.now):
            return False
        status, wait, error = self._decide(row, outcome)
        successor = self._same((row.tenant, row.kind, row.newest), "queued")
        overtaken = successor is not None and (row.sequence is not None or status == "queued")
        if overtaken:
            self.successors[row.id] = successor.id
            status, wait, error = "cancelled", None, "Superseded"
        if wait is not None:
            row.due = self.now + wait
        returned = outcome == "returned" and not overtaken
        row.error = None if returned else error or row.error
        row.result = '"done"' if returned else None
        row.failed += outcome in ("raised", "permanent", "after")
        row.crashed += outcome in ("crashed", "crashed alone")
        if outcome not in ("stopped", "unstarted", "crashed"):  # a run that ended by itself clears a suspect
            row.alone = outcome in ("suspected", "crashed alone") and status == "queued"
        row.interrupted += outcome == "stopped"
        row.attempts -= outcome in ("stopped", "unstarted", "snoozed", "suspected")
        row.token += expired
        row.version += 1
        row.lines += not returned
        row.became = row.became and returned
        row.end(status if status == "completed" or not row.asked_to_stop else "cancelled", self.now)
        self.endings += row.ended is not None
        self._free(row)
        return True

    def _decide(self, row: Row, outcome: str) -> tuple[str, int | None, str | None]:  # noqa: PLR0911  # one for each ending
        exhausted = row.attempts >= row.max_attempts
        back_off = min(60_000, 1_000 * 2**row.attempts)
        match outcome:
            case "returned":
                return "completed", None, None
            case "permanent":
                return "failed", None, "Wrong"
            case "raised" | "after":
                wait = 5_000 if outcome == "after" else back_off
                return ("dead_letter", None, "Wrong") if exhausted else ("queued", wait, "Wrong")
            case "crashed" | "crashed alone":
                if exhausted or row.crashed + 1 == MAX_CRASHES:
                    return "dead_letter", None, "Crash"
                return "queued", back_off if row.crashed else 0, "Crash"
            case "suspected":
                return "queued", 0, "Crash"
            case "snoozed":
                return "queued", 7_000, None
            case "abandoned":
                return "cancelled", None, "Cancelled"
            case _:
                return "queued", None, None

    def cancel(self, job_id: str, *, graceful: bool, tenant: str | None) -> str | None:
        row = self.rows.get(job_id)
        if row is None or row.ended is not None or tenant not in (None, row.tenant):
            return None
        left = row.status
        if left == "in_progress" and graceful:
            if row.asked_to_stop:
                return None
            row.asked_to_stop = True
        else:
            row.asked_to_stop = row.asked_to_stop or left == "in_progress"
            row.token += left == "in_progress"
            row.error = "Cancelled"
            row.end("cancelled", self.now)
            self._free(row)
        row.version += 1
        if row.ended is not None:
            self.over(row)
        return left

    def retry(self, job_id: str) -> bool:
        row = self.rows.get(job_id)
        if row is None or row.status not in ("failed", "dead_letter"):
            return False
        name = (row.tenant, row.kind, row.newest)
        if self._same(name, "queued") or self._same(name, "in_progress"):
            return False
        if row.sequence is not None and self.sequences[name][0] > row.sequence:
            return False
        row.end("queued", self.now)
        row.alone = False
        row.due, row.error, row.result, row.asked_to_stop = self.now, None, None, False
        row.attempts = row.failed = row.crashed = 0
        row.version += 1
        self._revive(job_id)
        return True

    def sweep(self, keep_ms: int) -> int:
        old = [
            row.id
            for row in self.rows.values()
            if row.ended is not None
            and row.ended < self.now - keep_ms
            and not (isinstance(row.key_until, int) and row.key_until > self.now)
            and not any(row.id in child.parents for child in self.rows.values() if child.ended is None)
        ]
        for job_id in old:
            self.gone[job_id] = self.rows[job_id].status
            del self.rows[job_id]
        return len(old)
