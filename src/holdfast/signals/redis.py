"""Signals through Redis: one channel, published to after each commit. Nothing is kept there, and nothing is trusted."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis

CHANNEL = "holdfast"
_ANSWER_SECONDS = 5.0


class RedisNetwork:
    """`redis://host:6379/0?channel=holdfast`, or `rediss://` with TLS."""

    errors = (redis.RedisError, OSError)

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        settings = dict(parse_qsl(parts.query))
        self._channel = settings.pop("channel", CHANNEL)
        self._url = urlunsplit(parts._replace(query=urlencode(settings)))
        self.name = f"redis at {parts.hostname or 'localhost'}"

    def connect(self, *, hear: bool) -> RedisLine:
        """A new connection: one that hears, or one that only tells."""
        client = redis.Redis.from_url(
            self._url,
            socket_connect_timeout=_ANSWER_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            socket_keepalive=True,
            health_check_interval=10,  # a server that vanished without a word is noticed
            retry=None,  # who calls knows when to try again
        )
        return RedisLine(client, self._channel, hear=hear)


class RedisLine:
    """One connection."""

    def __init__(self, client: Any, channel: str, *, hear: bool) -> None:
        self._client = client
        self._channel = channel
        self._ear = client.pubsub(ignore_subscribe_messages=True) if hear else None
        if self._ear is not None:
            self._ear.subscribe(channel)

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
            heard.append(message["data"])
        return heard

    def close(self) -> None:
        """Hang up."""
        if self._ear is not None:
            self._ear.close()
        self._client.close()
