"""A receiver that is slow, endless or broken costs a worker little time and little memory."""

from __future__ import annotations

import gzip
import socket
import threading
import tracemalloc
from contextlib import ExitStack
from time import monotonic

import pytest

from holdfast.deliveries import attempts_of
from holdfast.testing import drain
from holdfast.webhooks.sending import MOST_READ
from tests.webhooks.receiver import OK, receiving

HEAD = b"HTTP/1.1 200 OK\r\n"


def attempt(app, script, *, timeout=1.0, **settings):
    """The delivery after one attempt, its record, and how long it took."""
    with receiving(script, **settings) as receiver:
        app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[receiver.port])
        app.webhooks.add(
            "there", f"http://127.0.0.1:{receiver.port}/", secrets=["whsec_" + "A" * 43 + "="], timeout=timeout
        )
        handle = app.webhooks.deliver("there", "ping", {"n": 1})
        began = monotonic()
        drain(app)
        seconds = monotonic() - began
    job = handle.job()
    return job, attempts_of(job)[-1], seconds


def drip(first: bytes, piece: bytes, pause: float = 0.02):
    """Send, and go on sending a little, for ever."""

    def script(connection: socket.socket) -> None:
        connection.sendall(first)
        while not threading.Event().wait(pause):
            connection.sendall(piece)

    return script


def flood(first: bytes, piece: bytes, sent: list[int]):
    """Send, and go on sending as much as goes through, up to a gigabyte."""

    def script(connection: socket.socket) -> None:
        connection.sendall(first)
        for _ in range(2**30 // len(piece)):
            connection.sendall(piece)
            sent.append(len(piece))

    return script


@pytest.mark.parametrize(
    "script",
    [
        lambda connection: connection.recv(1),
        drip(b"", b"H"),
        drip(HEAD, b"X: y\r\n"),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        drip(b"HTTP/1.1 103 Early Hints\r\n", b"X: y\r\n"),
        drip(b"HTTP/1.1 200 OK\r\nContent-Le", b"n"),
    ],
    ids=["silent", "letter by letter", "header by header", "interim answers", "an interim head", "half a head"],
)
def test_a_receiver_that_never_comes_to_its_answer_is_given_up_in_time(app, script):
    job, record, seconds = attempt(app, script, timeout=0.5)
    assert (job.status, job.error["code"], record["error"]) == ("queued", "WEBHOOK_UNREACHABLE", "timeout")
    assert seconds < 5


@pytest.mark.parametrize(
    "script",
    [
        drip(HEAD + b"Content-Length: 1000000\r\n\r\n", b"x"),
        drip(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        drip(HEAD + b"\r\n", b"x"),
    ],
    ids=["by length", "in chunks", "until the end"],
)
def test_a_success_counts_though_its_body_never_ends(app, script):
    job, record, seconds = attempt(app, script, timeout=0.5)
    assert (job.status, record["status"], record["cut"]) == ("completed", 200, True)
    assert seconds < 5


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (HEAD + b"Content-Length: 1073741824\r\n\r\n", b"x" * 65_536),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b"x" * 0x8000 + b"\r\n"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"\0" * 10_000_000)),
    ],
    ids=["by length", "in chunks", "a bomb"],
)
def test_of_a_huge_body_little_is_read_and_nothing_unpacked(app, first, piece):
    sent: list[int] = []
    tracemalloc.start()
    try:
        job, record, _ = attempt(app, flood(first, piece, sent), timeout=5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (job.status, record["status"], record["cut"]) == ("completed", 200, True)
    assert record["bytes"] <= MOST_READ
    assert sum(sent) < 64 * 2**20  # what fits into the buffers of the system, not a gigabyte
    assert peak < 20 * 2**20


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (HEAD, b"X: " + b"y" * 1000 + b"\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 40),
        (HEAD + b"X: ", b"y" * 1000),
    ],
    ids=["headers", "interim answers", "one header"],
)
def test_a_head_that_does_not_end_is_no_answer(app, first, piece):
    job, record, seconds = attempt(app, flood(first, piece, []), timeout=5)
    assert (job.status, record["error"]) == ("queued", "protocol")
    assert seconds < 4


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"", "protocol"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "protocol"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "protocol"),
        (b"HTTP/1.1 20", "protocol"),
        (b"HTTP/1.1 999999 X\r\n\r\n", "protocol"),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "protocol"),
    ],
)
def test_what_is_no_answer_is_tried_again(app, answer, what):
    job, record, _ = attempt(app, answer)
    assert (job.status, record["error"]) == ("queued", what)
    assert "OpenSSH" not in str(job.error)  # what a stranger sends is not repeated


def test_a_receiver_that_reads_nothing_is_given_up_in_time(app):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[port])
        app.webhooks.add("deaf", f"http://127.0.0.1:{port}/", secrets=["whsec_" + "A" * 43 + "="], timeout=0.5)
        handle = app.webhooks.deliver("deaf", "ping", "x" * 200_000)
        began = monotonic()
        drain(app)
    assert monotonic() - began < 5
    assert attempts_of(handle.job())[0]["error"] == "timeout"


def test_a_receiver_that_takes_no_connection_is_given_up_in_time(app, secret):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as crowd:
        port = full.getsockname()[1]
        for _ in range(4):  # more than the system keeps for it: what comes next is left without an answer
            one = crowd.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[port])
        app.webhooks.add("full", f"http://127.0.0.1:{port}/", secrets=[secret], timeout=0.5)
        handle = app.webhooks.deliver("full", "ping")
        drain(app)
    assert attempts_of(handle.job())[0]["error"] == "timeout"


def test_a_port_that_nobody_listens_on_is_tried_again(app, secret):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[port])
    app.webhooks.add("gone", f"http://127.0.0.1:{port}/", secrets=[secret])
    handle = app.webhooks.deliver("gone", "ping")
    drain(app)
    assert (handle.status(), attempts_of(handle.job())[0]["error"]) == ("queued", "connection")


def test_a_name_without_an_address_is_tried_again(app, named, secret):
    app.webhooks.add("nowhere", "https://nowhere.test/", secrets=[secret])
    handle = app.webhooks.deliver("nowhere", "ping")
    drain(app)
    assert (handle.status(), attempts_of(handle.job())[0]["error"]) == ("queued", "dns")


def test_a_name_server_that_hangs_is_given_up_in_time(app, secret, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(30) and [])
    app.webhooks.add("slow", "https://slow.test/", secrets=[secret], timeout=0.5)
    handle = app.webhooks.deliver("slow", "ping")
    began = monotonic()
    drain(app)
    seconds = monotonic() - began
    over.set()
    assert (handle.status(), attempts_of(handle.job())[0]["error"]) == ("queued", "timeout")
    assert seconds < 5


def test_the_next_address_is_tried_where_the_first_takes_no_connection(app, named, secret):
    with receiving(OK, host="127.0.0.2") as receiver:
        named.table["two.test"] = [["127.0.0.1", "127.0.0.2"]]
        app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[receiver.port])
        app.webhooks.add("two", f"http://two.test:{receiver.port}/", secrets=[secret])
        handle = app.webhooks.deliver("two", "ping")
        drain(app)
    assert handle.status() == "completed"


def secure(app, named, secret, receiver, name="hooks.test"):
    named.table[name] = [["127.0.0.1"]]
    app.webhooks.allow(private=["127.0.0.0/8"], ports=[receiver.port])
    app.webhooks.add("secure", f"https://{name}:{receiver.port}/", secrets=[secret], timeout=2)
    handle = app.webhooks.deliver("secure", "ping")
    drain(app)
    return handle.job()


def test_over_tls_the_name_is_asked_for_and_the_certificate_is_its(app, named, secret, trusted):
    with receiving(secure=True) as receiver:
        job = secure(app, named, secret, receiver)
    assert (job.status, receiver.names) == ("completed", ["hooks.test"])
    assert receiver.requests[0].headers["host"] == f"hooks.test:{receiver.port}"


def test_a_certificate_of_another_name_is_refused(app, named, secret, trusted):
    with receiving(secure=True) as receiver:
        job = secure(app, named, secret, receiver, name="other.test")
    assert (job.status, receiver.requests) == ("queued", [])
    assert "certificate of other.test is not valid" in job.error["message"]


def test_a_certificate_of_an_unknown_authority_is_refused(app, named, secret):
    with receiving(secure=True) as receiver:
        job = secure(app, named, secret, receiver)
    assert (job.status, receiver.requests) == ("queued", [])
    assert attempts_of(job)[0]["error"] == "tls"


def test_a_receiver_without_tls_gets_nothing_readable(app, named, secret):
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def listen():
            connection, _ = plain.accept()
            with connection:
                heard.append(connection.recv(65_536))
                connection.sendall(OK)

        thread = threading.Thread(target=listen)
        thread.start()
        named.table["hooks.test"] = [["127.0.0.1"]]
        port = plain.getsockname()[1]
        app.webhooks.allow(private=["127.0.0.0/8"], ports=[port])
        app.webhooks.add("secure", f"https://hooks.test:{port}/", secrets=[secret], timeout=2)
        handle = app.webhooks.deliver("secure", "ping", "a body that is not for everyone")
        drain(app)
        thread.join()
    assert b"not for everyone" not in heard[0]
    assert attempts_of(handle.job())[0]["error"] == "tls"
