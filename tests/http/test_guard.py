"""Who may speak to the door, and what every answer carries."""

from __future__ import annotations

import pytest

from holdfast.http.guard import SECURITY_HEADERS

GOOD_HOSTS = ["127.0.0.1", "127.0.0.1:80", "localhost", "localhost:{port}", "LOCALHOST:1", "[::1]", "[::1]:{port}"]
BAD_HOSTS = [
    "example.com", "example.com:{port}", "127.0.0.1.example.com", "localhost.example.com", "127.0.0.1@example.com",
    "example.com:127.0.0.1", "127.0.0.2", "::1", "[::2]", "", "localhost:80:80", "localhost.",
    "127.0.0.1:x", "2130706433", "localhost\t.example.com",
]  # fmt: skip


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_loopback_names_are_answered(quiet_site, host):
    assert quiet_site.get("/v1/health/live", headers={"Host": host.format(port=quiet_site.port)}).status == 200


@pytest.mark.parametrize("host", BAD_HOSTS)
@pytest.mark.parametrize("path", ["/", "/v1/jobs", "/metrics", "/static/style.css", "/nothing"])
def test_other_names_are_not_answered(quiet_site, host, path):
    reply = quiet_site.get(path, headers={"Host": host.format(port=quiet_site.port)})

    assert reply.status in (400, 421)
    assert b"WRONG_HOST" in reply.body or reply.status == 400


def test_two_host_headers_are_refused(quiet_site):
    with quiet_site.raw() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: example.com\r\n\r\n")
        assert connection.recv(100).split()[1] in (b"400", b"421")


def test_no_host_header_is_refused(quiet_site):
    with quiet_site.raw() as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(100).split()[1] in (b"400", b"421")


SENDERS = [
    ({}, True),
    ({"Origin": "http://127.0.0.1:{port}"}, True),
    ({"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}, True),
    ({"Sec-Fetch-Site": "none"}, True),
    ({"Host": "localhost:5", "Origin": "http://localhost:5"}, True),
    ({"Origin": "http://localhost:{port}"}, False),
    ({"Origin": "http://127.0.0.1:3000"}, False),
    ({"Origin": "https://127.0.0.1:{port}"}, False),
    ({"Origin": "http://127.0.0.1:{port}.example.com"}, False),
    ({"Origin": "http://example.com"}, False),
    ({"Origin": "null"}, False),
    ({"Origin": ""}, False),
    ({"Origin": "file://"}, False),
    ({"Sec-Fetch-Site": "cross-site"}, False),
    ({"Sec-Fetch-Site": "same-site"}, False),
    ({"Sec-Fetch-Site": "SAME-ORIGIN"}, False),
    ({"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"}, False),
]
WRITES = {"/v1/jobs": {"type": "a"}, "/v1/queues/default/pause": {}, "/v1/dead-letter/purge": {"all": True}}


@pytest.mark.parametrize(("headers", "taken"), SENDERS, ids=range(len(SENDERS)))
def test_writes_come_from_our_own_pages_or_from_programs(site, headers, taken):
    given = {name: value.format(port=site.port) for name, value in headers.items()}

    for path, body in WRITES.items():
        reply = site.post(path, body, headers=given)
        assert (reply.status < 300) is taken, (path, reply)
        assert taken or (reply.status, reply.json["code"]) == (403, "CROSS_SITE")
    assert len(site.app.jobs()) == taken


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200), ("GET", "/v1/jobs", 200), ("GET", "/static/style.css", 200), ("GET", "/metrics", 200),
        ("GET", "/nothing", 404), ("DELETE", "/v1/jobs", 405), ("GET", "/v1/jobs?limit=x", 400),
        ("GET", "/openapi.json", 200), ("HEAD", "/v1/events", 200), ("GET", "/static/nothing", 404),
    ],
)  # fmt: skip
def test_every_answer_carries_the_security_headers(quiet_site, method, path, status):
    reply = quiet_site.send(method, path)

    assert reply.status == status
    for name, value in SECURITY_HEADERS.items():
        assert reply.headers[name.lower()] == value
    assert "server" not in reply.headers
    assert not [name for name in reply.headers if name.startswith("access-control")]
    assert reply.headers["cache-control"] in ("no-store", "no-cache")


def test_refusals_of_the_guard_carry_the_security_headers(site):
    for reply in (
        site.get("/", headers={"Host": "example.com"}),
        site.post("/v1/jobs", {"type": "a"}, headers={"Origin": "null"}),
    ):
        assert reply.headers["content-security-policy"] == SECURITY_HEADERS["Content-Security-Policy"]


def test_the_policy_allows_no_inline_script_and_no_frame():
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_a_page_of_another_site_gets_no_permission_to_read(quiet_site):
    reply = quiet_site.send(
        "OPTIONS", "/v1/jobs", headers={"Origin": "http://example.com", "Access-Control-Request-Method": "POST"}
    )
    assert reply.status == 405
    assert not [name for name in reply.headers if name.startswith("access-control")]
