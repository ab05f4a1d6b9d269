"""Judges the partition story by three witnesses: the log outside the store, every move a trigger wrote down, the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from tests.patience import within

WITNESS = """
create table moves (
    number bigserial primary key, id text, old_status text, new_status text, old_token integer, new_token integer,
    old_until timestamptz, new_until timestamptz, at timestamptz);
create function witness() returns trigger language plpgsql as $$
begin
    insert into moves (id, old_status, new_status, old_token, new_token, old_until, new_until, at)
    values (new.id, old.status, new.status, old.lease_token, new.lease_token, old.lease_until, new.lease_until,
        clock_timestamp());
    return null;
end $$;
create trigger witness after update of status, lease_token on job_queue for each row execute function witness();
"""
MOVES = """
select id, old_status, new_status, old_token, new_token, extract(epoch from old_until - at)::float8,
    extract(epoch from new_until - at)::float8
from moves order by number
"""
ROWS = "select id, status, result #>> '{}', lease_token from job_queue"
SLACK = within(3.0)  # seconds from the end of a lease to its recovery: the watchdog's turn, and a busy machine


class Line(NamedTuple):
    """What a run wrote down."""

    word: str
    id: str
    token: int
    host: str
    at: float
    wall: float


class Cut(NamedTuple):
    """One partition, by the clock that all share."""

    host: str
    kind: str
    at: float
    healed: float
    back: float  # when the host was seen to begin a run again


def read_log(path: Path) -> list[Line]:
    """All lines, in the order in which they were written."""
    if not path.exists():
        return []
    parts = [line.split(" ") for line in path.read_text().splitlines()]
    return [Line(one[0], one[1], int(one[2]), one[3], float(one[4]), float(one[5])) for one in parts]


def judge(
    url: str, lines: list[Line], cuts: list[Cut], *, stored: list[str], lease: float
) -> tuple[dict[str, Any], dict[str, int]]:
    """What happened, and what must not have happened, each counted."""
    with psycopg.connect(url) as connection:
        moves = connection.execute(MOVES).fetchall()
        rows = connection.execute(ROWS).fetchall()
    runs = runs_of(lines)
    overrun = [-left for _, old, _, of, new, left, _ in moves if old == "in_progress" and new > of]
    ended = {(line.id, line.token) for line in lines if line.word == "returned"}
    kept = {(job_id, token) for job_id, _, _, token in rows}
    happened = {
        "jobs": len(rows),
        "runs": sum(map(len, runs.values())),
        "cuts": dict(Counter(cut.kind for cut in cuts)),
        "leases that ran out": len(overrun),
        "late endings": len(ended - kept),
        "latest recovery after a lease": round(max(overrun, default=0.0), 1),
        "longest way back": round(max((cut.back - cut.healed for cut in cuts), default=0.0), 1),
    }
    wrong = {
        "needless runs": needless(runs, cuts),
        "slow recoveries": sum(seconds > SLACK for seconds in overrun),
        "leases ended early": sum(seconds < 0 for seconds in overrun),
        "leases of another length": odd_leases(moves, lease),
        **by_rows(rows, moves, stored),
        **by_log(rows, runs, ended),
    }
    return happened, wrong


def runs_of(lines: list[Line]) -> dict[str, list[Line]]:
    """Job -> the beginnings of its runs, by token."""
    runs: dict[str, list[Line]] = defaultdict(list)
    for line in sorted((one for one in lines if one.word == "began"), key=lambda one: one.token):
        runs[line.id].append(line)
    return runs


def needless(runs: dict[str, list[Line]], cuts: list[Cut]) -> int:
    """Jobs that ran again although the host of the run before was never cut off meanwhile."""
    return sum(
        not any(cut.host == before.host and cut.at < after.at and before.at < cut.back for cut in cuts)
        for beginnings in runs.values()
        for before, after in pairwise(beginnings)
    )


def by_rows(rows: list[tuple[Any, ...]], moves: list[tuple[Any, ...]], stored: list[str]) -> dict[str, int]:
    completed = Counter(job_id for job_id, _, new, *_ in moves if new == "completed")
    return {
        "lost": len(set(stored) - {row[0] for row in rows}),
        "never completed": sum(row[1] != "completed" for row in rows),
        "not completed exactly once": sum(completed[job_id] != 1 for job_id in stored),
        "moves after the end": sum(old == "completed" for _, old, *_ in moves),
        "results of another token": sum(result != f"{job_id}/{token}" for job_id, _, result, token in rows),
    }


def by_log(rows: list[tuple[Any, ...]], runs: dict[str, list[Line]], ended: set[tuple[str, int]]) -> dict[str, int]:
    """The log alone: the result is of a run that returned, and no other run of the job began after that one."""
    results = [(job_id, int((result or "/0").rpartition("/")[2])) for job_id, _, result, _ in rows]
    return {
        "results nobody returned": sum(run not in ended for run in results),
        "stale finishes accepted": sum(line.token > token for job_id, token in results for line in runs[job_id]),
        "tokens used twice": sum(count > 1 for count in Counter(
            (line.id, line.token) for beginnings in runs.values() for line in beginnings
        ).values()),
    }  # fmt: skip


def odd_leases(moves: list[tuple[Any, ...]], lease: float) -> int:
    """The server's clock says until when a lease lasts, whatever clock the host has that takes it."""
    return sum(new == "in_progress" and not lease - 1 < left <= lease for _, _, new, *_, left in moves)
