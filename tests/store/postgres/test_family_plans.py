"""What lets children go, or takes them along, finds them by their keys, however many other jobs there are."""

from __future__ import annotations

import json
import re

import psycopg
import pytest

from holdfast.model import stamp
from holdfast.model.held import BLOCKED
from holdfast.model.request import NewJob
from holdfast.store.parents import PARENT_FAILED
from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import server
from tests.store.given import NOON, insert

NOW = stamp.to_text(NOON)
ID = "0" * 26
IDS = {"ids": f'{{"{ID}","{"1" * 26}"}}'}
PAIRS = json.dumps([[ID, 1], ["1" * 26, 2]])
ERRORS = json.dumps([[ID, "{}"]])
QUERIES = {
    "parents_hold": IDS,
    "parents_count": {"counts": PAIRS},
    "parents_block": {"jobs": json.dumps([[ID, 1, None]]), "bit": BLOCKED},
    "parents_settle": IDS,
    "parents_children": IDS,
    "parents_falling": IDS,
    "parents_take": IDS,
    "parents_release": {"counts": PAIRS, "bit": BLOCKED, "now": NOW},
    "parents_fell": {"jobs": ERRORS, "now": NOW},
    "parents_follow": {"parent": ID, "successor": "1" * 26},
    "parents_fallen": IDS | {"code": PARENT_FAILED},
    "parents_edges_hold": IDS,
    "parents_edges": IDS,
    "parents_reopen": IDS,
    "parents_rename": {"jobs": ERRORS, "now": NOW},
    "parents_revive": {"counts": PAIRS, "bit": BLOCKED, "now": NOW},
    "parents_leave": IDS,
    "parents_of": {"id": ID, "limit": 10},
    "children_of": {"id": ID, "limit": 10},
    "purge": IDS | {"statuses": "{completed,failed}"},
    "purge_hold": IDS,
    "purge_parents": IDS,
}
ROWS = 10_000


@pytest.fixture(scope="module")
def crowded():
    """Ten thousand jobs that others wait for, and as many that wait."""
    url = server().migrated()
    store = PostgresStore(url, clock=lambda: NOON)
    parents = [one.id for one in insert(store, *(NewJob("mail", "{}") for _ in range(ROWS)))]
    for start in range(0, ROWS, 2_000):
        insert(store, *(NewJob("child", "{}", depends_on=[one]) for one in parents[start : start + 2_000]))
    yield store
    store.close()
    server().drop(url)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("analysed", [False, True])
def test_families_are_found_by_their_keys(crowded, query, analysed):
    with psycopg.connect(crowded.url, autocommit=True) as connection:
        if analysed:
            connection.execute("analyze")
        (found,) = connection.execute("explain (format json) " + crowded.queries[query], QUERIES[query]).fetchone()
    told = json.dumps(found)
    walked = re.findall(r'"Node Type": "Seq Scan"[^{}]*"Relation Name": "job_(?:queue|parents)"', told)
    assert walked == [], told
