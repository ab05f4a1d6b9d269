"""How long a request may take to arrive.

The body of a request that wants one is timed where it is read, with an answer that says so. This is for the rest: a
client whose headers never end, or that goes on sending a body nobody reads, would hold its connection for ever.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 20.0  # from the first byte to the last; more than a body may take, so that its own answer comes first
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 30\r\n\r\n"
    b"the request took too long here"
)
_ARRIVING = (h11.IDLE, h11.SEND_BODY)


def protocol_with(seconds: float) -> type[H11Protocol]:
    """Uvicorn's protocol, with an end to its patience."""

    class Patient(H11Protocol):
        """Closes a connection whose request has not arrived in time."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_request()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state in _ARRIVING:
                self._await_request()
            else:
                self._forget()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _await_request(self) -> None:
            if self._deadline is None:  # one that trickles does not win time with every byte
                self._deadline = self.loop.call_later(seconds, self._give_up)

        def _forget(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _give_up(self) -> None:
            self._deadline = None
            if self.transport.is_closing():
                return
            if self.conn.our_state is h11.IDLE:  # nothing was answered yet
                self.transport.write(_TOO_SLOW)
            self.transport.close()

    return Patient
