"""Every query that runs often reads through the index that was made for it, also behind rows that cannot be taken."""

from __future__ import annotations

import json
import re

import psycopg
import pytest

from holdfast.model import stamp
from holdfast.model.decide import Move
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Ending
from holdfast.store.postgres.leases import _lanes
from holdfast.store.postgres.store import PostgresStore
from tests.servers.postgres import server
from tests.store.given import NOON, claim, enqueue, insert, write

NOW = stamp.to_text(NOON)
IDS = {"ids": '{"' + "0" * 26 + '","' + "1" * 26 + '"}', "tokens": "{1,1}"}
LANES = _lanes([Lane("default", "mail"), Lane("gpu", "print", 2)])
LANE = {"queue": "default", "type": "mail", "payload_version": 1, "priority": 5}
TAKE = LANES | {"owner": "w", "until": NOW, "now": NOW, "limit": 100, "lease": 60_000, "plain": False}
HOT = {
    "claim": TAKE,
    "claim_rest": TAKE,
    "claim_on": TAKE
    | {
        "queues": "{default,gpu}",
        "types": "{mail,print}",
        "payload_versions": "{1,2}",
        "priorities": "{1,5}",
        "since": "{-infinity,-infinity}",
    },
    "due_alone": TAKE,
    "next_due": LANES | {"now": NOW},
    "renew": IDS | {"until": NOW},
    "expired": {"now": NOW, "limit": 10},
    "progress": {"id": "0", "token": 1, "progress": "{}", "now": NOW},
    "key_holder": {"tenant": "", "key": "k"},
    "get": {"id": "0", "tenant": None},
    "list": dict.fromkeys(("status", "type", "queue", "group", "tenant")) | {"floor": "", "before": "~", "limit": 10},
    "window": {"before": "~", "window": 10},
    "ended_window": {"after": "", "window": 10},
    "versions": IDS,
    "depth": {"queue": "default", "cap": 10},
    "ahead": LANE | {"scheduled_at": NOW, "id": "0", "cap": 10},
    "waiting": {"cap": 10},
    "attention": {"before": "~", "status": "failed", "type": None, "tenant": None, "limit": 10},
    "cancel_waiting": {"id": "0", "tenant": None, "now": NOW, "error": "{}"},
    "purge": {"ids": "{a,b}", "statuses": "{failed,failed}"},
    "running": {"now": NOW},
    "held_by": {"owner": "w"},
    "parked_late": {"now": NOW, "limit": 10},
    "parked": {"tenant": "", "key": "k", "group": None, "after": "", "limit": 10},
    "unpark": {"answers": '[["a",null],["b",null]]', "now": NOW},
    "endings": {"ids": "{a,b}"},
    "sequence_ended": {"ids": "{a,b}"},
}
FINISH = IDS | {
    "results": "{null,null}", "moves": "{1,1}", "statuses": "{completed}", "due": "{null}", "errors": "{null}", "give_back": "{0}",
    "failed": "{0}", "crashed": "{0}", "interrupted": "{0}", "hold": "{0}", "free": "{1}", "forced": 0,
    "expired_before": "infinity", "now": NOW,
}  # fmt: skip
# A write to a leased job goes by its id alone: the index of leases is full of dead entries in a busy house.
BY_ID = {
    "finish": FINISH,
    "renew": HOT["renew"],
    "progress": HOT["progress"],
    "cancel_running": {"id": "0", "tenant": None, "now": NOW, "error": "{}"},
    "cancel_gracefully": {"id": "0", "tenant": None, "now": NOW},
    "get": HOT["get"],
}
ROWS = 20_000


@pytest.fixture(scope="module")
def crowded():
    """Twenty thousand jobs in front that cannot be taken: for tomorrow at a better priority, of a type nobody knows."""
    url = server().migrated()
    store = PostgresStore(url, clock=lambda: NOON)
    for start in range(0, ROWS, 5_000):
        insert(store, *(NewJob("mail", "{}", priority=1, delay=86_400) for _ in range(start, start + 2_500)))
        insert(store, *(NewJob("unknown", "{}", priority=1) for _ in range(start, start + 2_500)))
    insert(store, *(NewJob("mail", "{}") for _ in range(300)))
    claim(store, limit=20)
    yield store
    store.close()
    server().drop(url)


def plan(store, query, parameters, *, really=False):
    with psycopg.connect(store.url) as connection:
        how = "explain (analyze, buffers, format json) " if really else "explain (format json) "
        (found,) = connection.execute(how + store.queries[query], parameters).fetchone()
        connection.rollback()
    return json.dumps(found)


@pytest.mark.parametrize("analysed", [False, True])
@pytest.mark.parametrize("query", HOT)
def test_a_hot_query_never_walks_the_table(crowded, query, analysed):
    if analysed:
        with psycopg.connect(crowded.url, autocommit=True) as connection:
            connection.execute("analyze")
    told = plan(crowded, query, HOT[query])
    walked = re.findall(r'"Node Type": "Seq Scan"[^{}]*"Relation Name": "job_queue"', told)
    assert walked == [], told


@pytest.mark.parametrize("query", BY_ID)
def test_a_write_to_a_lease_goes_by_its_id(crowded, query):
    told = plan(crowded, query, BY_ID[query])
    assert set(re.findall(r'"Index Name": "(\w+)"', told)) == {"job_queue_pkey"}, told


def check_frugal(told):
    """What a claim of a hundred jobs reads is about what it takes."""
    touched = [
        int(rows) * int(loops) for rows, loops in re.findall(r'"Actual Rows": (\d+), "Actual Loops": (\d+)', told)
    ]
    thrown_away = [int(rows) for rows in re.findall(r'"Rows Removed by (?:Filter|Index Recheck)": (\d+)', told)]
    assert "job_queue_due" in told
    assert max(touched) <= 200, told
    assert sum(thrown_away) <= 50, told


@pytest.mark.parametrize("query", ["claim", "claim_on", "claim_rest", "next_due"])
def test_a_claim_reads_no_more_than_it_takes(crowded, query):
    check_frugal(plan(crowded, query, HOT[query], really=True))


@pytest.fixture(scope="module", params=["none", "of an empty queue"])
def surprised(request):
    """Four thousand jobs wait, and the statistics are from a time when none did."""
    url = server().migrated()
    store = PostgresStore(url, clock=lambda: NOON)
    if request.param != "none":
        insert(store, *(NewJob("mail", "{}") for _ in range(1_000)))
        endings = [Ending(run, Move(Status.COMPLETED)) for run in claim(store, limit=1_000)]
        write(store, lambda tx: tx.finish(endings))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("vacuum analyze")
    insert(store, *(NewJob("mail", "{}") for _ in range(4_000)))
    yield store
    store.close()
    server().drop(url)


@pytest.mark.parametrize("query", ["claim", "claim_on", "claim_rest"])
def test_a_claim_reads_no_more_than_it_takes_where_the_statistics_know_of_no_queue(surprised, query):
    check_frugal(plan(surprised, query, HOT[query], really=True))


def test_a_claim_takes_the_due_job_behind_them(crowded):
    job_id = enqueue(crowded, "print", queue="gpu", payload_version=2)
    assert [run.id for run in claim(crowded, Lane("gpu", "print", 2))] == [job_id]
