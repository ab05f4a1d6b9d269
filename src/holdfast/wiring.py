"""From an address to a store: the only place that knows which back ends there are."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial

from holdfast.model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.signals.port import Signal
    from holdfast.signals.relay import Network
    from holdfast.store.port import Store

DEFAULT_URL = "sqlite:///holdfast.db"


def open_store(url: str, clock: Callable[[], int] | None = None, **settings: float) -> Store:
    """The store at an address; nothing is opened until it is first used. `patience`: seconds to wait for a lock."""
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        from holdfast.store.sqlite.store import SqliteStore  # noqa: PLC0415  # each back end is loaded only when used

        return SqliteStore(url, clock=clock, **settings)  # type: ignore[arg-type]
    raise BadInput(
        "BAD_URL",
        f"no store speaks {scheme[:30]!r}: write sqlite:///jobs.db (four slashes: an absolute path)",
    )


def store_url(url: str | None) -> str:
    """The address that was given, else the environment's, else a file in the working folder."""
    return url or os.environ.get("HOLDFAST_URL") or DEFAULT_URL


def open_signal(url: str, signal: str | None = None) -> Signal:
    """How the processes that use this store hear of each other: `store` (its own way), `off`, or a broker's address."""
    chosen = signal or os.environ.get("HOLDFAST_SIGNAL") or "store"
    scheme = chosen.partition(":")[0]
    if url.startswith("sqlite:"):
        from holdfast.signals.folder import FolderSignal  # noqa: PLC0415
        from holdfast.store.sqlite.location import Location  # noqa: PLC0415

        own = FolderSignal(Location(url).path)
        if scheme == "store":
            return own
        folder = own.folder
    else:
        from holdfast.signals.silent import private_folder  # noqa: PLC0415

        folder = partial(private_folder, url)
    if scheme == "off":
        from holdfast.signals.silent import SilentSignal  # noqa: PLC0415

        return SilentSignal(folder)
    from holdfast.signals.relay import RelaySignal  # noqa: PLC0415

    return RelaySignal(_network(scheme, chosen, url), folder)


def _network(scheme: str, signal: str, url: str) -> Network:
    if scheme == "store":
        from holdfast.signals.postgres import PostgresNetwork  # noqa: PLC0415

        return PostgresNetwork(url)
    if scheme in ("redis", "rediss"):
        with needs("redis"):
            from holdfast.signals.redis import RedisNetwork  # noqa: PLC0415

        return RedisNetwork(signal)
    if scheme in ("amqp", "amqps"):
        with needs("rabbitmq"):
            from holdfast.signals.rabbitmq import RabbitNetwork  # noqa: PLC0415

        return RabbitNetwork(signal)
    raise BadInput(
        "BAD_OPTION", f"no signal speaks {scheme[:30]!r}: write store, off, redis://host/0 or amqp://user:password@host"
    )


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Say which extra to install where its library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadInput("BAD_OPTION", f"{error.name} is not installed: pip install 'holdfast[{extra}]'") from None
