"""Signals through RabbitMQ: a message per commit to an exchange; each ear has a queue of its own that dies with it.

Anyone may send a trigger with the body `{"job_id": ...}`: it makes workers look, and never says what is true.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import pika
from pika.exceptions import AMQPError

EXCHANGE = "bpc"
ROUTING_KEY = "jobs.trigger"
EXCHANGE_TYPE = "topic"
_ANSWER_SECONDS = 5.0
_HEARTBEAT = 10
_MOST_KEPT = 1_000  # messages in an ear's queue; older ones are dropped, and one is as good as many


class RabbitNetwork:
    """`amqp://user:password@host:5672/?exchange=bpc&routing_key=jobs.trigger&exchange_type=topic`."""

    errors = (AMQPError, OSError)

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        settings = dict(parse_qsl(parts.query))
        self._exchange = settings.pop("exchange", EXCHANGE)
        self._routing_key = settings.pop("routing_key", ROUTING_KEY)
        self._exchange_type = settings.pop("exchange_type", EXCHANGE_TYPE)
        self._parameters = pika.URLParameters(urlunsplit(parts._replace(query=urlencode(settings))))
        self._parameters.heartbeat = _HEARTBEAT
        self._parameters.socket_timeout = _ANSWER_SECONDS
        self._parameters.stack_timeout = 2 * _ANSWER_SECONDS
        self._parameters.blocked_connection_timeout = _ANSWER_SECONDS
        self.name = f"RabbitMQ at {parts.hostname or 'localhost'}"

    def connect(self, *, hear: bool) -> RabbitLine:
        """A new connection: one that hears, or one that only tells."""
        connection = pika.BlockingConnection(self._parameters)
        try:
            channel = connection.channel()
            channel.exchange_declare(self._exchange, self._exchange_type, durable=True)
            return RabbitLine(connection, channel, self._exchange, self._routing_key, hear=hear)
        except BaseException:
            connection.close()
            raise


class RabbitLine:
    """One connection."""

    def __init__(self, connection: Any, channel: Any, exchange: str, routing_key: str, *, hear: bool) -> None:
        self._connection = connection
        self._channel = channel
        self._exchange = exchange
        self._routing_key = routing_key
        self._heard: list[bytes] = []
        if hear:
            limits = {"x-max-length": _MOST_KEPT}
            queue = channel.queue_declare("", exclusive=True, auto_delete=True, arguments=limits).method.queue
            channel.queue_bind(queue, exchange, routing_key)
            channel.basic_qos(prefetch_count=_MOST_KEPT)
            channel.basic_consume(queue, self._take, auto_ack=True)

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears."""
        self._channel.basic_publish(
            self._exchange, self._routing_key, message, pika.BasicProperties(content_type="application/json")
        )

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first."""
        if not self._heard:
            self._connection.process_data_events(time_limit=seconds)
        heard, self._heard = self._heard[:most], self._heard[most:]
        return heard

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _take(self, _channel: Any, _method: Any, _properties: Any, body: bytes) -> None:
        self._heard.append(body)
