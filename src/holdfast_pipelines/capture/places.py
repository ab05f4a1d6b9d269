"""Where captured sessions are kept: the database, and beside it what the hook needs when it cannot reach that.

Never the working folder: the hook is called in other people's projects.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPT_OUT = ".holdfast-capture-off"  # a file of this name, in a project or above it, keeps the hook away
KEY_BYTES = 32
_LOG_LIMIT = 1024 * 1024


class Places:
    """The paths for one environment."""

    __slots__ = ("database", "environment", "folder", "key_file", "log", "remark", "shared", "spool", "url")

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.folder = data_folder(environment)
        self.remark = ""  # what was wrong with an address that was given
        self.shared = False  # with an application of the user's, who decides who else may read its database
        if environment.get("HOLDFAST_CAPTURE_FOLDER", "/")[:1] not in {"/", ""}:
            self.remark = "HOLDFAST_CAPTURE_FOLDER is not used: write an absolute path"
        self.url = self._address(environment) or f"sqlite:///{os.path.join(self.folder, 'capture.db')}"  # noqa: PTH118
        self.database = self.url.partition("?")[0].removeprefix("sqlite:///")
        name = self.database.strip("/").replace("/", "-")[-100:]
        self.spool = os.path.join(self.folder, "spool", name)  # noqa: PTH118
        self.log = os.path.join(self.folder, "capture.log")  # noqa: PTH118
        self.key_file = os.path.join(self.folder, "capture.key")  # noqa: PTH118

    def _address(self, environment: Mapping[str, str]) -> str:
        for name in ("HOLDFAST_CAPTURE_URL", "HOLDFAST_URL"):
            given = environment.get(name, "")
            if given.startswith("sqlite:////"):
                self.shared = name == "HOLDFAST_URL"
                return given
            if given and name == "HOLDFAST_CAPTURE_URL":
                self.remark = "HOLDFAST_CAPTURE_URL is not used: write sqlite://// and an absolute path"
        return ""


def data_folder(environment: Mapping[str, str]) -> str:
    """The user's own folder for data."""
    given = environment.get("HOLDFAST_CAPTURE_FOLDER", "")
    if given.startswith("/"):  # another would lie in the project that the hook is called in
        return os.path.abspath(given)  # noqa: PTH100
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "holdfast")  # noqa: PTH118
    given = environment.get("XDG_DATA_HOME", "")
    return os.path.join(given if given.startswith("/") else os.path.join(home, ".local", "share"), "holdfast")  # noqa: PTH118


def make_folder(path: str) -> None:
    """Make a folder for its owner alone."""
    os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103


def opted_out(environment: Mapping[str, str], *folders: object) -> bool:
    """Whether the user, or the project, wants no capture."""
    if environment.get("HOLDFAST_CAPTURE", "").lower() in {"off", "0", "false", "no"}:
        return True
    for folder in folders:
        here = folder if isinstance(folder, str) and folder.startswith("/") and "\0" not in folder else ""
        while here:
            if os.path.exists(os.path.join(here, OPT_OUT)):  # noqa: PTH110, PTH118
                return True
            above = os.path.dirname(here)  # noqa: PTH120
            here = "" if above == here else above
    return False


def own_key(places: Places) -> bytes:
    """The key of the digests, made when it is first needed; it never leaves the user's folder."""
    for _ in range(5):
        try:
            descriptor = os.open(places.key_file, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            _make_key(places)
            continue
        except OSError:
            break
        try:
            key = os.read(descriptor, KEY_BYTES + 1)
            if len(key) == KEY_BYTES:
                return key
            _put_aside(places, descriptor, len(key))
        except FileNotFoundError:
            continue  # another puts it aside
        except OSError:
            break
        finally:
            os.close(descriptor)
    _complain(
        places, "capture.key cannot be used: remove it, or give it back to its owner; until then nothing compares"
    )
    return os.urandom(KEY_BYTES)  # digests that nobody can compare are better than none that anybody can guess


def _make_key(places: Places) -> None:
    make_folder(places.folder)
    temporary = f"{places.key_file}.{os.urandom(8).hex()}"  # threads of one process make it at the same time, too
    try:
        write_private(temporary, os.urandom(KEY_BYTES))
        os.link(temporary, places.key_file)  # whoever comes second keeps the first one's
    except FileExistsError:
        return
    finally:
        if os.path.exists(temporary):  # noqa: PTH110
            os.unlink(temporary)  # noqa: PTH108


def _put_aside(places: Places, descriptor: int, size: int) -> None:
    """A key of another size is half of one, or nobody's: a new one takes its place, once, whoever finds it first."""
    from fcntl import LOCK_EX, flock  # noqa: PLC0415

    flock(descriptor, LOCK_EX)
    if not os.path.samestat(os.fstat(descriptor), os.stat(places.key_file)):  # noqa: PTH116
        return  # another was quicker
    os.rename(places.key_file, f"{places.key_file}.unusable")  # noqa: PTH104
    found = f"more than {KEY_BYTES}" if size > KEY_BYTES else size
    _complain(
        places,
        f"capture.key had {found} bytes, not {KEY_BYTES}: it is capture.key.unusable now, and a new one is made; "
        "findings from before do not compare with later ones, unless you put a backup back",
    )


def _complain(places: Places, line: str) -> None:
    from holdfast_pipelines.capture.marks import now  # noqa: PLC0415

    note(places, now(), line)


def make_private(database: str) -> bool:
    """Take the database, and SQLite's files beside it, from all but their owner; answers whether that was needed."""
    if not os.stat(database).st_mode & 0o077:  # noqa: PTH116
        return False
    path = os.path.realpath(database)
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):  # noqa: PTH110
            os.chmod(path + suffix, 0o600)  # noqa: PTH101
    return True


def write_private(path: str, content: bytes) -> None:
    """A new file for its owner alone, on the disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def note(places: Places, stamp: str, line: str) -> None:
    """One line in the log file, which is cut when it has grown long. Never raises: it is the last resort."""
    try:
        make_folder(places.folder)
        descriptor = os.open(places.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(descriptor).st_size > _LOG_LIMIT:
                os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{stamp} {' '.join(line.split())[:500]}\n".encode(errors="replace"))
        finally:
            os.close(descriptor)
    except OSError:
        return
