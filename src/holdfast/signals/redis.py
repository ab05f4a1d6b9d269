"""Signals through Redis: one channel, published to after each commit. Nothing is kept there, and nothing is trusted."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from holdfast.model.errors import BadInput
from holdfast.signals.network import ANSWER_SECONDS

CHANNEL = "holdfast"


class RedisNetwork:
    """`redis://host:6379/0?channel=holdfast`, or `rediss://` with TLS."""

    stores_jobs = False
    suspect = "Do all processes reach the same server, or the same cluster?"

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            settings = dict(parse_qsl(parts.query))
            self._channel = settings.pop("channel", CHANNEL)
            self._url = urlunsplit(parts._replace(query=urlencode(settings)))
            redis.ConnectionPool.from_url(self._url)  # makes no connection, but reads the address
        except ValueError:
            # The address may hold a password, so nothing of it is repeated.
            raise BadInput(
                "BAD_OPTION",
                "the signal's address cannot be read: write redis://:password@host:6379/0?channel=holdfast",
            ) from None
        self.name = f"Redis at {parts.hostname or 'localhost'}"

    def connect(self, *, hear: bool) -> RedisLine:
        """A new connection: one that hears, or one that only tells."""
        client = redis.Redis.from_url(
            self._url,
            socket_connect_timeout=ANSWER_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),  # who calls knows when to try again
            single_connection_client=not hear,
        )
        return RedisLine(client, self._channel, hear=hear)


class RedisLine:
    """One connection."""

    def __init__(self, client: Any, channel: str, *, hear: bool) -> None:
        self._client = client
        self._channel = channel
        self._ear = client.pubsub() if hear else None
        if self._ear is not None:
            self._ear.subscribe(channel)
            if self._ear.get_message(timeout=ANSWER_SECONDS) is None:  # the answer to the subscription
                self.close()
                raise redis.TimeoutError("the server did not answer in time")

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears."""
        self._client.publish(self._channel, message)

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first."""
        assert self._ear is not None, "this line only tells"
        heard: list[bytes] = []
        while len(heard) < most:
            message = self._ear.get_message(timeout=0.0 if heard else seconds)
            if message is None:
                break
            if message["type"] == "message":
                heard.append(message["data"])
        return heard

    def keep(self) -> None:
        """The server asks nothing."""

    def close(self) -> None:
        """Hang up."""
        if self._ear is not None:
            self._ear.close()
        self._client.close()
