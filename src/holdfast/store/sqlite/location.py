"""Where the file is and how it is to be used: the store's URL, read and checked."""

from __future__ import annotations

import os

from holdfast.model.errors import BadInput, StoreError

_OCTAL = r"\\([0-7]{3})"  # how the kernel writes spaces and the like
SAFE_SQLITE = (3, 51, 3)
SAFE_LINES = {(3, 44): 6, (3, 50): 7}  # older lines that carry the fix from this patch on

_NETWORK = frozenset((
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs", "ncpfs", "ocfs2",
    "gfs2", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs",
))  # fmt: skip
_SETTINGS = {
    "driver": ("apsw", "sqlite3"),
    "synchronous": ("full", "normal"),
    "allow_unsafe_sqlite": ("0", "1"),
    "allow_network_fs": ("0", "1"),
}


class Location:
    """A checked `sqlite:///` address."""

    __slots__ = ("allow_network_fs", "allow_unsafe_sqlite", "driver", "folder", "path", "synchronous", "url")

    def __init__(self, url: str) -> None:
        address, _, query = url.partition("?")
        scheme, _, path = address.partition(":///")
        if scheme != "sqlite" or not path or "\x00" in path:
            raise BadInput(
                "BAD_URL",
                f"{url[:200]!a} is no store: write sqlite:///jobs.db, or sqlite:////var/lib/jobs.db",
            )
        try:
            os.path.abspath(path).encode()  # noqa: PTH100
        except UnicodeEncodeError:
            raise BadInput(
                "BAD_URL", f"{path[-200:]!a} is not UTF-8 text, and SQLite takes no other file name: rename the folder "
                "or choose another file"
            ) from None  # fmt: skip
        if path == ":memory:":
            raise BadInput("BAD_URL", "a durable queue needs a file: write sqlite:///jobs.db")
        given = _settings(query)
        self.url = url
        self.path = os.path.abspath(path)  # noqa: PTH100  # pathlib would cost a cold hook milliseconds
        self.folder = os.path.dirname(self.path)  # noqa: PTH120
        self.driver = given["driver"]
        self.synchronous = given["synchronous"]
        self.allow_unsafe_sqlite = given["allow_unsafe_sqlite"] == "1"
        self.allow_network_fs = given["allow_network_fs"] == "1"

    def identity(self) -> tuple[int, int]:
        """Which file lies there now, by device and inode; zeros if none does."""
        try:
            found = os.stat(self.path)  # noqa: PTH116
        except FileNotFoundError:
            return 0, 0
        return found.st_dev, found.st_ino

    def check(self, library_version: str) -> None:
        """Refuse a library or a file system that can corrupt the file."""
        if not self.allow_unsafe_sqlite and not is_safe(library_version):
            raise StoreError(
                "UNSAFE_SQLITE",
                f"SQLite {library_version} can corrupt a file that several processes write (fixed in 3.51.3): "
                "use the default driver, or add allow_unsafe_sqlite=1 to the URL if one process alone writes",
            )
        kind = "" if self.allow_network_fs else file_system(self.path)
        if kind in _NETWORK:
            raise StoreError(
                "NETWORK_FILE_SYSTEM",
                f"{self.path} lies on {kind}, where SQLite's locks and shared memory do not work between machines: "
                "use a local disk, or PostgreSQL (allow_network_fs=1 if one machine alone uses it)",
            )


def is_safe(version: str) -> bool:
    """Whether a SQLite library is free of the WAL-reset corruption bug."""
    numbers = tuple(int(part) for part in version.split(".")[:3])
    if numbers >= SAFE_SQLITE:
        return True
    fixed_from = SAFE_LINES.get((numbers[0], numbers[1]))
    return fixed_from is not None and numbers[2] >= fixed_from


def file_system(path: str, mounts: str = "/proc/self/mountinfo") -> str:
    """The kind of file system a path lies on; empty where the machine does not tell."""
    folder = os.path.realpath(os.path.dirname(path))  # noqa: PTH120
    best, kind = "", ""
    try:
        descriptor = os.open(mounts, os.O_RDONLY)
    except OSError:
        return ""
    try:
        text = b"".join(iter(lambda: os.read(descriptor, 65536), b""))
    finally:
        os.close(descriptor)
    for line in text.decode(errors="replace").splitlines():
        left, _, right = line.partition(" - ")
        mount = _plain(left.split(" ")[4]) if left.count(" ") > 4 else ""  # noqa: PLR2004
        if len(mount) >= len(best) and (folder + "/").startswith(mount.rstrip("/") + "/"):
            best, kind = mount, right.split(" ")[0]
    return kind


def _plain(mount: str) -> str:
    if "\\" not in mount:
        return mount
    import re  # noqa: PLC0415  # a cold hook seldom meets such a name

    return re.sub(_OCTAL, lambda found: chr(int(found[1], 8)), mount)


def _settings(query: str) -> dict[str, str]:
    given = {name: values[0] for name, values in _SETTINGS.items()}
    named: set[str] = set()
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name in named:
            raise BadInput("BAD_URL", f"{name[:50]!a} is given twice in the store's address: give it once")
        named.add(name)
        if value not in _SETTINGS.get(name, ()):
            choices = "; ".join(f"{known}={'|'.join(values)}" for known, values in _SETTINGS.items())
            raise BadInput("BAD_URL", f"{part[:100]!a} is no setting of a SQLite store; there are: {choices}")
        given[name] = value
    return given
