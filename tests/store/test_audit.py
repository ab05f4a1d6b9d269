"""What is left of jobs that a person deleted."""

from __future__ import annotations

from holdfast.engine import jobs
from tests.store.given import DAY, NEWEST, NOON, dead, enqueue, write


def audited(store, **where):
    asked = {"before": NEWEST, "limit": 100, "tenant": None} | where
    return store.read(lambda tx: tx.audited(**asked))


def purge(store, *ids, actor="ann"):
    return write(store, lambda tx: jobs.delete(tx, [tx.get(one) for one in ids], actor=actor))


def forget(store, audit_ms):
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=audit_ms))


def test_a_line_tells_who_deleted_what_and_when_and_no_payload(store):
    job_id = dead(store, kind="poison", queue="images", tenant="acme", payload='{"secret":"x"}')
    assert purge(store, job_id) == 1
    (line,) = audited(store)
    del line["id"]
    assert line == {
        "at": "2025-01-16T12:00:00.000Z", "actor": "ann", "act": "purge", "tenant": "acme", "queue": "images",
        "type": "poison", "jobs": [job_id],
    }  # fmt: skip


def test_jobs_of_one_lane_share_a_line(store):
    same = [dead(store) for _ in range(3)]
    other = dead(store, kind="print")
    hers = dead(store, tenant="her")
    assert purge(store, *same, other, hers, actor=None) == 5
    lines = audited(store)
    assert {(line["type"], line["tenant"]): line["jobs"] for line in lines} == {
        ("mail", ""): same, ("print", ""): [other], ("mail", "her"): [hers],
    }  # fmt: skip
    assert {line["actor"] for line in lines} == {None}
    assert [line["jobs"] for line in audited(store, tenant="her")] == [[hers]]


def test_what_was_not_deleted_leaves_no_line(store):
    assert purge(store, enqueue(store)) == 0
    assert purge(store) == 0
    assert audited(store) == []


def test_lines_are_listed_newest_first_below_a_cursor(store, clock):
    ids = []
    for _ in range(3):
        clock.forward(1)
        ids.append(dead(store))
        purge(store, ids[-1])
    lines = audited(store)
    assert [line["jobs"] for line in lines] == [[one] for one in reversed(ids)]
    assert audited(store, limit=1) == lines[:1]
    assert audited(store, before=lines[0]["id"]) == lines[1:]


def test_a_line_outlives_its_jobs_and_goes_when_it_is_old(store, clock):
    purge(store, dead(store))
    clock.forward(90 * DAY)
    write(store, lambda tx: tx.sweep_ended({"dead_letter": 1, "completed": 1}, "", 100))
    forget(store, 90 * DAY)
    assert len(audited(store)) == 1
    clock.forward(1)
    forget(store, 90 * DAY)
    assert audited(store) == []
    assert clock.now == NOON + 90 * DAY + 1
