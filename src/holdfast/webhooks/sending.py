"""One POST to one receiver, which may be slow, broken or hostile.

Names are looked up once; every address must be public; the connection goes to an address that was checked, so a second
answer of the name server changes nothing. Proxies of the environment are not asked, redirects not followed, nothing is
unpacked. Every wait is bounded, and so is all that is read. HTTP is read by h11; the sockets are ours, because a guard
must stand where the connection is made.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address

import h11

from holdfast.webhooks.addresses import Address
from holdfast.webhooks.target import Rules, Target, check_addresses

MOST_READ = 64 * 1024  # of the whole answer: head, interim answers and body together
_LONGEST_HEAD = 16 * 1024
_PIECE = 16 * 1024
_STEP_SECONDS = 5.0  # for a connection, a handshake, a read
_MOST_ADDRESSES = 4  # that are tried one after the other


class Unreachable(Exception):
    """No answer was had. `what` is a word for the record; the message is for a person."""

    def __init__(self, what: str, message: str) -> None:
        super().__init__(message)
        self.what = what


@dataclass(slots=True)
class Answer:
    """What a receiver said. `cut`: there was more, or it came too slowly; its status counts all the same."""

    status: int = 0
    retry_after: str | None = None
    bytes: int = 0
    cut: bool = False


async def send(
    target: Target,
    rules: Rules,
    *,
    headers: list[tuple[str, str]],
    body: bytes,
    tls: ssl.SSLContext,
    pool: Executor,
    seconds: float,
) -> Answer:
    """Post the body and answer with what the receiver said, within so many seconds in all.

    BadInput where the target may not be reached, Unreachable where it cannot be.
    """
    answer = Answer()
    try:
        async with asyncio.timeout(seconds):
            addresses = await _look_up(target, rules, pool)
            connection = await _connect(addresses, target.port)
            reader, writer = await _open(target, connection, tls)
            try:
                machine = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
                await _ask(machine, writer, _request(target, headers, body), body)
                await _hear(machine, reader, answer)
            finally:
                writer.transport.abort()
                with suppress(OSError):
                    await writer.wait_closed()
    except (OSError, h11.RemoteProtocolError) as error:  # a time-out is an OSError, and so is what TLS complains of
        if not answer.status:
            raise _unreachable(target, error) from None
        answer.cut = True
    return answer


async def _look_up(target: Target, rules: Rules, pool: Executor) -> list[Address]:
    """All addresses of the target, every one of them public."""
    if target.address is not None:
        return [target.address]
    loop = asyncio.get_running_loop()
    try:
        found = await loop.run_in_executor(pool, _addresses, target.host, target.port)
    except (socket.gaierror, UnicodeError):
        raise Unreachable(
            "dns", f"{target.host} has no address now: is the name right, and the name server up?"
        ) from None
    check_addresses(target.host, found, rules)
    return found


def _addresses(host: str, port: int) -> list[Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(ip_address(place[0]) for *_, place in found))


async def _connect(addresses: list[Address], port: int) -> socket.socket:
    """A connection to the first address that takes one. Addresses, never names: nothing is looked up again."""
    loop = asyncio.get_running_loop()
    problem: OSError = ConnectionError("no address")
    for address in addresses[:_MOST_ADDRESSES]:
        connection = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)  # noqa: PLR2004
        connection.setblocking(False)  # noqa: FBT003  # its one parameter
        try:
            async with asyncio.timeout(_STEP_SECONDS):
                await loop.sock_connect(connection, (str(address), port))
        except OSError as error:
            connection.close()
            problem = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise problem


async def _open(
    target: Target, connection: socket.socket, tls: ssl.SSLContext
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Streams on the connection; the certificate is checked for the name, not for the address behind it."""
    if not target.secure:
        return await asyncio.open_connection(sock=connection, limit=_PIECE)
    return await asyncio.open_connection(
        sock=connection, limit=_PIECE, ssl=tls, server_hostname=target.host, ssl_handshake_timeout=_STEP_SECONDS
    )


def _request(target: Target, headers: list[tuple[str, str]], body: bytes) -> h11.Request:
    return h11.Request(
        method="POST",
        target=target.path,
        headers=[
            ("Host", target.authority),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            *headers,
        ],
    )


async def _ask(machine: h11.Connection, writer: asyncio.StreamWriter, request: h11.Request, body: bytes) -> None:
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(machine.send(event) or b"")
    await writer.drain()


async def _hear(machine: h11.Connection, reader: asyncio.StreamReader, answer: Answer) -> None:
    """Read until the answer is over, or is too long: the status is what counts, its body is only measured."""
    left = MOST_READ
    while True:
        event = machine.next_event()
        if isinstance(event, h11.Response):
            answer.status = event.status_code
            answer.retry_after = _header(event, b"retry-after")
        elif isinstance(event, h11.Data):
            answer.bytes += len(event.data)
        elif event is h11.NEED_DATA:
            if left == 0:
                raise h11.RemoteProtocolError(f"the answer is longer than {MOST_READ} bytes")
            async with asyncio.timeout(_STEP_SECONDS):
                data = await reader.read(min(_PIECE, left))
            left -= len(data)
            machine.receive_data(data)
        elif not isinstance(event, h11.InformationalResponse):
            return


def _header(response: h11.Response, wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in response.headers if name == wanted), None)


def _unreachable(target: Target, error: Exception) -> Unreachable:
    """What went wrong, in a word and a sentence that repeats nothing a receiver sent."""
    if isinstance(error, TimeoutError):
        return Unreachable("timeout", f"{target.host} did not answer in time")
    if isinstance(error, ssl.SSLCertVerificationError):
        return Unreachable("tls", f"the certificate of {target.host} is not valid: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        return Unreachable("tls", f"{target.host} speaks no TLS that we take: {error.reason}")
    if isinstance(error, h11.RemoteProtocolError):
        return Unreachable("protocol", f"{target.host} sent no answer in HTTP/1.1: {type(error).__name__}")
    return Unreachable("connection", f"the connection to {target.host} failed: {type(error).__name__}")
