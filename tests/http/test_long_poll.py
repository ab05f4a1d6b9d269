"""A wait ends with the change, not before it and not long after."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import pytest

from tests.patience import wait_for


@pytest.fixture
def job_id(site):
    return site.post("/v1/jobs", {"type": "a"}).json["id"]


def waiters(site) -> int:
    return sum(map(len, site.app.watch._waiters.values()))


def timed(site, path):
    return site.get(path), monotonic()


def progress(site, claim, done):
    assert site.app.desk.write(lambda tx: tx.progress(claim.id, claim.token, f'{{"done":{done}}}'))


def test_a_wait_ends_within_100_ms_of_a_commit_by_another_thread_and_not_before(site, job_id):
    (claim,) = site.claim("a")
    version = site.get(f"/v1/jobs/{job_id}").json["version"]
    delays = []
    with ThreadPoolExecutor() as pool:
        for done in range(5):
            waiting = pool.submit(timed, site, f"/v1/jobs/{job_id}?wait=20&since={version}")
            wait_for(lambda: waiters(site) == 1)
            sleep(0.2)
            assert not waiting.done(), "it answered before anything changed"
            progress(site, claim, done)
            committed = monotonic()
            reply, answered = waiting.result(10)
            assert reply.json["version"] == version + 1
            assert reply.json["progress"] == {"done": done}
            delays.append(answered - committed)
            version += 1
    assert sorted(delays)[2] < 0.1, delays  # the machine itself may pause once or twice


def test_a_wait_without_news_ends_with_its_time_and_the_job_as_it_is(site, job_id):
    began = monotonic()

    reply = site.get(f"/v1/jobs/{job_id}?wait=0.3&since=1")

    assert (reply.status, reply.json["version"]) == (200, 1)
    assert 0.3 <= monotonic() - began < 5


@pytest.mark.parametrize("query", ["", "wait=0", "wait=20&since=0", "since=1"])
def test_what_is_known_already_is_answered_at_once(site, job_id, query):
    began = monotonic()

    assert site.get(f"/v1/jobs/{job_id}?{query}").json["version"] == 1
    assert monotonic() - began < 5


def test_a_wait_ends_with_any_change_and_who_asks_again_learns_of_the_end(site, job_id):
    seen = []
    with ThreadPoolExecutor() as pool:
        for act in (lambda: site.claim("a"), lambda: site.app.cancel(job_id)):
            since = f"&since={seen[-1]['version']}" if seen else ""
            waiting = pool.submit(site.get, f"/v1/jobs/{job_id}?wait=20{since}")
            wait_for(lambda: waiters(site) == 1)
            act()
            seen.append(waiting.result(10).json)
    assert [job["status"] for job in seen] == ["in_progress", "cancelled"]


def test_a_job_that_has_ended_is_answered_at_once(site, job_id):
    site.app.cancel(job_id)
    began = monotonic()

    assert site.get(f"/v1/jobs/{job_id}?wait=20").json["status"] == "cancelled"
    assert monotonic() - began < 5


def test_many_waits_end_with_one_change(site, job_id):
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(site.get, f"/v1/jobs/{job_id}?wait=20&since=1") for _ in range(20)]
        wait_for(lambda: waiters(site) == 20)
        site.app.cancel(job_id)
        assert {one.result(10).json["status"] for one in waiting} == {"cancelled"}
    assert waiters(site) == 0


def test_a_client_that_goes_away_ends_its_wait(site, job_id):
    with site.raw() as connection:
        connection.sendall(f"GET /v1/jobs/{job_id}?wait=60&since=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        wait_for(lambda: waiters(site) == 1)
    wait_for(lambda: waiters(site) == 0)


def test_a_wait_for_a_job_that_vanishes_ends_with_not_found(site):
    job_id = site.dead()
    version = site.get(f"/v1/jobs/{job_id}").json["version"]
    purged = threading.Timer(0.2, lambda: site.post("/v1/dead-letter/purge", {"all": True}))
    purged.start()

    reply = site.get(f"/v1/jobs/{job_id}?wait=0.6&since={version}")

    purged.join()
    assert reply.status == 404
