"""For the tests of one back end: the file itself, small disks and old libraries."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.store.sqlite.store import SqliteStore
from tests.store.given import Clock

LARGEST_TO_FILL = 8 * 1024 * 1024
DRIVERS = {"apsw": "", "sqlite3": "driver=sqlite3&allow_unsafe_sqlite=1"}


@pytest.fixture(params=DRIVERS)
def settings(request: pytest.FixtureRequest) -> str:
    """The part of the URL that chooses the driver."""
    return DRIVERS[request.param]


@pytest.fixture
def open_file(settings: str, clock: Clock) -> Iterator[Callable[..., SqliteStore]]:
    """Opens a store on a path; closes what the test leaves open."""
    opened: list[SqliteStore] = []

    def open_at(path: Path | str, **options: Any) -> SqliteStore:
        opened.append(SqliteStore(f"sqlite:///{path}?{settings}", clock=clock, **options))
        return opened[-1]

    yield open_at
    for store in opened:
        store.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def sqlite_store(file: Path, clock: Clock) -> Iterator[SqliteStore]:
    """A store through the default driver."""
    store = SqliteStore(f"sqlite:///{file}?synchronous=normal", clock=clock)
    store.migrate()
    yield store
    store.close()


class SmallDisk:
    """A disk of a few megabytes; it can be made read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, leave: int = 0) -> None:
        """Fill the disk up to so many bytes; only ever a disk that was made for this."""
        disk = os.statvfs(self.folder)
        if disk.f_blocks * disk.f_frsize > LARGEST_TO_FILL:
            pytest.skip("a small disk of its own needs the right to mount one")
        with (self.folder / "ballast").open("wb") as ballast:
            ballast.write(b"x" * max(0, disk.f_bavail * disk.f_frsize - leave))

    def free(self) -> None:
        (self.folder / "ballast").unlink()

    def read_only(self) -> None:
        if os.geteuid() == 0:
            subprocess.run(["mount", "-o", "remount,ro", str(self.folder)], check=True)
        else:
            for path in self.folder.iterdir():
                path.chmod(0o400)
            self.folder.chmod(0o500)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of its own for root; for anyone else a plain folder, which is never filled."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=True)
    yield SmallDisk(folder)
    if os.geteuid() == 0:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
    else:
        folder.chmod(0o700)
