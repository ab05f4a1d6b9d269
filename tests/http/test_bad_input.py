"""Whatever is sent, the answer is a problem with a code, and nothing is stored."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from tests.http.site import running_site

JSON = {"Content-Type": "application/json"}
NOT_FOUND = "/v1/jobs/01JHQ8Y3M0G5V7T2K4N6P8R0SD"

BODIES = [
    (b"{", "PAYLOAD_NOT_JSON"),
    (b"nonsense", "PAYLOAD_NOT_JSON"),
    (b"\xff\xfe", "PAYLOAD_NOT_JSON"),
    ("{}".encode("utf-16"), "PAYLOAD_NOT_JSON"),
    (b"\xef\xbb\xbf{}", "PAYLOAD_NOT_JSON"),
    (b"{} {}", "PAYLOAD_NOT_JSON"),
    (b'{"type": NaN}', "PAYLOAD_NOT_JSON"),
    (b'{"type": "a", "payload": {"x": -Infinity}}', "PAYLOAD_NOT_JSON"),
    (b'{"type": "a", "payload": {"x": 1e999}}', "PAYLOAD_NOT_JSON"),
    (b'{"type": "a", "payload": {"x": ' + b"9" * 5000 + b"}}", "PAYLOAD_NOT_JSON"),
    (b'{"type": "a", "type": "b"}', "PAYLOAD_NOT_JSON"),
    (b'{"type": "a", "payload": {"x": 1, "x": 2}}', "PAYLOAD_NOT_JSON"),
    (b'{"type": "a", "payload": {"x": "\\ud800"}}', "PAYLOAD_NOT_JSON"),
    (b'{"type": "a\x00"}', "PAYLOAD_NOT_JSON"),
    (b"[" * 500_000, "PAYLOAD_TOO_DEEP"),
    (b'{"type": "a", "payload": ' + b'{"x": ' * 70 + b"1" + b"}" * 71, "PAYLOAD_TOO_DEEP"),
    (b"null", "BAD_OPTION"),
    (b'"type"', "BAD_OPTION"),
    (b"5", "BAD_OPTION"),
    (b"{}", "BAD_OPTION"),
    (b"[1]", "BAD_OPTION"),
    (b"[[]]", "BAD_OPTION"),
    (b'[[{"type": "a"}]]', "BAD_OPTION"),
    (b"", "BAD_OPTION"),
]


@pytest.mark.parametrize(("body", "code"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_no_request_is_refused(quiet_site, body, code):
    reply = quiet_site.send("POST", "/v1/jobs", body, JSON)

    assert (reply.status, reply.json["code"]) == (400, code)
    assert reply.headers["content-type"] == "application/problem+json"
    assert quiet_site.app.jobs() == []


FIELDS = [
    ({"type": 5}, "BAD_OPTION"),
    ({"type": None}, "BAD_OPTION"),
    ({"type": ""}, "BAD_NAME"),
    ({"type": "x" * 256}, "BAD_NAME"),
    ({"type": "a\u0000b"}, "BAD_NAME"),
    ({"type": "a\nb"}, "BAD_NAME"),
    ({"type": "\u202eevil"}, "BAD_NAME"),
    ({"payload": None}, "BAD_OPTION"),
    ({"payload": []}, "BAD_OPTION"),
    ({"payload": "{}"}, "BAD_OPTION"),
    ({"queue": ""}, "BAD_NAME"),
    ({"queue": 1}, "BAD_OPTION"),
    ({"priority": "1"}, "BAD_OPTION"),
    ({"priority": 0}, "PRIORITY_OUT_OF_RANGE"),
    ({"priority": 1.5}, "BAD_OPTION"),
    ({"priority": True}, "BAD_OPTION"),
    ({"delay": -1}, "BAD_DATE"),
    ({"delay": "5"}, "BAD_OPTION"),
    ({"delay": 1e300}, "BAD_DATE"),
    ({"scheduled_at": "tomorrow"}, "BAD_DATE"),
    ({"scheduled_at": "2025-01-01T00:00:00"}, "BAD_DATE"),
    ({"scheduled_at": 5}, "BAD_OPTION"),
    ({"scheduled_at": "2031-01-01T00:00:00Z", "delay": 1}, "BAD_DATE"),
    ({"key": ""}, "BAD_NAME"),
    ({"key_window": 60}, "BAD_OPTION"),
    ({"key": "k", "key_window": "forever"}, "BAD_OPTION"),
    ({"max_attempts": 0}, "BAD_OPTION"),
    ({"timeout": 0}, "BAD_OPTION"),
    ({"context": {"password": "x"}}, "BAD_OPTION"),
    ({"context": "x"}, "BAD_OPTION"),
    ({"status": "completed"}, "BAD_OPTION"),
    ({"lease_token": 5}, "BAD_OPTION"),
    ({"__proto__": {}}, "BAD_OPTION"),
    ({"<script>": 1}, "BAD_OPTION"),
]


@pytest.mark.parametrize(("fields", "code"), FIELDS, ids=range(len(FIELDS)))
def test_a_field_that_cannot_be_is_refused(quiet_site, fields, code):
    reply = quiet_site.post("/v1/jobs", {"type": "a"} | fields)

    assert (reply.status, reply.json["code"]) == (400, code), reply.json
    assert quiet_site.app.jobs() == []


def test_a_refusal_never_repeats_a_value(quiet_site):
    reply = quiet_site.post("/v1/jobs", {"type": "a", "priority": "hunter2", "payload": "hunter2"})

    assert reply.status == 400
    assert b"hunter2" not in reply.body


QUERIES = [
    "/v1/jobs?limit=0", "/v1/jobs?limit=201", "/v1/jobs?limit=x", "/v1/jobs?limit=-1", "/v1/jobs?limit=1e3",
    "/v1/jobs?limit=99999999999999999999999", "/v1/jobs?status=done", "/v1/jobs?status=", "/v1/jobs?type=",
    "/v1/jobs?order=type", "/v1/jobs?type=a&type=b", "/v1/jobs?view=all", "/v1/jobs?before=" + "x" * 65,
    "/v1/jobs?type=" + "x" * 256, "/v1/stats?x=1", "/v1/queues?x=1", "/v1/events?x=1",
    f"{NOT_FOUND}?wait=61", f"{NOT_FOUND}?wait=-1", f"{NOT_FOUND}?wait=nan", f"{NOT_FOUND}?wait=inf",
    f"{NOT_FOUND}?since=x", f"{NOT_FOUND}?since=-1", f"{NOT_FOUND}?since=1.5", "/v1/dead-letter?limit=201",
    "/v1/dead-letter?status=completed",
]  # fmt: skip


@pytest.mark.parametrize("path", QUERIES)
def test_a_query_that_cannot_be_is_refused(quiet_site, path):
    reply = quiet_site.get(path)

    assert (reply.status, reply.json["code"]) == (400, "BAD_OPTION")


HOSTILE = [
    "' or 1=1 --", "'; drop table job_queue; --", '" or ""="', "%' or type like '%", "\\", "a' union select 1 --",
    "$(id)", "../../etc/passwd", "<script>alert(1)</script>", "{{7*7}}", "\u202e", "\r\nSet-Cookie: a=b",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_any_filter_finds_nothing_and_harms_nothing(site, text):
    site.post("/v1/jobs", {"type": "a"})
    part = quote(text, safe="")

    for name in ("type", "queue", "group", "tenant"):
        reply = site.get(f"/v1/jobs?{name}={part}")
        assert (reply.status, reply.json["items"]) == (200, []), name
    assert site.get(f"/v1/jobs?status={part}").status == 400
    assert site.get(f"/v1/jobs?before={part}").status == 200
    assert site.get(f"/v1/dead-letter?type={part}").json["items"] == []
    assert len(site.app.jobs()) == 1


@pytest.mark.parametrize("text", [*HOSTILE, "\x00"])
def test_hostile_text_in_a_path_finds_nothing_and_harms_nothing(quiet_site, text):
    part = quote(text, safe="")

    for path in (f"/v1/jobs/{part}", f"/v1/jobs/{part}/explain", f"/v1/jobs/{part}/history"):
        reply = quiet_site.get(path)
        assert (reply.status, reply.headers["content-type"]) == (404, "application/problem+json")
        assert "set-cookie" not in reply.headers
    for verb in ("cancel", "retry"):
        assert quiet_site.post(f"/v1/jobs/{part}/{verb}").status == 404


@pytest.mark.parametrize("path", ["cancel", "retry"])
@pytest.mark.parametrize("body", [b'{"mode": "now"}', b'{"mode": null}', b'{"x": 1}', b"[]", b"5"])
def test_a_verb_on_a_job_takes_no_strange_body(quiet_site, path, body):
    assert quiet_site.send("POST", f"{NOT_FOUND}/{path}", body, JSON).json["code"] == "BAD_OPTION"


@pytest.mark.parametrize("path", ["/v1/dead-letter/retry", "/v1/dead-letter/purge"])
@pytest.mark.parametrize("value", [{"limit": 0}, {"limit": 501}, {"limit": "5"}, {"typ": "x"}, {"type": 5}, []])
def test_a_mistyped_filter_touches_no_dead_letter(site, path, value):
    site.dead()

    assert site.post(path, value).json["code"] == "BAD_OPTION"
    assert len(site.get("/v1/dead-letter").json["items"]) == 1


TYPES = [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp",
    "application/json; charset=latin-1", "", "application/vnd.api+json",
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_a_body_of_another_type_is_refused(quiet_site, kind):
    reply = quiet_site.send("POST", "/v1/jobs", b'{"type": "a"}', {"Content-Type": kind})

    assert (reply.status, reply.json["code"]) == (415, "NOT_JSON_CONTENT")


def test_a_body_without_a_type_is_refused(quiet_site):
    assert quiet_site.send("POST", "/v1/jobs", b'{"type": "a"}').status == 415


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
def test_json_may_be_declared_with_its_character_set(site, kind):
    assert site.send("POST", "/v1/jobs", b'{"type": "a"}', {"Content-Type": kind}).status == 202


def test_a_compressed_body_is_refused(quiet_site):
    assert quiet_site.send("POST", "/v1/jobs", b"x", JSON | {"Content-Encoding": "gzip"}).status == 415


def test_a_body_over_the_limit_is_refused_by_its_declared_length(quiet_site):
    reply = quiet_site.send("POST", "/v1/jobs", b" " * (1024 * 1024 + 1), JSON)

    assert (reply.status, reply.json["code"]) == (413, "BODY_TOO_LARGE")
    assert reply.headers["connection"] == "close"


def test_a_body_that_only_claims_to_be_large_is_refused_before_it_arrives(quiet_site):
    with quiet_site.raw() as connection:
        connection.sendall(_head(quiet_site, "Content-Length: 99999999999"))
        assert b" 413 " in connection.recv(200).split(b"\r\n")[0]


def test_a_chunked_body_over_the_limit_is_refused_before_it_ends(quiet_site):
    with quiet_site.raw() as connection:
        connection.sendall(_head(quiet_site, "Transfer-Encoding: chunked"))
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        for _ in range(17):  # a little over one MiB, and no end
            connection.sendall(chunk)
        assert b" 413 " in connection.recv(200).split(b"\r\n")[0]


def test_a_body_of_exactly_the_limit_is_read(site):
    filler = b'{"type": "a"}'

    assert site.send("POST", "/v1/jobs", filler + b" " * (1024 * 1024 - len(filler)), JSON).status == 202


def test_a_body_that_does_not_come_is_given_up(tmp_path):
    with running_site(tmp_path, body_seconds=0.2) as site, site.raw() as connection:
        connection.sendall(_head(site, "Content-Length: 100") + b'{"type"')
        assert b" 408 " in connection.recv(200).split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/jobs", {"GET", "HEAD", "POST"}),
        ("PUT", "/v1/stats", {"GET", "HEAD"}),
        ("GET", "/v1/dead-letter/purge", {"POST"}),
        ("POST", "/", {"GET", "HEAD"}),
        ("OPTIONS", "/v1/jobs/x", {"GET", "HEAD"}),
        ("BREW", "/v1/workers", {"GET", "HEAD"}),
    ],
)
def test_another_method_is_refused_with_those_that_go(quiet_site, method, path, allowed):
    reply = quiet_site.send(method, path)

    assert (reply.status, reply.json["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert set(reply.headers["allow"].replace(" ", "").split(",")) == allowed


@pytest.mark.parametrize("path", ["/v1", "/v1/jobs/", "/v1/nothing", "/V1/jobs", "//v1/jobs", "/docs", "/v1/jobs/x/y"])
def test_an_unknown_path_is_not_found(quiet_site, path):
    reply = quiet_site.get(path)

    assert (reply.status, reply.json["code"]) == (404, "NO_SUCH_PATH")


def test_the_wrong_end_of_a_long_list_is_named(quiet_site):
    reply = quiet_site.post("/v1/jobs", [{"type": "a"}] * 3 + [{"type": 1}])

    assert "item 3 of the list: type" in json.dumps(reply.json)


def _head(site, line: str) -> bytes:
    return (
        f"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nContent-Type: application/json\r\n{line}\r\n\r\n"
    ).encode()
