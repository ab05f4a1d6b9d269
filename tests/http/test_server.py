from __future__ import annotations

import threading
from time import monotonic, process_time

import pytest

from holdfast.app import App
from holdfast.http import serve, server_for
from holdfast.model.errors import BadInput
from tests.http.site import running_site
from tests.patience import wait_for


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.com", "127.0.0.1\n"])  # noqa: S104
def test_an_address_that_others_reach_is_refused(tmp_path, host):
    with App(f"sqlite:///{tmp_path / 'jobs.db'}") as app, pytest.raises(BadInput, match="no keys yet"):
        serve(app, host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_addresses_are_taken(tmp_path, host):
    with App(f"sqlite:///{tmp_path / 'jobs.db'}") as app:
        assert server_for(app, host, 0).config.host == host


def test_a_server_stops_at_once_though_clients_wait_and_listen(tmp_path):
    replies = []
    with running_site(tmp_path) as site:
        job_id = site.post("/v1/jobs", {"type": "a"}).json["id"]
        waiting = threading.Thread(target=lambda: replies.append(site.get(f"/v1/jobs/{job_id}?wait=60")))
        waiting.start()
        listening = threading.Thread(target=lambda: replies.append(site.get("/v1/events")))
        listening.start()
        wait_for(lambda: sum(map(len, site.app.watch._waiters.values())) == 1)
        wait_for(lambda: len(site.app.desk.listeners) > 1)
        began = monotonic()
    assert monotonic() - began < 30
    waiting.join(5)
    listening.join(5)
    assert [reply.status for reply in replies] == [200, 200]


@pytest.mark.slow
def test_a_hundred_thousand_jobs_are_shown_quickly(tmp_path):
    with running_site(tmp_path) as site:
        for _ in range(100):
            site.post("/v1/jobs", [{"type": f"t{number % 5}", "payload": {"n": number}} for number in range(1_000)])
        for path in (
            "/v1/stats",
            "/v1/jobs?limit=200",
            "/v1/jobs?status=completed",
            "/v1/queues",
            "/v1/dead-letter",
            "/",
        ):
            times = []
            for _ in range(5):
                began = process_time()  # server and client are this process; others may be busy beside it
                assert site.get(path).status == 200
                times.append(process_time() - began)
            assert min(times) < 0.2, (path, times)
