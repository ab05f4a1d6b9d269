"""From an address to a store: the only place that knows which back ends there are."""

from __future__ import annotations

import os

from holdfast.model.errors import BadInput, StoreError, install
from holdfast.model.settings import check_signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.signals.network import Network
    from holdfast.signals.port import Signal
    from holdfast.store.moving import Side
    from holdfast.store.port import Store

DEFAULT_URL = "sqlite:///holdfast.db"


def open_store(url: str, clock: Callable[[], int] | None = None, **settings: float) -> Store:
    """The store at an address; nothing is opened until it is first used. `patience`: seconds to wait for a lock."""
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        from holdfast.store.sqlite.store import SqliteStore  # noqa: PLC0415  # each back end is loaded only when used

        return SqliteStore(url, clock=clock, **settings)  # type: ignore[arg-type]
    if scheme in ("postgresql", "postgres"):
        return _postgres(url, clock)
    if _is_file(url):
        raise BadInput("BAD_URL", f"{url[:200]!a} is no address of a store: did you mean sqlite:///{url[:200]}?")
    raise BadInput(
        "BAD_URL",
        f"no store speaks {scheme[:30]!r}: write sqlite:///jobs.db (four slashes: an absolute path), or "
        "postgresql://user:password@host:5432/database",
    )


def named(url: str | None, signal: str | None) -> tuple[str, str | None]:
    """The store's address: as given, else the environment's, else that of the nearest settings file, whose signal goes
    with it, else a file in the working folder; and how processes wake each other, where that is said.
    """
    if url is not None and not isinstance(url, str):
        raise BadInput(
            "BAD_URL",
            f"the store's address is text, not {type(url).__name__}: write sqlite:///jobs.db "
            "(four slashes: an absolute path)",
        )
    if found := url or os.environ.get("HOLDFAST_URL"):
        return found, signal
    from holdfast.settings_file import settings_near  # noqa: PLC0415  # most name their store

    settings = settings_near(os.getcwd())  # noqa: PTH109
    if signal is None and not os.environ.get("HOLDFAST_SIGNAL"):
        signal = settings.get("signal")
    return settings.get("url") or DEFAULT_URL, signal


def store_url(url: str | None) -> str:
    """The address alone."""
    return named(url, None)[0]


def open_side(url: str) -> Side:
    """The store at an address as one end of a move."""
    if url.startswith("sqlite:"):
        from holdfast.store.sqlite.moving import SqliteSide  # noqa: PLC0415

        return SqliteSide(url)
    open_store(url)  # tells what is wrong with the address, or that the driver is missing
    from holdfast.store.postgres.moving import PostgresSide  # noqa: PLC0415

    return PostgresSide(url)


def open_signal(url: str, signal: str | None = None) -> Signal:
    """How the processes that use this store hear of each other: `store` (its own way), `off`, or a broker's address."""
    from holdfast.signals.folder import FolderSignal  # noqa: PLC0415

    own = FolderSignal(_meeting_place(url))
    chosen = signal or os.environ.get("HOLDFAST_SIGNAL") or "store"
    scheme = check_signal(chosen)
    if scheme == "store" and url.startswith("sqlite:"):
        return own
    if scheme == "off":
        from holdfast.signals.silent import SilentSignal  # noqa: PLC0415

        return SilentSignal(own.folder)
    from holdfast.signals.relay import RelaySignal  # noqa: PLC0415

    return RelaySignal(_network(scheme, chosen, url), own.folder)


def _network(scheme: str, signal: str, url: str) -> Network:
    if scheme in ("store", "postgresql", "postgres"):  # an address of its own leads past a pooler
        with needs("postgres"):
            from holdfast.signals.postgres import PostgresNetwork  # noqa: PLC0415
        from holdfast.store.postgres.location import Location as Address  # noqa: PLC0415

        address = Address(url if scheme == "store" else signal)
        store = address if url.startswith("sqlite:") else Address(url)
        return PostgresNetwork(address.conninfo, store.channel, stores_jobs=scheme == "store")
    if scheme in ("redis", "rediss"):
        with needs("redis"):
            from holdfast.signals.redis import RedisNetwork  # noqa: PLC0415

        return RedisNetwork(signal)
    with needs("rabbitmq"):
        from holdfast.signals.rabbitmq import RabbitNetwork  # noqa: PLC0415

    return RabbitNetwork(signal)


def _is_file(url: str) -> bool:
    """Whether it looks like a file; what may hold a password does not, as it would be repeated."""
    return not any(sign in url for sign in ":@?") and url.endswith((".db", ".sqlite", ".sqlite3"))


class needs:  # noqa: N801  # read as a word: `with needs("redis"):`
    """Say which extra to install where its library is missing."""

    __slots__ = ("_extra",)

    def __init__(self, extra: str) -> None:
        self._extra = extra

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ModuleNotFoundError):
            raise BadInput("BAD_OPTION", f"{error.name} is not installed: {install(self._extra)}") from None


def _meeting_place(url: str) -> str:
    if url.startswith("sqlite:"):
        from holdfast.store.sqlite.location import Location  # noqa: PLC0415

        return Location(url).path
    from holdfast.store.postgres.location import Location as Address  # noqa: PLC0415

    return Address(url).path


def _postgres(url: str, clock: Callable[[], int] | None) -> Store:
    try:
        from holdfast.store.postgres.store import PostgresStore  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise StoreError("STORE_CANNOT_OPEN", f"PostgreSQL needs the psycopg driver: {install('postgres')}") from None
    return PostgresStore(url, clock=clock)
