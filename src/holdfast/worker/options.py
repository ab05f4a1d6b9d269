"""How a worker is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.worker.child import COROUTINES, THREADS
from holdfast.worker.places import MOST_READY

if TYPE_CHECKING:
    from collections.abc import Mapping

STOP_SECONDS = 25.0


@dataclass(kw_only=True)
class Options:
    """What its command is given."""

    spec: str
    folder: str
    processes: int = 1
    queues: Mapping[str, int | None] | None = None
    coroutines: int = COROUTINES
    threads: int = THREADS
    prefetch: int = MOST_READY
    solos: int = 4
    signals: bool = True
    signal: str | None = None  # where the application names none
    url: str | None = None
    url_otherwise: str | None = None  # where the application names none
    log_level: str = "WARNING"
    stop_seconds: float = STOP_SECONDS
