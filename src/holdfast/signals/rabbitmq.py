"""Signals through RabbitMQ: a message per commit to an exchange; each ear has a queue of its own that dies with it.

Anyone may send a trigger with the body `{"job_id": ...}`: it makes workers look, and never says what is true. An
exchange that is there is used as it is; one that is not is declared.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import pika  # type: ignore[import-untyped]
from pika.exceptions import AMQPError, ChannelClosedByBroker, ConnectionClosed  # type: ignore[import-untyped]

from holdfast.model.errors import BadInput
from holdfast.signals.network import ANSWER_SECONDS

EXCHANGE = "bpc"
ROUTING_KEY = "jobs.trigger"
EXCHANGE_TYPE = "topic"
_HEARTBEAT = 10
_MOST_KEPT = 1_000  # messages in an ear's queue; older ones are dropped, and one is as good as many
_AT_ONCE = 256  # messages that the server sends ahead: what a flood can put into this process
_NOT_FOUND = 404
_GOODBYE_SECONDS = 0.5


class RabbitNetwork:
    """`amqp://user:password@host:5672/?exchange=bpc&routing_key=jobs.trigger&exchange_type=topic`."""

    stores_jobs = False
    suspect = "Does the exchange pass the routing key on to the queues that are bound to it?"

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            settings = dict(parse_qsl(parts.query))
            self._exchange = settings.pop("exchange", EXCHANGE)
            self._routing_key = settings.pop("routing_key", ROUTING_KEY)
            self._exchange_type = settings.pop("exchange_type", EXCHANGE_TYPE)
            self._parameters = pika.URLParameters(urlunsplit(parts._replace(query=urlencode(settings))))
        except (ValueError, TypeError):
            # The address may hold a password, so nothing of it is repeated.
            raise BadInput(
                "BAD_OPTION", "the signal's address cannot be read: write amqp://user:password@host:5672/"
            ) from None
        self._parameters.heartbeat = _HEARTBEAT
        self._parameters.socket_timeout = ANSWER_SECONDS
        self._parameters.stack_timeout = 2 * ANSWER_SECONDS
        self._parameters.blocked_connection_timeout = ANSWER_SECONDS
        self.name = f"RabbitMQ at {parts.hostname or 'localhost'}"
        drivers_own = logging.getLogger("pika")
        if drivers_own.level == logging.NOTSET:
            drivers_own.setLevel(logging.CRITICAL)  # it logs each try; we say once what is wrong

    def connect(self, *, hear: bool) -> RabbitLine:
        """A new connection: one that hears, or one that only tells."""
        connection = pika.BlockingConnection(self._parameters)
        try:
            channel = self._channel(connection)
            return RabbitLine(connection, channel, self._exchange, self._routing_key, hear=hear)
        except BaseException:
            with suppress(AMQPError, OSError):
                connection.close()
            raise

    def _channel(self, connection: Any) -> Any:
        """A channel on which the exchange is known to exist."""
        channel = connection.channel()
        try:
            channel.exchange_declare(self._exchange, passive=True)
        except ChannelClosedByBroker as error:
            if error.reply_code != _NOT_FOUND:
                raise
            channel = connection.channel()
            channel.exchange_declare(self._exchange, self._exchange_type, durable=True)
        return channel


class RabbitLine:
    """One connection."""

    def __init__(self, connection: Any, channel: Any, exchange: str, routing_key: str, *, hear: bool) -> None:
        self._connection = connection
        self._channel = channel
        self._exchange = exchange
        self._routing_key = routing_key
        self._heard: list[bytes] = []
        self._last = 0
        if not hear:
            channel.confirm_delivery()  # else a message over a line that was cut would vanish without a word
            return
        limits = {"x-max-length": _MOST_KEPT}
        queue = channel.queue_declare("", exclusive=True, auto_delete=True, arguments=limits).method.queue
        channel.queue_bind(queue, exchange, routing_key)
        channel.basic_qos(prefetch_count=_AT_ONCE)
        channel.basic_consume(queue, self._take)

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears."""
        properties = pika.BasicProperties(content_type="application/json")
        self._channel.basic_publish(self._exchange, self._routing_key, message, properties)

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first."""
        if not self._heard:
            self._connection.process_data_events(time_limit=seconds)
        if not self._channel.is_open or not self._channel.consumer_tags:
            raise ConnectionClosed(0, "the server ended the ear's queue")
        heard, self._heard = self._heard[:most], self._heard[most:]
        if heard and not self._heard:
            self._channel.basic_ack(self._last, multiple=True)  # now it may send more
        return heard

    def keep(self) -> None:
        """Answer heartbeats: a client that does not is hung up on."""
        self._connection.process_data_events(time_limit=0)

    def close(self) -> None:
        """Hang up. The driver waits for the server's goodbye, which a silent one never says: so in a thread."""
        goodbye = threading.Thread(target=self._say_goodbye, name="holdfast-goodbye", daemon=True)
        goodbye.start()
        goodbye.join(_GOODBYE_SECONDS)

    def _say_goodbye(self) -> None:
        with suppress(Exception):  # it is gone either way; without heartbeats the driver gives up by itself
            self._connection.close()

    def _take(self, _channel: Any, method: Any, _properties: Any, body: bytes) -> None:
        self._heard.append(body)
        self._last = method.delivery_tag
