"""A request that never ends does not hold its connection for ever."""

from __future__ import annotations

from time import monotonic, sleep

import pytest

from tests.http.site import running_site

PATIENCE = 0.5
BODY = b"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    with running_site(tmp_path_factory.mktemp("hasty"), request_seconds=PATIENCE) as site:
        yield site


@pytest.mark.parametrize("begin", [b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_headers_that_never_end_are_cut_off(hasty, begin):
    with hasty.raw() as client:
        client.sendall(begin)
        answer = client.recv(65536)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert client.recv(65536) == b""


@pytest.mark.parametrize("begin", [b"GET / HTTP/1.1\r\n", BODY])
def test_a_client_that_trickles_wins_no_time(hasty, begin):
    with hasty.raw() as client:
        client.sendall(begin)
        began = monotonic()
        try:
            while monotonic() - began < 8:
                client.sendall(b"X-Header: 1\r\n")
                sleep(0.05)
        except OSError:  # the other end has closed
            assert monotonic() - began < 5
            return
    pytest.fail("it was never cut off")


def test_a_connection_that_is_kept_is_used_again(hasty):
    with hasty.raw() as client:
        for _ in range(3):
            client.sendall(b"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b'"ok"}'):
                answer += client.recv(65536)
            sleep(PATIENCE * 0.8)


def test_a_long_poll_is_not_cut_off(hasty):
    job_id = hasty.post("/v1/jobs", {"type": "a"}).json["id"]
    assert hasty.get(f"/v1/jobs/{job_id}?wait={PATIENCE * 2}").status == 200
