"""Requests to others are bounded, whatever the other side does; and a contract is what its source says."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Self

import pytest

from holdfast_pipelines.providers import registry
from holdfast_pipelines.providers.ipfs import BLOCK, Kubo, cid_of
from holdfast_pipelines.providers.outside import BadAddress, Garbled, Host, Refused, Unreachable, parsed
from tests.patience import within
from tests.servers import anvil, kubo


class Rude:
    """A server that sends what it likes, byte by byte if need be."""

    def __init__(self, *parts: bytes, pause: float = 0.0) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked = b""
        self._parts, self._pause = parts, pause
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            self.asked = connection.recv(65_536)
            try:
                for part in self._parts:
                    connection.sendall(part)
                    time.sleep(self._pause)
            except OSError:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._thread.join()


def ask(rude: Rude, **limits: float) -> bytes:
    return Host(rude.url, **limits).post("/x?y=1", b"body", "text/plain")


def test_a_good_answer_is_its_body():
    with Rude(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") as rude:
        assert ask(rude) == b"ok"
        assert rude.asked.startswith(b"POST /x?y=1 HTTP/1.1\r\n")


def test_a_host_that_drips_is_left_in_time():
    drip = [b"HTTP/1.1 200 OK\r\n", *[b"X-More: 1\r\n"] * 600]
    with Rude(*drip, pause=0.05) as rude:
        started = time.monotonic()
        with pytest.raises((Unreachable, Garbled)):
            ask(rude, patience=0.4)
        assert time.monotonic() - started < within(2)


def test_a_host_that_says_nothing_is_left_in_time():
    with Rude(b"", pause=1) as rude, pytest.raises(Unreachable, match=r"time-out|no answer"):
        ask(rude, patience=0.2)


def test_an_endless_answer_is_cut():
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Rude(head, *[b"10000\r\n" + b"x" * 65_536 + b"\r\n"] * 200) as rude, pytest.raises(Garbled, match="more than"):
        ask(rude, largest=100_000)


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Unreachable),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", Refused),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", Refused),
        (b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", Unreachable),
        (b"", Unreachable),
    ],
)
def test_every_other_answer_has_its_name(sent, error):
    with Rude(sent) as rude, pytest.raises(error):
        ask(rude)


def test_an_address_shows_no_secret_and_its_credentials_go_into_a_header():
    with Rude(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n") as rude:
        host = Host(rude.url.replace("http://", "http://ann:hunter2@") + "/v2/token?key=abc")
        with pytest.raises(Unreachable) as caught:
            host.post("/x", b"", "text/plain")
        assert b"POST /v2/token/x?key=abc HTTP/1.1" in rude.asked
        assert b"Authorization: Basic YW5uOmh1bnRlcjI=" in rude.asked
        for secret in ("hunter2", "token", "abc"):
            assert secret not in str(caught.value) + host.name


@pytest.mark.parametrize(
    "address", ["", "localhost:5001", "ftp://x", "http://", "http://x:99999", "file:///etc/passwd"]
)
def test_an_address_that_cannot_be_is_told(address):
    with pytest.raises(BadAddress):
        Host(address)


def test_a_library_that_lets_everybody_recurse_further_is_held_back():
    program = (
        "import sys; limit = sys.getrecursionlimit(); from holdfast_pipelines.providers import registry;"
        "registry.Account('1' * 64); assert 'web3' in sys.modules; assert sys.getrecursionlimit() == limit"
    )
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)


def test_nesting_ends_in_an_error_whatever_the_limit():
    with pytest.raises(ValueError, match="deep"):
        parsed(b"[" * 100_000)


@pytest.mark.parametrize("size", [1, 127, 128, 20_000, BLOCK])
def test_the_cid_is_the_one_that_kubo_gives(size):
    content = bytes(index % 251 for index in range(size))
    node = kubo.node()
    cid = Kubo(node.url).ensure_pinned(content)
    assert cid == cid_of(content)
    assert node.ask("cat", arg=cid) == content
    Kubo(node.url).unpin(cid)
    Kubo(node.url).unpin(cid)
    assert cid not in node.pins()


def test_more_than_a_block_has_no_cid_here():
    with pytest.raises(ValueError, match="at most"):
        cid_of(b"x" * (BLOCK + 1))


def test_the_stored_bytecode_is_what_the_compiler_makes_of_the_source():
    kept = registry.compiled()
    made = anvil.compiled(Path(registry.__file__).with_name("LearningRegistry.sol").read_text())
    assert (made["compiler"], made["abi"], made["bytecode"]) == (kept["compiler"], kept["abi"], kept["bytecode"])


@pytest.mark.parametrize("key", ["", "x" * 64, "12" * 31, "0" * 64, "f" * 64])
def test_what_is_no_key_is_refused_without_being_shown(key):
    with pytest.raises(registry.BadKey) as caught:
        registry.Account(key)
    assert not key or key not in str(caught.value)
