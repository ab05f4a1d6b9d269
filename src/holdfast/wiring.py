"""From an address to a store: the only place that knows which back ends there are."""

from __future__ import annotations

import os

from holdfast.model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.signals.port import Signal
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


def open_signal(url: str) -> Signal:
    """How the processes that use this store hear of each other."""
    from holdfast.signals.folder import FolderSignal  # noqa: PLC0415
    from holdfast.store.sqlite.location import Location  # noqa: PLC0415

    return FolderSignal(Location(url).path)
