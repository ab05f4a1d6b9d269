"""The same server over HTTP: on this machine alone, and for those who have the token."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from tests.patience import wait_for
from tests.pipelines.capture.asker import SERVER, Asker, environment_of, processes_of

TOKEN = "a-token-of-a-test-that-is-long-enough"  # noqa: S105


@contextmanager
def served(home, *arguments: str):
    """A server on a port of its own; answers the port."""
    server = subprocess.Popen(
        [sys.executable, *SERVER, "--http", "127.0.0.1:0", *arguments], stderr=subprocess.PIPE, text=True,
        env=environment_of(home) | {"HOLDFAST_CAPTURE_TOKEN": TOKEN}, cwd=home.project,
    )  # fmt: skip
    try:
        line = next(line for line in server.stderr if "http://" in line)
        assert TOKEN not in line
        yield int(re.search(r"http://127\.0\.0\.1:(\d+)/mcp", line)[1])
        server.send_signal(signal.SIGTERM)
        server.stderr.read()
        assert server.wait(30) in (0, -signal.SIGTERM)
    finally:
        server.kill()
        server.wait()
        server.stderr.close()


@asynccontextmanager
async def bearing(headers: dict[str, str], port: int):
    async with (
        httpx2.AsyncClient(headers=headers) as client,
        streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=client) as streams,
    ):
        yield streams


@pytest.mark.slow
def test_a_client_with_the_token_is_answered_and_others_are_not(home):
    home.event("UserPromptSubmit", prompt="hello")
    with served(home) as port:
        for sent in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {TOKEN}x"}):
            assert status(port, sent) == 401
        good = {"Authorization": f"Bearer {TOKEN}"}
        assert status(port, good | {"Host": "evil.example"}) == 421
        assert status(port, good | {"Origin": "http://evil.example"}) == 403
        with Asker(home, transport=bearing(good, port)) as asker:
            assert asker.data("search_learnings", query="x")["results"] == []
            assert asker.resource("learnings://stats")["learnings"] == 0
            assert "LEARNING_NOT_FOUND" in asker.error("get_learning", id="x")
    wait_for(lambda: not processes_of(home), "the worker ends with it")


def status(port: int, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        body = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
        accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request("POST", "/mcp", body, accepted | headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("address", "token", "said"),
    [
        ("0.0.0.0:8322", TOKEN, "--http serves this machine alone"),
        ("8322", TOKEN, "--http takes HOST:PORT"),
        ("127.0.0.1:99999", TOKEN, "--http takes HOST:PORT"),
        ("127.0.0.1:0", "", "set HOLDFAST_CAPTURE_TOKEN to a secret of at least 32 characters"),
        ("127.0.0.1:0", "short", "set HOLDFAST_CAPTURE_TOKEN to a secret of at least 32 characters"),
    ],
)
def test_an_address_or_a_token_that_cannot_be_is_told(home, address, token, said):
    done = subprocess.run(
        [sys.executable, *SERVER, "--http", address], env=environment_of(home) | {"HOLDFAST_CAPTURE_TOKEN": token},
        cwd=home.project, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
    assert not home.folder.exists()
