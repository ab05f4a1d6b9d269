"""What lets children go, or takes them along, finds them by their keys, however many other jobs there are."""

from __future__ import annotations

import re

import pytest

from holdfast.model.request import NewJob
from tests.store.given import insert

QUERIES = (
    "parents_any", "parents_hold", "parents_count", "parents_block", "parents_settle", "parents_children",
    "parents_release", "parents_fell", "parents_follow", "parents_fallen", "parents_edges_hold", "parents_edges",
    "parents_reopen", "parents_rename", "parents_revive", "parents_of", "children_of", "purge", "purge_parents",
    "parents_leave", "parents_falling", "parents_take",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("analysed", [False, True])
def test_families_are_found_by_their_keys(sqlite_store, query, analysed):
    parents = [one.id for one in insert(sqlite_store, *(NewJob("mail", "{}") for _ in range(300)))]
    insert(sqlite_store, *(NewJob("child", "{}", depends_on=[one]) for one in parents))
    if analysed:
        sqlite_store._writer.execute("analyze")
    text = sqlite_store.queries[query]
    rows = sqlite_store._writer.raw.execute("explain query plan " + text, dict.fromkeys(re.findall(r":(\w+)", text)))
    steps = [detail for *_, detail in rows]
    walked = [step for step in steps if re.search(r"SCAN (job_queue|job_parents|e|c|p)\b", step)]
    assert walked == [] or query == "parents_any", steps  # which reads one row
