"""One connection to a SQLite file, the same through either driver, with every error told in our words.

Traps that shape this file: a pragma call stops at its first row, so each is made alone and read back; opening the
database file by path in a process that has it open would drop SQLite's locks, so the file is created before the
first connection and never opened again; a library with the WAL-reset bug can corrupt a file that two processes write.
"""

from __future__ import annotations

import os

from holdfast.model.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from holdfast.store.sqlite.location import Location

Parameters = dict[str, "object"] | tuple["object", ...]

# SQLite's primary result codes, which both drivers carry on their exceptions.
_BUSY, _LOCKED, _READ_ONLY, _IO, _CORRUPT, _FULL, _CANT_OPEN, _NOT_A_DATABASE = 5, 6, 8, 10, 11, 13, 14, 26
_KEEP_PLANS = 1007  # SQLITE_DBCONFIG_ENABLE_QPSG: a statement has one plan, whatever is bound to it
_LOG_PAGES = 4_000  # 16 MB: the hot pages of a busy queue are copied into the file once per so many, not four times

_REASONS = {
    _BUSY: (
        "STORE_UNAVAILABLE",
        "another process kept the database locked; look for one that hangs, then try again",
    ),
    _LOCKED: ("STORE_UNAVAILABLE", "the database is locked; try again"),
    _READ_ONLY: (
        "STORE_READ_ONLY",
        "the database cannot be written; check the owner and mode of the file and folder",
    ),
    _IO: ("STORE_UNAVAILABLE", "the disk reported an error; check the disk, then try again"),
    _CORRUPT: ("STORE_CORRUPT", "the database file is damaged; restore it from a backup"),
    _FULL: ("STORE_FULL", "the disk is full; nothing was written; free some space, then try again"),
    _CANT_OPEN: (
        "STORE_CANNOT_OPEN",
        "the database cannot be opened; check that its folder exists and is writable",
    ),
    _NOT_A_DATABASE: ("NOT_A_DATABASE", "the file is not a SQLite database; give the path of another file"),
}


class Connection:
    """What the store needs of a driver: rows as tuples, changes as numbers."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.driver = location.driver
        self.identity = (0, 0)  # of the file it was opened on
        create_private(location.path)
        try:
            if location.driver == "apsw":
                import apsw  # noqa: PLC0415

                self.raw: Any = apsw.Connection(location.path)
                self._errors: type[Exception] = apsw.Error
            else:
                import sqlite3  # noqa: PLC0415

                self.raw = sqlite3.connect(location.path, isolation_level=None, check_same_thread=False, timeout=0)
                self._errors = sqlite3.Error
        except Exception as error:
            raise translate(error, location.path) from error
        self._last: Any = None
        self._level = ""  # of `sync`

    def execute(self, sql: str, parameters: Parameters | None = None) -> list[tuple[Any, ...]]:
        """Run one statement to its end and give its rows."""
        self._last = self.raw.execute(sql, parameters or {})
        return self._last.fetchall()  # type: ignore[no-any-return]

    def executemany(self, sql: str, parameters: Iterable[Parameters]) -> None:
        """Run one statement for each set of parameters."""
        if self.driver == "apsw":
            self.raw.executemany(sql, parameters)
        else:
            self.raw.executemany(sql, list(parameters))

    def stream(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, one after the other, as they are read."""
        return iter(self.raw.execute(sql))

    def change(self, sql: str, parameters: Parameters) -> int:
        """Run one statement and count the rows it changed."""
        self._last = self.raw.execute(sql, parameters)  # a change gives no rows to fetch
        # Not the total of changes: that counts what a user's triggers change, too.
        return int(self.raw.changes() if self.driver == "apsw" else self._last.rowcount)

    def pragma(self, name: str, value: str | int) -> str:
        """Set one pragma, and read back what it is now."""
        self.execute(f"pragma {name}={value}")
        return str((self.execute(f"pragma {name}") or [("",)])[0][0]).lower()

    def begin(self) -> None:
        """Take the write lock; raises Busy while another process has it."""
        self.raw.execute("begin immediate")

    def begin_reading(self) -> None:
        """Hold on to what the first read finds."""
        self.raw.execute("begin")

    def commit(self) -> None:
        """Make the transaction durable."""
        self.raw.execute("commit")

    def roll_back(self) -> None:
        """Undo the open transaction, if SQLite has not done so already."""
        if self.in_transaction():
            self.execute("rollback")

    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self.raw.in_transaction)

    def script(self, sql: str) -> None:
        """Run the statements of a migration, in the open transaction."""
        for statement in _statements(sql):
            self.execute(statement)

    def checkpoint(self) -> bool:
        """Fold the log into the file and cut it to nothing; False if a reader stood in the way."""
        return not self.execute("pragma wal_checkpoint(truncate)")[0][0]

    def prepare(self, synchronous: str, wal_limit: int, *, shares: bool = True) -> None:
        """Set what every connection needs, and make sure that SQLite took it; with `shares`, beside others' tables."""
        self._keep_plans()
        if self._journal() != "wal":  # which is written into the file
            from holdfast.store.sqlite.schema import refuse_foreign  # noqa: PLC0415

            refuse_foreign(self, shares=shares)
        wanted: dict[str, tuple[str | int, str]] = {
            "journal_mode": ("wal", "wal"),
            "synchronous": (synchronous, {"full": "2", "normal": "1"}[synchronous]),
            "journal_size_limit": (wal_limit, str(wal_limit)),
            "wal_autocheckpoint": (_LOG_PAGES, str(_LOG_PAGES)),
            "cache_size": (-16_000, "-16000"),
            "temp_store": ("memory", "2"),
        }
        for name, (value, expected) in wanted.items():
            if (got := self.pragma(name, value)) != expected:
                raise StoreError(
                    "STORE_CANNOT_OPEN",
                    f"{self.location.path}: SQLite answered {name}={got} instead of {expected}: is it a local disk?",
                )
        self._level = synchronous

    def sync(self, synchronous: str) -> None:
        """How long the next commits wait for the disk."""
        if synchronous != self._level:
            self.execute(f"pragma synchronous={synchronous}")
            self._level = synchronous

    def wait_for_locks(self, milliseconds: int) -> None:
        """Let SQLite itself wait for others: for a single look."""
        self.execute(f"pragma busy_timeout={milliseconds}")

    def _keep_plans(self) -> None:
        """Else a library that can tell how values are spread plans a statement anew for each value that is bound to it:
        six times the work of running it. Ours have one good plan each.
        """
        verb = "config" if self.driver == "apsw" else "setconfig"  # which the standard library has since Python 3.12
        getattr(self.raw, verb, lambda *_: None)(_KEEP_PLANS, 1)

    def _journal(self) -> str:
        return str(self.execute("pragma journal_mode")[0][0]).lower()

    def library_version(self) -> str:
        """The version of the SQLite library."""
        if self.driver == "apsw":
            import apsw  # noqa: PLC0415

            return apsw.sqlite_lib_version()
        import sqlite3  # noqa: PLC0415

        return sqlite3.sqlite_version

    def save(self) -> None:
        """Mark a point to come back to."""
        self.execute("savepoint holdfast")

    def release(self) -> None:
        """Forget the mark."""
        self.execute("release holdfast")

    def back_to_save(self) -> None:
        """Undo what came after the mark, and forget it; a full disk may have ended the transaction altogether."""
        if self.in_transaction():
            self.execute("rollback to holdfast")
            self.release()

    def file_name(self) -> str:
        """The file it is connected to, links resolved."""
        return os.path.realpath(str(self.execute("pragma database_list")[0][2]))

    def adopt(self, raw: Any, location: Location) -> None:
        """Wrap a connection of the caller's own."""
        self.location, self.driver, self.raw, self._last = location, location.driver, raw, None
        self._errors = ()  # type: ignore[assignment]  # the caller's errors stay the caller's

    def close(self, *, keep_log: bool = False) -> None:
        """Let go of the file. `keep_log` spares the checkpoint that the last connection makes otherwise."""
        if keep_log and self.driver == "apsw":
            import apsw  # noqa: PLC0415

            self.raw.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.raw.close()

    def is_busy(self, error: Exception) -> bool:
        """Whether the same call may succeed a moment later."""
        return isinstance(error, self._errors) and _primary_code(error) in (_BUSY, _LOCKED)

    def is_missing_table(self, error: Exception) -> bool:
        """Whether a table was not there, as in a file that was closed by a move."""
        return isinstance(error, self._errors) and "no such table" in str(error)

    def is_ours(self, error: Exception) -> bool:
        """Whether the driver raised it."""
        return isinstance(error, self._errors)


def translate(error: Exception, path: str) -> StoreError:
    """The driver's error in our words."""
    code, reason = _REASONS.get(_primary_code(error), ("STORE_REFUSED", f"the database refused the statement: {error}"))
    return StoreError(code, f"{path}: {reason}")


def create_private(path: str) -> None:
    """Make the file for its owner alone; SQLite gives the log beside it the same mode."""
    try:
        # A link is followed first: to a link that leads nowhere yet, "does not exist" and "exists" are both true.
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(
            "STORE_CANNOT_OPEN", f"{path}: {error.strerror}; check that the folder exists and is writable"
        ) from None


def _primary_code(error: Exception) -> int:
    code: Any = getattr(error, "result", None) or getattr(error, "sqlite_errorcode", 1)
    return int(code) & 0xFF


def _statements(script: str) -> list[str]:
    """The statements of a migration file: they end with a semicolon at the end of a line."""
    code = "\n".join(line.partition("--")[0] for line in script.splitlines())
    return [part for part in code.split(";\n") if part.strip()]
