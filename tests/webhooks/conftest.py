"""Receivers, a name server, and a look at every connection that is made."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from ipaddress import ip_address

import pytest

from holdfast import App
from holdfast.testing import Clock, temporary_app
from holdfast.webhooks import new_secret
from tests.webhooks.names import NameServer
from tests.webhooks.receiver import CERTIFICATES, Receiver, receiving


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def app(clock) -> Iterator[App]:
    with temporary_app(clock) as app:
        yield app


@pytest.fixture
def secret() -> str:
    return new_secret()


@pytest.fixture
def receiver(request) -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def name_server() -> Iterator[NameServer]:
    server = NameServer()
    yield server
    server.close()


@pytest.fixture
def named(monkeypatch, name_server) -> NameServer:
    """Names are looked up at a server of the tests' own, which knows none yet."""
    name_server.forget()
    monkeypatch.setattr(socket, "getaddrinfo", name_server.getaddrinfo)
    return name_server


@pytest.fixture
def connections(monkeypatch) -> list[str]:
    """Every address that a stream is connected to, seen at the socket. What would leave the machine is turned away."""
    made: list[str] = []
    real = socket.socket.connect

    def connect(self: socket.socket, address):
        if self.family != socket.AF_UNIX and self.type == socket.SOCK_STREAM:
            made.append(address[0])
            if not ip_address(address[0]).is_loopback:
                raise ConnectionRefusedError("turned away by the test")
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    return made


@pytest.fixture
def trusted(monkeypatch) -> None:
    """The authority of the tests' receiver is one of the system's."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))


@pytest.fixture
def local(app, receiver, secret) -> Callable[..., App]:
    """An application with the endpoint `here`: the receiver, which is allowed by name of its port and network."""

    def add(path: str = "/hook", **settings) -> App:
        app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[receiver.port])
        settings.setdefault("secrets", [secret])
        app.webhooks.add("here", f"http://127.0.0.1:{receiver.port}{path}", **settings)
        return app

    return add
