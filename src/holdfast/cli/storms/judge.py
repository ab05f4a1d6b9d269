"""Judges a storm by four witnesses: what users were told, the handlers' log, the database's trigger, and the rows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from holdfast.cli.storms.application import DOOMED
from holdfast.model.status import MOVES, TERMINAL, Status

if TYPE_CHECKING:
    from holdfast.cli.storms.feed import Feed

LEGAL = {(left.value, reached.value) for left, moves in MOVES.items() for _, reached in moves}
_HERE = Path(__file__).parent


class Row(NamedTuple):
    """A job after the storm."""

    id: str
    type: str
    status: str
    result: str | None
    token: int
    attempts: int
    max_attempts: int
    crashed: int

    @property
    def result_token(self) -> int | None:
        """The token under which its result was made."""
        return None if self.result is None else json.loads(self.result)["token"]


class Move(NamedTuple):
    """One change, as the trigger saw it."""

    id: str
    left: str
    reached: str
    old_token: int
    new_token: int
    result: str | None


class Evidence(NamedTuple):
    """Everything a verdict rests on."""

    rows: dict[str, Row]
    moves: list[Move]
    began: set[tuple[str, int]]
    returned: set[tuple[str, int]]
    whole: bool


def query(name: str) -> str:
    """The text of a query of the storm."""
    return (_HERE / f"{name}.sql").read_text(encoding="utf-8")


def gather(database: Path, log: Path) -> Evidence:
    """Read the witnesses."""
    connection = apsw.Connection(str(database))
    try:
        whole = connection.execute(query("integrity")).fetchall() == [("ok",)]
        rows = [Row._make(row) for row in connection.execute(query("rows"))]
        moves = [Move._make(row) for row in connection.execute(query("moves"))]
    finally:
        connection.close()
    runs: dict[str, set[tuple[str, int]]] = {"began": set(), "returned": set()}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        word, job_id, token = line.split(" ")
        runs[word].add((job_id, int(token)))
    return Evidence({row.id: row for row in rows}, moves, runs["began"], runs["returned"], whole)


def counted(seen: Evidence) -> dict[str, int]:
    """What happened."""
    finished = {(move.id, move.old_token) for move in seen.moves if move.reached == Status.COMPLETED}
    statuses = Counter(row.status for row in seen.rows.values())
    return {
        "jobs": len(seen.rows),
        "claims": sum(move.reached == Status.IN_PROGRESS for move in seen.moves),
        "runs": len(seen.began),
        "late or lost finishes": len(seen.returned - finished),
        **{status.value: statuses[status] for status in sorted(TERMINAL)},
    }


def wrong(seen: Evidence, feed: Feed) -> dict[str, int]:
    """What must not have happened, each counted: all must be 0."""
    rows = seen.rows
    return {
        "jobs lost": sum(job_id not in rows for job_id in feed.enqueued),
        "jobs never ended": sum(row.status not in TERMINAL for row in rows.values()),
        "steady jobs that did not complete": sum(_gave_up(row) for row in rows.values()),
        "acknowledged results changed": sum(_result(rows[job_id]) != told for job_id, told in feed.results.items()),
        "acknowledged cancels undone": sum(rows[job_id].status != Status.CANCELLED for job_id in feed.cancelled),
        "too many attempts": sum(row.attempts > row.max_attempts for row in rows.values()),
        "damaged database": int(not seen.whole),
    } | _by_moves(seen)


def _gave_up(row: Row) -> bool:
    expected = {Status.COMPLETED, Status.CANCELLED} | ({Status.FAILED} if row.type == "hopeless" else set())
    return row.type not in DOOMED and row.status in TERMINAL and row.status not in expected


def _result(row: Row) -> Any:
    return None if row.result is None else json.loads(row.result)


def _by_moves(seen: Evidence) -> dict[str, int]:
    tokens: dict[str, int] = {}
    broken = 0
    for move in seen.moves:
        claim = move.left != move.reached and move.reached == Status.IN_PROGRESS
        grown = move.new_token - move.old_token
        broken += tokens.get(move.id, 0) != move.old_token or (grown != 1 if claim else grown not in (0, 1))
        tokens[move.id] = move.new_token
    broken += sum(tokens.get(row.id, 0) != row.token for row in seen.rows.values())
    ended = Counter((move.id, move.old_token) for move in seen.moves if move.left == Status.IN_PROGRESS)
    completed = [row for row in seen.rows.values() if row.status == Status.COMPLETED]
    last_run: dict[str, int] = {}
    for job_id, token in seen.began:
        last_run[job_id] = max(token, last_run.get(job_id, 0))
    return {
        "illegal moves": sum((move.left, move.reached) not in LEGAL for move in seen.moves),
        "tokens out of order": broken,
        "runs ended twice": sum(times > 1 for times in ended.values()),
        # The handler's own log says under which token it returned, and that nobody began after it.
        "stale finishes accepted": sum(
            row.result_token != row.token or (row.id, row.token) not in seen.returned or last_run[row.id] > row.token
            for row in completed
        ),
    }
