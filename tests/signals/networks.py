"""The three networks on their real servers, alike for every test."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pika
import psycopg
import redis

from holdfast.model.news import News
from holdfast.signals.network import Network
from holdfast.signals.postgres import CHANNEL, PostgresNetwork
from holdfast.signals.rabbitmq import EXCHANGE, ROUTING_KEY, RabbitNetwork
from holdfast.signals.redis import RedisNetwork
from tests.patience import wait_for
from tests.servers import postgres, rabbitmq
from tests.servers import redis as redis_server
from tests.signals.proxy import Proxy

KINDS = ("redis", "postgres", "rabbitmq")
SERVERS = {"redis": redis_server.server, "postgres": postgres.server, "rabbitmq": rabbitmq.server}
NETWORKS: dict[str, Any] = {"redis": RedisNetwork, "postgres": PostgresNetwork, "rabbitmq": RabbitNetwork}


def url_of(kind: str) -> str:
    """The address of a kind's server."""
    return SERVERS[kind]().url


def network_of(kind: str, url: str | None = None) -> Network:
    return NETWORKS[kind](url or url_of(kind))


@contextmanager
def proxied(kind: str) -> Iterator[tuple[Proxy, str]]:
    """A proxy before a kind's server, and the address through it."""
    parts = urlsplit(url_of(kind))
    if kind == "postgres" and not parts.hostname:
        behind: Any = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
    else:
        behind = (parts.hostname, parts.port or {"redis": 6379, "postgres": 5432, "rabbitmq": 5672}[kind])
    with Proxy(behind) as proxy:
        who = parts.netloc.rpartition("@")[0]
        place = f"{who}@127.0.0.1:{proxy.port}" if who else f"127.0.0.1:{proxy.port}"
        query = "" if kind == "postgres" else parts.query
        yield proxy, urlunsplit(parts._replace(netloc=place, query=query))


def news(*queues: str, jobs: tuple[str, ...] = (), patient: bool = False) -> News:
    one = News()
    one.patient = patient
    one.queues.update(queues)
    one.jobs.extend(jobs)
    return one


def heard(ear: Any, seconds: float = 10) -> News:
    """The next news that an ear has; empty when the time is over."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        select.select([ear], [], [], left)
        if found := ear.receive():
            return found
    return News()


def hears_of(ear: Any, queue: str, seconds: float = 10) -> bool:
    """Whether a queue is named soon, whatever else is."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if queue in heard(ear, left).queues:
            return True
    return False


def proven(ear: Any) -> bool:
    return wait_for(lambda: ear.proven, "the probe")


class Stranger:
    """Somebody else on the same server, who speaks its protocol and says what he likes."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        url = url_of(kind)
        self._line: Any
        if kind == "redis":
            self._line = redis.Redis.from_url(url)
        elif kind == "postgres":
            self._line = psycopg.connect(url, autocommit=True)
        else:
            self._line = pika.BlockingConnection(pika.URLParameters(url))
            self._channel = self._line.channel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def say(self, *messages: bytes) -> None:
        if self.kind == "redis":
            with self._line.pipeline(transaction=False) as pipe:
                for message in messages:
                    pipe.publish("holdfast", message)
                pipe.execute()
        elif self.kind == "postgres":
            texts = [message.decode() for message in messages]
            self._line.execute("select pg_notify(%s, one) from unnest(%s::text[]) as one", (CHANNEL, texts))
        else:
            for message in messages:
                self._channel.basic_publish(EXCHANGE, ROUTING_KEY, message)
            self._line.process_data_events(0)

    def flood(self, rate: int, seconds: float) -> int:
        """So many messages a second, as far as the server takes them; answers how many went out."""
        begun, sent = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds:
            due = int(passed * rate) - sent
            if due > 0:
                batch = min(due, 2_000)
                self.say(*(b'{"job_id": "%d", "queues": ["q%d"], "jobs": []}' % (sent + n, n) for n in range(batch)))
                sent += batch
            else:
                time.sleep(0.001)
        return sent


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        fields = file.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kib(pid: int) -> int:
    with open(f"/proc/{pid}/status") as file:  # noqa: PTH123
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
