"""What a client gets that does not speak as it should: an answer, and a server that goes on."""

from __future__ import annotations

import io
import json

import anyio
import pytest

from holdfast_pipelines.capture.mcp.requests import LONGEST, Requests, fault
from tests.pipelines.capture.asker import raw_server

PING = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n'
WRONG = [
    (b"no JSON\n", None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"\n', None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}\n', None, -32700),
    (b"[" * 100_000 + b"\n", None, -32700),
    (b"[" + PING.strip() + b"]\n", None, -32600),
    (b"[]\n", None, -32600),
    (b'"text"\n', None, -32600),
    (b"{}\n", None, -32600),
    (b'{"id": 1, "method": "ping"}\n', 1, -32600),
    (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}\n', "a", -32600),
    (b'{"jsonrpc": "2.0", "id": 1}\n', 1, -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 5}\n', 1, -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}\n', 1, -32600),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}\n', None, -32600),
    (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}\n', None, -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', None, -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}\n', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n', None, -32600),
]
UNANSWERED = [
    b"\n",
    b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": 5}\n',
    b'{"jsonrpc": "2.0", "id": {}, "result": {}}\n',
    b'{"jsonrpc": "2.0", "error": {}}\n',
]


@pytest.mark.parametrize(("line", "name", "code"), WRONG)
def test_what_is_no_request_is_told_so(line, name, code):
    found = fault(line)
    assert (found.id, found.error.code) == (name, code)


@pytest.mark.parametrize("line", [PING, *UNANSWERED])
def test_what_is_a_request_or_expects_no_answer_is_handed_on(line):
    assert fault(line) is None


def read(given: bytes) -> tuple[list[str], list[str]]:
    """What is handed on, and what is answered."""

    async def reading() -> tuple[list[str], list[str]]:
        send, receive = anyio.create_memory_object_stream(100)
        with receive:
            with send:
                lines = Requests(io.BytesIO(given), longest=100)
                lines.begin(send)
                handed = [line async for line in lines]
            return handed, [answer.message.error.message async for answer in receive]

    return anyio.run(reading)


@pytest.mark.parametrize("beyond", [-1, 0, 1, 5, 1_000], ids="{:+}".format)
def test_a_line_is_bounded_to_the_byte_and_the_next_one_is_read(beyond):
    line = PING.strip().ljust(99 + beyond) + b"\n"
    handed, answered = read(line + PING)
    assert handed == [line.decode(), PING.decode()][beyond > 0 :]
    assert answered == ["a line has 100 bytes at most"] * (beyond > 0)


@pytest.mark.slow
def test_a_client_that_errs_is_answered_and_the_server_goes_on(home):
    server = raw_server(home, "--no-worker")
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    ready = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    try:
        for line in (WRONG[0][0], json.dumps(hello).encode() + b"\n"):
            server.stdin.write(line)
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["error"]["code"] == -32700
        assert json.loads(server.stdout.readline())["id"] == 0
        for line in (ready, *UNANSWERED, *(line for line, *_ in WRONG), b"x" * (LONGEST + 1) + b"\n", PING):
            server.stdin.write(line)
        server.stdin.flush()
        for _, name, code in [*WRONG, (b"", None, -32600)]:
            told = json.loads(server.stdout.readline())
            assert (told["id"], told["error"]["code"]) == (name, code)
        assert json.loads(server.stdout.readline()) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    finally:
        rest, _ = server.communicate(timeout=60)
    assert (rest, server.returncode) == (b"", 0)
