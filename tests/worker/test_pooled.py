"""A real worker behind PgBouncer in transaction mode: nothing of a session lasts, and nothing of the work needs it to."""

from __future__ import annotations

import os
import signal
import time

import pytest

from holdfast.model.status import Status
from tests.patience import wait_for, within
from tests.servers.pgbouncer import bouncer
from tests.servers.postgres import server
from tests.worker.workshop import Workshop, tell

pytestmark = pytest.mark.slow

WARNING = "PgBouncer in transaction mode swallows LISTEN"
EARS = 2  # the supervisor's and the child's


@pytest.fixture
def open_workshop(request, tmp_path, monkeypatch):
    """A workshop behind the pooler; the signal may go past it."""

    def opened(*, past_the_pooler=False):
        url = server().migrated()
        request.addfinalizer(lambda: server().drop(url))
        monkeypatch.setenv("HOLDFAST_SIGNAL", url if past_the_pooler else "store")
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # where the workers of a host meet
        shop = Workshop(tmp_path, url=bouncer().before(url))
        shop.__enter__()
        request.addfinalizer(lambda: shop.__exit__(None))
        return shop

    return opened


def pick_up(workshop):
    """Seconds from the enqueue's call to the handler's first line."""
    begun = time.time()
    (job,) = workshop.ended(workshop.enqueue("stamp"))
    return job.result - begun


def test_jobs_are_done_and_the_log_says_once_why_nothing_is_heard(open_workshop):
    workshop = open_workshop()
    worker = workshop.start()
    ids = [*workshop.enqueue_many("quick", 100), *(workshop.enqueue("quick") for _ in range(20))]
    assert {(job.status, job.attempts) for job in workshop.ended(*ids)} == {(Status.COMPLETED, 1)}
    assert sorted(line.id for line in workshop.lines("began")) == sorted(ids)
    wait_for(lambda: workshop.errors().count(WARNING) == EARS, "both ears to say why")
    assert max(pick_up(workshop) for _ in range(3)) < 1.7  # by polling
    assert workshop.errors().count(WARNING) == EARS
    assert "Traceback" not in workshop.errors()
    assert bouncer().sessions(workshop.url) >= 3  # so two transactions in a row met two sessions
    assert worker.process.poll() is None


def test_leases_are_kept_runs_are_cancelled_and_the_dead_are_replaced(open_workshop):
    workshop = open_workshop()
    workshop.start()
    kept, stopped = (workshop.enqueue("nap", {"seconds": seconds}) for seconds in (3, 3600))
    for job_id in (kept, stopped):
        workshop.begun(job_id)
    assert workshop.app.cancel(stopped)["status"] == "cancelled"
    wait_for(lambda: workshop.lines("stopped", id=stopped), "the stop")
    (job,) = workshop.ended(kept)
    assert (job.status, job.attempts) == (Status.COMPLETED, 1)
    crashed = workshop.enqueue("nap", {"seconds": 1})
    os.kill(workshop.begun(crashed).pid, signal.SIGKILL)
    (job,) = workshop.ended(crashed)
    assert (job.status, job.crashed) == (Status.COMPLETED, 1)


def test_a_signal_past_the_pooler_wakes_at_once(open_workshop):
    workshop = open_workshop(past_the_pooler=True)
    workshop.start()
    pick_up(workshop)
    took = []
    for _ in range(11):
        time.sleep(0.1)
        took.append(pick_up(workshop) * 1000)
    took.sort()
    tell("pick-up through PgBouncer, told past it, ms", {"p50": round(took[5], 1), "worst": round(took[-1], 1)})
    assert took[5] < within(150)
    assert WARNING not in workshop.errors()
