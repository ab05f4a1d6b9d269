"""Follow-ups and transactions of handlers, in real workers: all of an ending is there, or nothing of it.

Full size: HOLDFAST_DOOMED=100 pytest -s tests/worker/test_followers.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.model.status import Status
from tests.patience import wait_for
from tests.servers.postgres import server
from tests.worker.followers import SPEC
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow

DOOMED = size("HOLDFAST_DOOMED", 3)
WINDOW = 0.012  # seconds: about as long as a handler's end takes to become durable


@pytest.fixture(params=["sqlite", "postgres"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workshop]:
    url = server().migrated() if request.param == "postgres" else None
    with Workshop(tmp_path, url=url) as one:
        with one.app.transaction() as tx:
            tx.execute("create table ledger (id text)")
        yield one
    if url is not None:
        server().drop(url)


def ledger(shop: Workshop) -> Counter[str]:
    with shop.app.transaction() as tx:
        return Counter(row[0] for row in tx.execute("select id from ledger"))


def followed(shop: Workshop) -> Counter[str]:
    return Counter(job.payload["of"] for job in shop.app.jobs(type="following", limit=1000))


def test_every_kind_of_handler_leaves_its_follow_up_and_ends_its_run_itself(shop: Workshop):
    shop.start(spec=SPEC)
    asked = [shop.enqueue(kind) for kind in ("ask_loop", "ask_thread", "ask_alone", "ask_alone_loop")]
    written = [shop.enqueue(kind) for kind in ("write_loop", "write_awaited", "write_thread", "write_alone")]
    for job in shop.ended(*asked, *written):
        assert (job.status, job.attempts) == (Status.COMPLETED, 1), job.error
        assert job.result == ("asked" if job.id in asked else "written")
    shop.settled()
    assert followed(shop) == dict.fromkeys(asked + written, 1)
    assert ledger(shop) == dict.fromkeys(written, 1)


def test_a_kill_between_the_handler_s_end_and_the_commit_leaves_all_or_nothing(shop: Workshop):
    shop.start("--processes", 2, spec=SPEC)
    kinds = ("ask_loop", "ask_thread", "ask_alone", "write_loop", "write_awaited", "write_thread", "write_alone")
    doomed = []
    for _ in range(DOOMED):
        batch = [shop.enqueue(kind, {"doom": WINDOW}, max_attempts=20) for kind in kinds]
        shop.ended(*batch)
        doomed += batch
    shop.settled()
    jobs = [shop.job(one) for one in doomed]
    assert {job.status for job in jobs} == {Status.COMPLETED}
    tell("attempts of jobs whose first run was killed on its way out", Counter(job.attempts for job in jobs))
    assert followed(shop) == dict.fromkeys(doomed, 1)
    assert ledger(shop) == {job.id: 1 for job in jobs if job.type.startswith("write")}


@pytest.mark.parametrize("shop", ["sqlite"], indirect=True)
def test_a_handler_may_take_its_time_after_its_transaction(shop: Workshop):
    worker = shop.start(spec=SPEC)
    ids = [shop.enqueue(kind, {"rest": 2}) for kind in ("write_thread", "write_alone")]
    for job in shop.ended(*ids):
        assert job.result == "written"
    children = set(shop.children(worker))
    for one in ids:
        wait_for(lambda one=one: shop.lines("returned", id=one), "the handler came back by itself")
    assert [shop.job(one).attempts for one in ids] == [1, 1]
    assert len(children & set(shop.children(worker))) >= 1, "nobody was replaced for it"


@pytest.mark.parametrize("shop", ["sqlite"], indirect=True)
def test_a_cancel_comes_before_the_transaction(shop: Workshop):
    shop.start(spec=SPEC)
    job_id = shop.enqueue("write_late")
    shop.begun(job_id)
    shop.app.cancel(job_id)
    wait_for(lambda: shop.lines("LEASE_LOST", id=job_id), "the block was rolled back")
    assert (shop.job(job_id).status, ledger(shop)) == (Status.CANCELLED, {})
