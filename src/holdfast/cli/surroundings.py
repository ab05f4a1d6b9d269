"""What the doctor sees around a SQLite store: libraries, file, disk, clock. Opens no database file."""

from __future__ import annotations

import os
import platform
import stat
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import holdfast
from holdfast.cli.checks import Finding
from holdfast.cli.plain import many, size, span
from holdfast.model.errors import HoldfastError
from holdfast.signals.folder import folder_of
from holdfast.store.sqlite.location import file_system, is_safe
from holdfast.store.sqlite.store import SPACE_FLOOR, WAL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.app import App

_LOW_SPACE = 512 * 1024 * 1024
_SAMPLE_S, _STEP_S = 0.1, 0.05
_FIRST_YEAR = 1_735_689_600  # 2025: a clock before it was never set


def versions(driver: str) -> Iterator[Finding]:
    """What is installed here."""
    yield Finding("ok", "holdfast", f"{holdfast.__version__} on Python {platform.python_version()}")
    packages = ", ".join(f"{name} {version(name)}" for name in (driver, "pydantic", "click", "rich"))
    yield Finding("ok", "libraries", packages)


def library(app: App) -> Iterator[Finding]:
    """Whether the SQLite library is one that may write the file."""
    location = app.desk.store.location  # type: ignore[attr-defined]  # the caller has seen that the store is a file
    found = _library(location.driver)
    if is_safe(found):
        yield Finding("ok", "sqlite", f"{found} by {location.driver}")
        return
    text = f"{found} by {location.driver} has the WAL-reset bug: two processes that write can corrupt the file"
    level = "warn" if location.allow_unsafe_sqlite else "bad"
    yield Finding(level, "sqlite", text, "use the default driver (apsw), or a library from 3.51.3 on")


def place(path: str) -> Iterator[Finding]:
    """The file and the folder it lies in."""
    yield _kind_of_disk(path)
    yield _free_space(path)
    if not exists(path):
        yield Finding(
            "warn", "file", f"{path} does not exist yet", "it is made at first use; if it should be there, check --url"
        )
        return
    yield _file(path)
    yield _mode(path)
    yield _log(path)
    yield from _signals(path)


def exists(path: str) -> bool:
    """Whether there is something at the path."""
    return Path(path).exists()


def clock() -> Finding:
    """Whether the wall clock is set, and goes as fast as the one that is never set."""
    wall, steady = time.time(), time.monotonic()
    time.sleep(_SAMPLE_S)
    off = (time.time() - wall) - (time.monotonic() - steady)
    if wall < _FIRST_YEAR:
        return Finding(
            "bad", "clock", "the clock was never set: it shows a year before 2025", "set it: due times are read from it"
        )
    if abs(off) > _STEP_S:
        text = f"the clock moved by {span(off)} against the steady one just now"
        return Finding("warn", "clock", text, "let a time service slew it, not step it: leases are told by it")
    asleep = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic() if hasattr(time, "CLOCK_BOOTTIME") else 0.0
    slept = f"; the machine slept {span(asleep)} since it was started" if asleep > 1 else ""
    return Finding("ok", "clock", f"in step with the steady clock{slept}")


def _library(driver: str) -> str:
    if driver == "apsw":
        import apsw  # noqa: PLC0415

        return apsw.sqlite_lib_version()
    import sqlite3  # noqa: PLC0415

    return sqlite3.sqlite_version


def _kind_of_disk(path: str) -> Finding:
    from holdfast.store.sqlite.location import Location  # noqa: PLC0415

    kind = file_system(path)
    try:
        Location(f"sqlite:///{path}?allow_unsafe_sqlite=1").check("3.51.3")
    except HoldfastError as error:
        return Finding("bad", "file system", str(error), "move the file to a local disk")
    return Finding("ok", "file system", f"{kind or 'unknown'}, a local one" if kind else "the machine does not tell")


def _free_space(path: str) -> Finding:
    folder = Path(path).parent
    if not folder.is_dir():
        return Finding("bad", "disk", f"the folder {folder} does not exist", "make it, or give another path with --url")
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if free < SPACE_FLOOR:
        return Finding("bad", "disk", f"{size(free)} free: new jobs are refused", "free some space")
    if free < _LOW_SPACE:
        return Finding("warn", "disk", f"only {size(free)} free", "free some space before new jobs are refused")
    return Finding("ok", "disk", f"{size(free)} free")


def _file(path: str) -> Finding:
    if not Path(path).is_file():
        return Finding("bad", "file", f"{path} is no file", "give the path of a file with --url")
    missing = [name for name, mode in (("read", os.R_OK), ("written", os.W_OK)) if not os.access(path, mode)]
    if missing:
        return Finding(
            "bad", "file", f"{path} cannot be {' or '.join(missing)}", "check its owner and mode, and who you are"
        )
    if not os.access(Path(path).parent, os.W_OK):
        return Finding("bad", "file", "its folder cannot be written, where the log must lie", "check the folder's mode")
    return Finding("ok", "file", f"{path}, {size(Path(path).stat().st_size)}")


def _mode(path: str) -> Finding:
    mode = stat.S_IMODE(Path(path).stat().st_mode)
    if mode & stat.S_IWOTH:
        return Finding("bad", "file mode", f"{mode:04o}: everyone on this machine can change jobs", f"chmod 600 {path}")
    if mode & stat.S_IROTH:
        return Finding(
            "warn", "file mode", f"{mode:04o}: everyone on this machine can read payloads", f"chmod 600 {path}"
        )
    return Finding("ok", "file mode", f"{mode:04o}")


def _log(path: str) -> Finding:
    log = Path(f"{path}-wal")
    length = log.stat().st_size if log.exists() else 0
    if length > 2 * WAL_LIMIT:
        text = f"the write-ahead log has {size(length)}"
        return Finding(
            "warn", "log", text, "something reads without end, so it cannot be folded in: look for a process that hangs"
        )
    return Finding("ok", "log", f"the write-ahead log has {size(length)}")


def _signals(path: str) -> Iterator[Finding]:
    folder = Path(folder_of(path))
    if not folder.is_dir():
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    listeners = sum(1 for entry in folder.iterdir() if entry.is_socket())
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Finding("warn", "signals", f"{folder} has mode {mode:04o}", f"chmod 700 {folder}")
    else:
        yield Finding("ok", "signals", f"listening: {many(listeners, 'process', plural='processes')}")
