"""From an address to a store: the only place that knows which back ends there are."""

from __future__ import annotations

import os

from holdfast.model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.news import News
    from holdfast.signals.folder import Listener
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
    if url is not None and not isinstance(url, str):
        raise BadInput(
            "BAD_URL",
            f"the store's address is text, not {type(url).__name__}: write sqlite:///jobs.db "
            "(four slashes: an absolute path)",
        )
    return url or os.environ.get("HOLDFAST_URL") or DEFAULT_URL


def signals_of(url: str) -> list[Callable[[News], None]]:
    """What tells other processes of a commit to this store."""
    if url.startswith("sqlite:"):
        from holdfast.signals.folder import Teller  # noqa: PLC0415
        from holdfast.store.sqlite.location import Location  # noqa: PLC0415

        return [Teller(Location(url).path)]
    return []


def listen_to(url: str) -> Listener | None:
    """An ear for the commits of other processes; None where they can only be polled for."""
    if not url.startswith("sqlite:"):
        return None
    from secrets import token_hex  # noqa: PLC0415

    from holdfast.signals.folder import Listener  # noqa: PLC0415
    from holdfast.store.sqlite.location import Location  # noqa: PLC0415

    return Listener(Location(url).path, f"watch-{os.getpid()}-{token_hex(4)}")
