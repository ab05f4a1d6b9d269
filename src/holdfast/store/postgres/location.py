"""Where the server is and how it is to be used: the store's URL, read and checked."""

from __future__ import annotations

import os
from hashlib import sha256
from stat import S_ISDIR
from urllib.parse import quote, unquote, urlencode, urlsplit

from holdfast.model.errors import BadInput
from holdfast.model.request import check_name

CHANNEL = "holdfast"  # of NOTIFY; a second queue in a schema of the same database has one of its own
DEADLINE = 30  # seconds
# A transaction whose holder fell silent ends, and lets go of its rows. Between our own statements there is hardly a
# moment; inside `with app.transaction()` there is whatever the caller does.
_IDLE_MS = 60_000
_OWN_IDLE_MS = 5_000
_LONGEST_DEADLINE = 3600
_GRACE = 2.0  # seconds: the server's time-out comes first, which leaves the connection usable
_LONGEST_NAME = 64
_PLACE = ("host", "hostaddr", "port", "dbname")  # settings that say where, not who or how


class Location:
    """A checked `postgresql://` address of one host or several. Settings that are not ours go to the driver."""

    __slots__ = (
        "channel",
        "conninfo",
        "deadline",
        "given",
        "idle_ms",
        "longest_wait",
        "own_idle_ms",
        "prepare_after",
        "prepare_repeated",
        "shown",
        "tenant",
        "url",
    )

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            hosts = parts.netloc.rpartition("@")[2]
            hosts = hosts if "%" in hosts else hosts.lower()  # the folder of a socket stays as it is
            for host in hosts.split(","):
                _ = urlsplit(f"//{host}").port  # raises where it is none
        except ValueError:
            raise _bad(_hosts(url) or url.partition(":")[0]) from None
        if parts.scheme not in ("postgresql", "postgres") or "\x00" in url:
            raise _bad(parts.scheme)
        # As libpq reads it: a plus sign is a plus sign.
        pairs = (part.partition("=") for part in parts.query.split("&") if part)
        settings = {unquote(name): unquote(value) for name, _, value in pairs}
        self.url = url
        self.deadline = _whole("deadline", settings.pop("deadline", str(DEADLINE)), _LONGEST_DEADLINE)
        self.longest_wait = self.deadline + _GRACE
        self.idle_ms = _IDLE_MS
        self.channel = _channel(settings.pop("channel", CHANNEL))
        self.own_idle_ms = _OWN_IDLE_MS
        self.tenant = _tenant(settings.pop("tenant", ""))
        # A pooler in transaction mode hands a prepared statement to a session that never saw it. So by default a few
        # that are worth it are prepared, where none stands between: other plans must heed how a table has grown.
        prepare = settings.pop("prepare", "auto")
        self.prepare_repeated = prepare == "auto"
        self.prepare_after = None if prepare in ("auto", "off") else _whole("prepare", prepare, 1000)
        self.shown = _shown(hosts, parts.path, settings)
        several = "," in (hosts or settings.get("host", ""))
        if several:  # a primary and its standbys, which may change places: jobs live on the one that takes writes
            settings.setdefault("target_session_attrs", "read-write")
        self.given = frozenset(settings)
        self.conninfo = _address(parts.netloc, parts.path, settings)

    @property
    def path(self) -> str:
        """Where the processes of this host that use the queue meet: their sockets and locks lie beside this name."""
        queue = self.shown if self.channel == CHANNEL else f"{self.shown}?channel={self.channel}"
        return f"{_meeting_place()}/{sha256(queue.encode()).hexdigest()[:16]}"

    def patient(self) -> Location:
        """The same address for work that takes its time and has the database to itself."""
        other = Location(self.url)
        other.deadline = _LONGEST_DEADLINE
        other.longest_wait = _LONGEST_DEADLINE + _GRACE
        other.idle_ms = other.own_idle_ms = _LONGEST_DEADLINE * 1000
        return other

    def hurry(self, seconds: float) -> None:
        """New connections wait no longer than that."""
        self.deadline = min(self.deadline, max(1, int(seconds)))  # which the server counts in whole seconds
        self.longest_wait = min(self.longest_wait, seconds)

    def options(self) -> dict[str, object]:
        """What the driver is told beside the address, where the address itself does not say."""
        wanted: dict[str, object] = {
            "application_name": "holdfast",
            "client_encoding": "utf8",
            "connect_timeout": min(self.deadline, 10),
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": self.deadline * 1000,
        }
        return {name: value for name, value in wanted.items() if name not in self.given}


def _shown(hosts: str, path: str, settings: dict[str, str]) -> str:
    """The address without user and password; it leads to the same place."""
    place = {name: settings[name] for name in _PLACE if settings.get(name)}
    if not hosts and place.keys() == {"host"} and not {"/", "@", ":"} & set(place["host"]):
        hosts = place.pop("host")  # a name: no socket, no IPv6
    return _address(hosts, path, place, plain="/,")


def _address(hosts: str, path: str, settings: dict[str, str], plain: str = "") -> str:
    # Not by urlunsplit, which leaves out the slashes where no host is named.
    query = urlencode(settings, safe=plain, quote_via=quote)
    return f"postgresql://{hosts}{path}{'?' * bool(query)}{query}"


def _meeting_place() -> str:
    """A folder of this user alone."""
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session:
        folder = f"{session}/holdfast"
    else:
        from tempfile import gettempdir  # noqa: PLC0415  # seldom needed

        folder = f"{gettempdir()}/holdfast-{os.getuid()}"
    os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103
    found = os.lstat(folder)
    if found.st_uid != os.getuid() or not S_ISDIR(found.st_mode) or found.st_mode & 0o077:
        raise BadInput(
            "BAD_URL", f"{folder} is not a folder of this user alone: remove it, or set XDG_RUNTIME_DIR to another"
        )
    return folder


def _tenant(name: str) -> str:
    if not name:
        return name
    try:
        return check_name("tenant", name)
    except BadInput as error:
        raise BadInput("BAD_URL", str(error)) from None


def _channel(name: str) -> str:
    if name.isascii() and name.isidentifier() and name.islower() and len(name) < _LONGEST_NAME:
        return name
    raise BadInput("BAD_URL", f"channel is a name of small letters, figures and underscores, not {name[:50]!r}")


def _whole(name: str, value: str, most: int) -> int:
    if value.isdecimal() and 1 <= int(value) <= most:
        return int(value)
    raise BadInput("BAD_URL", f"{name} is a whole number from 1 to {most}, not {value[:50]!r}")


def _hosts(url: str) -> str:
    """The hosts of an address that cannot be read; empty where what looks like them may be a piece of a password."""
    before, _, after = url.partition("@")
    if "@" in after or "?" in before:
        return ""
    return after.partition("?")[0].partition("#")[0].partition("/")[0]


def _bad(what: str) -> BadInput:
    # The address may hold a password, so only a part of it is repeated.
    return BadInput("BAD_URL", f"{what[:100]!r} is no store: write postgresql://user:password@host:5432/database")
