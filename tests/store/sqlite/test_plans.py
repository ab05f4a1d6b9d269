"""Every query that runs often reads through the index that was made for it, and never walks the table."""

from __future__ import annotations

import json
import re

import apsw
import pytest

from holdfast.model import stamp
from holdfast.model.request import NewJob
from tests.store.given import NOON, claim, insert

NOW = stamp.to_text(NOON)
LANE = {"queue": "default", "type": "mail", "payload_version": 1, "priority": 5}
LANES = json.dumps([["default", "mail", 1], ["gpu", "print", 2]])
IDS = json.dumps(["0" * 26, "1" * 26])
EVERYTHING = dict.fromkeys(("status", "type", "queue", "group", "tenant"))

KEY = r"SEARCH (job_queue|n|j) USING PRIMARY KEY \(id=\?\)"
HOT = {
    "due": (LANE | {"now": NOW, "limit": 10}, [(
        r"SEARCH job_queue USING (COVERING )?INDEX job_queue_due "
        r"\(queue=\? AND type=\? AND payload_version=\? AND priority=\? AND scheduled_at<\?\)"
    )]),
    "next_due": (LANE | {"now": NOW}, [(
        r"SEARCH job_queue USING (COVERING )?INDEX job_queue_due "
        r"\(queue=\? AND type=\? AND payload_version=\? AND priority=\? AND scheduled_at>\?\)"
    )]),
    "lanes": ({"lanes": LANES}, [
        r"SEARCH j USING (COVERING )?INDEX job_queue_due \(queue=\? AND type=\? AND payload_version=\?\)",
        r"SEARCH j USING (COVERING )?INDEX job_queue_due \(queue=\? AND type=\? AND payload_version=\? AND priority>\?\)",
    ]),
    "claim_one": ({"lanes": LANES, "owner": "w", "until": NOW, "now": NOW}, [
        KEY,
        r"SEARCH head USING PRIMARY KEY \(id=\?\)",
        r"SEARCH j USING (COVERING )?INDEX job_queue_due \(queue=\? AND type=\? AND payload_version=\?\)",
        r"SEARCH j USING (COVERING )?INDEX job_queue_due \(queue=\? AND type=\? AND payload_version=\? AND priority>\?\)",
        (
            r"SEARCH j USING (COVERING )?INDEX job_queue_due "
            r"\(queue=\? AND type=\? AND payload_version=\? AND priority=\? AND scheduled_at<\?\)"
        ),
        r"SEARCH job_looks USING PRIMARY KEY \(at<\?\)",
    ]),
    "claim": ({"ids": IDS, "owner": "w", "until": NOW, "now": NOW}, [KEY]),
    "claimed": ({"ids": IDS}, [KEY]),
    "complete": ({"ended": '{"1:0":null}', "free": 1, "now": NOW}, [KEY]),
    "finish": ({}, [KEY]),
    "renew": ({"id": "0", "token": 1, "until": NOW}, [KEY]),
    "progress": ({"id": "0", "token": 1, "progress": "{}", "now": NOW}, [KEY]),
    "expired": ({"now": NOW, "limit": 10}, [r"SEARCH job_queue USING INDEX job_queue_leases \(lease_until<\?\)"]),
    "key_holder": ({"tenant": "", "key": "k"}, [
        r"SEARCH job_queue USING INDEX job_queue_keys \(tenant=\? AND idempotency_key=\?\)"
    ]),
    "get": ({"id": "0", "tenant": None}, [KEY]),
    "list": (EVERYTHING | {"floor": "", "before": "~", "limit": 10}, [r"SEARCH job_queue USING PRIMARY KEY \(id>\? AND id<\?\)"]),
    "window": ({"before": "~", "window": 10}, [r"SEARCH job_queue USING PRIMARY KEY \(id<\?\)"]),
    "ended_window": ({"after": "", "window": 10}, [r"SEARCH job_queue USING PRIMARY KEY \(id>\?\)"]),
    "versions": ({"ids": IDS}, [KEY]),
    "due_alone": ({"now": NOW, "limit": 10}, [r"SEARCH job_queue USING (COVERING )?INDEX job_queue_alone \(scheduled_at<\?\)"]),
    "depth": ({"queue": "default", "cap": 10}, [r"SEARCH job_queue USING (COVERING )?INDEX job_queue_due \(queue=\?\)"]),
    "ahead": (LANE | {"scheduled_at": NOW, "id": "0", "cap": 10}, [(
        r"SEARCH job_queue USING (COVERING )?INDEX job_queue_due "
        r"\(queue=\? AND type=\? AND payload_version=\? AND priority=\? AND \(scheduled_at,id\)<\(\?,\?\)\)"
    )]),
    "waiting": ({"cap": 10}, [
        r"SEARCH n USING (COVERING )?INDEX job_queue_due \(queue=\? AND type=\? AND payload_version>\?\)",
        r"SEARCH n USING (COVERING )?INDEX job_queue_due \(queue=\? AND type>\?\)",
        r"SEARCH c USING (COVERING )?INDEX job_queue_due \(queue=\? AND type=\? AND payload_version=\?\)",
    ]),
    "attention": ({"before": "~", "status": "failed", "type": None, "tenant": None, "limit": 10}, [
        r"SEARCH job_queue USING INDEX job_queue_attention \(id<\?\)"
    ]),
    "cancel_waiting": ({"id": "0", "tenant": None, "now": NOW, "error": "{}"}, [KEY]),
    "cancel_running": ({"id": "0", "tenant": None, "now": NOW, "error": "{}"}, [KEY]),
    "cancel_gracefully": ({"id": "0", "tenant": None, "now": NOW}, [KEY]),
    "retry": ({"id": "0", "tenant": None, "now": NOW}, [KEY]),
    "purge": ({"id": "0", "status": "failed"}, [KEY]),
    "park": ({"id": "0", "token": 1, "auth": "{}", "auth_key": None, "until": NOW}, [KEY]),
    "parked_late": ({"now": NOW, "limit": 10}, [r"SEARCH job_queue USING INDEX job_queue_parked \(auth_until<\?\)"]),
    "parked_end": ({"id": "0", "error": "{}", "now": NOW}, [KEY]),
    "unpark": ({"answers": '[["0",null]]', "now": NOW}, [KEY]),
    "endings": ({"ids": IDS}, [KEY]),
    "history_of": ({"id": "0"}, [r"SEARCH job_history USING PRIMARY KEY \(job_id=\?\)"]),
}  # fmt: skip


@pytest.fixture
def filled(sqlite_store):
    """A store with rows of every kind, so that the planner has something to choose from."""
    insert(sqlite_store, *(NewJob("mail", "{}", priority=1 + n % 10, queue=f"q{n % 3}") for n in range(300)))
    insert(sqlite_store, *(NewJob("mail", "{}") for _ in range(50)))
    claim(sqlite_store, limit=20)
    return sqlite_store


def plan(store, query, parameters):
    text = store.queries[query]
    every = dict.fromkeys(re.findall(r":(\w+)", text)) | parameters
    rows = store._writer.raw.execute("explain query plan " + text, every)
    return [detail for *_, detail in rows]


@pytest.mark.parametrize("query", HOT)
@pytest.mark.parametrize("analysed", [False, True])
def test_a_hot_query_reads_through_its_index(filled, query, analysed):
    if analysed:
        filled._writer.execute("analyze")
    parameters, wanted = HOT[query]
    steps = plan(filled, query, parameters)
    for pattern in wanted:
        assert any(re.search(pattern, step) for step in steps), steps
    walked = [
        step
        for step in steps
        if re.search(r"SCAN (job_queue|j|n|c|p)\b(?! USING (COVERING )?INDEX job_queue_due)", step)
    ]
    assert walked == []


@pytest.mark.parametrize("query", ["due", "list", "window", "expired", "attention", "ended_window"])
def test_an_ordered_query_is_never_sorted(filled, query):
    assert [step for step in plan(filled, query, HOT[query][0]) if "TEMP B-TREE" in step] == []


def test_the_running_and_the_bad_are_walked_by_their_small_indexes(filled):
    assert plan(filled, "running", {"now": NOW})[0].startswith("SCAN job_queue USING INDEX job_queue_leases")
    assert any("job_queue_blocked" in step for step in plan(filled, "blocked_count", {"cap": 10}))
    assert any("job_queue_attention" in step for step in plan(filled, "dead_count", {"cap": 10}))
    assert plan(filled, "held_by", {"owner": "w"})[0].startswith("SCAN job_queue USING INDEX job_queue_leases")


def test_a_taken_key_is_found_by_the_index_of_keys(filled):
    """The conflict is looked up in the index of keys: one probe of it, and no step through the table."""
    connection = filled._writer.raw
    row = dict.fromkeys(re.findall(r":(\w+)", filled.queries["insert"]))
    steps = [tuple(step) for step in connection.execute("explain " + filled.queries["insert"], row)]
    roots = {root: name for name, root in connection.execute("select name, rootpage from sqlite_schema")}
    cursors = {step[2]: roots.get(step[3]) for step in steps if step[1] == "OpenWrite"}
    probed = {cursors.get(step[2]) for step in steps if step[1] == "NoConflict"}
    assert "job_queue_keys" in probed
    assert [step for step in steps if step[1] in ("Rewind", "Last") and step[2] in cursors] == []


def test_a_statement_is_planned_once_and_not_for_each_value(filled):
    said = [filled._writer.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1)]
    filled.read(lambda tx: tx.now)
    said.append(filled._reader.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1))
    assert said == [1, 1]
