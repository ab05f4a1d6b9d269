"""Jobs that wait for a person, run by real workers."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from holdfast.engine import sealing
from holdfast.webhooks import new_secret
from tests.patience import wait_for
from tests.servers.postgres import server
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgres"])
def workshop(request, tmp_path: Path, monkeypatch):
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    if request.param == "sqlite":
        with Workshop(tmp_path) as shop:
            yield shop
        return
    url = server().migrated()
    try:
        with Workshop(tmp_path, url=url) as shop:
            yield shop
    finally:
        server().drop(url)


def start(workshop, *options):
    return workshop.start(*options, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))


def test_parked_jobs_hold_no_place_and_go_on_with_what_was_given(workshop):
    start(workshop, "--coroutines", 1, "--alone", 1)
    asked = [workshop.enqueue("asks"), workshop.enqueue("asks"), workshop.enqueue("asks_alone")]
    wait_for(lambda: {workshop.job(one).status for one in asked} == {"awaiting_auth"}, "all are parked")
    (quick,) = workshop.ended(workshop.enqueue("quick"))
    assert quick.status == "completed"
    assert {workshop.job(one).attempts for one in asked} == {0}
    assert sorted(workshop.app.resume(key="example.org", data={"cookie": "c"})) == sorted(asked)
    jobs = workshop.ended(*asked)
    assert [(job.status, job.result, job.attempts) for job in jobs] == [("completed", {"cookie": "c"}, 1)] * 3
    assert workshop.count("auth_data is not null") == 0


def test_nobody_comes_and_the_watchdog_ends_it(workshop):
    start(workshop)
    (job,) = workshop.ended(workshop.enqueue("asks", {"expires": 0.2}))
    assert (job.status, job.error["code"]) == ("dead_letter", "AUTH_EXPIRED")
    workshop.app.retry(job.id)
    wait_for(lambda: workshop.job(job.id).parks == 1, "it asks again")


def test_an_answer_survives_the_death_of_the_worker(workshop):
    first = start(workshop)
    job_id = workshop.enqueue("asks")
    wait_for(lambda: workshop.job(job_id).status == "awaiting_auth", "it is parked")
    first.kill()
    workshop.app.resume(job_id, data={"cookie": "c"})
    start(workshop)
    (job,) = workshop.ended(job_id)
    assert job.result == {"cookie": "c"}


def test_whoever_stops_a_worker_is_told_what_it_waits_for(tmp_path: Path):
    with Workshop(tmp_path) as workshop:
        worker = start(workshop)
        workshop.begun(workshop.enqueue("nap", {"seconds": 60}))
        worker.process.send_signal(signal.SIGINT)
        line = "stopping: waiting up to 5 s for 1 run; press Ctrl-C again to stop at once"
        wait_for(lambda: line in workshop.errors(), "the line")
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(10) == 0
        assert workshop.errors().count("stopping:") == 1
