"""Judges a kill storm by three witnesses: the log outside the store, the rows, and every move a trigger wrote down."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import apsw

from tests.stories.kill_worker import POLICIES

WITNESS = """
create table moves (
    number integer primary key, id text, old_status text, new_status text, old_token integer, new_token integer);
create trigger witness after update of status, lease_token on job_queue begin
    insert into moves (id, old_status, new_status, old_token, new_token)
    values (new.id, old.status, new.status, old.lease_token, new.lease_token);
end;
"""
ENDED = ("completed", "dead_letter")
LEGAL = {
    ("queued", "in_progress", 1),
    ("in_progress", "completed", 0),
    ("in_progress", "queued", 0),
    ("in_progress", "queued", 1),  # recovered
    ("in_progress", "dead_letter", 0),
    ("in_progress", "dead_letter", 1),
}


def judge(path: Path, log: Path) -> tuple[dict[str, int], dict[str, int]]:
    """What happened, and what must not have happened, each counted."""
    lines = [tuple(line.split(" ", 3)) for line in log.read_text().splitlines()]
    connection = apsw.Connection(str(path))
    try:
        whole = connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        rows = connection.execute(
            "select id, type, status, result, lease_token, attempts, max_retries, crashed from job_queue"
        ).fetchall()
        moves = connection.execute("select * from moves order by number").fetchall()
    finally:
        connection.close()
    words = Counter(line[0] for line in lines)
    happened = {
        "jobs": len(rows),
        "claims": sum(new == "in_progress" for _, _, _, new, _, _ in moves),
        "recovered": sum(new_token > old_token and old == "in_progress" for *_, old, _, old_token, new_token in moves),
        "finishes accepted": words["accepted"],
        "late finishes refused": words["refused"],
        "dead letters": sum(row[2] == "dead_letter" for row in rows),
    }
    wrong = {"harmed file": int(not whole)} | by_rows(rows, lines) | by_moves(moves, rows, lines) | by_log(lines)
    return happened, wrong


def by_rows(rows: list[tuple[Any, ...]], lines: list[tuple[str, ...]]) -> dict[str, int]:
    found = {row[0]: row for row in rows}
    kept = {job_id: result for job_id, _, status, result, *_ in rows if status == "completed"}
    results = [(line[1], line[3]) for line in lines if line[0] == "accepted" and line[3] != "failed"]
    return {
        "lost": sum(line[1] not in found for line in lines if line[0] == "enqueued"),
        "never ended": sum(row[2] not in ENDED for row in rows),
        "changed results": sum(kept.get(job_id) != result for job_id, result in results),
        "results of another token": sum(
            status == "completed" and result != f'"{job_id}/{token}"' for job_id, _, status, result, token, *_ in rows
        ),
        "too many attempts": sum(attempts > most for *_, attempts, most, _ in rows),
        "too many crashes": sum(crashed > POLICIES[kind].max_crashes for _, kind, *_, crashed in rows),
    }


def by_moves(moves: list[tuple[Any, ...]], rows: list[tuple[Any, ...]], lines: list[tuple[str, ...]]) -> dict[str, int]:
    left = Counter((job_id, old_token) for _, job_id, old, _, old_token, _ in moves if old == "in_progress")
    finished = {(job_id, old) for _, job_id, status, _, old, new in moves if status == "in_progress" and old == new}
    accepted = Counter((line[1], int(line[2])) for line in lines if line[0] == "accepted")
    tokens: dict[str, int] = {}
    broken_chains = 0
    for _, job_id, _, _, old_token, new_token in moves:
        broken_chains += tokens.get(job_id, 0) != old_token
        tokens[job_id] = new_token
    return {
        "illegal moves": sum((old, new, to - of) not in LEGAL for _, _, old, new, of, to in moves),
        "tokens out of order": broken_chains + sum(tokens.get(row[0], 0) != row[4] for row in rows),
        "runs ended twice": sum(times > 1 for times in left.values()),
        "refused, yet written": sum((line[1], int(line[2])) in finished for line in lines if line[0] == "refused"),
        "accepted without a move": sum(times > (run in finished) for run, times in accepted.items()),
    }


def by_log(lines: list[tuple[str, ...]]) -> dict[str, int]:
    """The log alone: a finish sent after a later claim was written down must be refused."""
    newest: dict[str, int] = {}
    overtaken: set[tuple[str, str]] = set()
    stale = 0
    for word, job_id, *rest in lines:
        if word == "claimed":
            newest[job_id] = max(newest.get(job_id, 0), int(rest[0]))
        elif word == "ending" and newest.get(job_id, 0) > int(rest[0]):
            overtaken.add((job_id, rest[0]))
        elif word == "accepted":
            stale += (job_id, rest[0]) in overtaken
    return {"stale finishes accepted": stale}
