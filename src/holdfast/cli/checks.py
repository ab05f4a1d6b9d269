"""What the doctor sees inside the store."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.cli import verbs
from holdfast.cli.plain import count, many, span
from holdfast.engine.figures import CAP, statistics
from holdfast.engine.jobs import list_jobs
from holdfast.engine.queues import workers
from holdfast.model import stamp
from holdfast.model.errors import CODES, HoldfastError
from holdfast.signals.folder import FolderSignal
from holdfast.signals.silent import SilentSignal
from holdfast.store.postgres.schema import MIGRATIONS as POSTGRES_MIGRATIONS
from holdfast.store.sqlite.schema import MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.app import App
    from holdfast.store.port import Transaction

_AHEAD_MS = 5_000
_MOST_SHOWN = 3
_MANY_DEAD = 10
_PROOF_SECONDS, _PROOF_STEP = 4.0, 0.02

_ADVICE = {  # what helps an owner of the machine; the message itself says what was found
    "STORE_UNAVAILABLE": "is the server up? --url, else HOLDFAST_URL, else holdfast.toml names the store",
    "SCHEMA_MISSING": "`holdfast migrate` makes the tables",
    "SCHEMA_TOO_NEW": "`holdfast --version` here and where it was migrated: install the newer one here",
    "STORE_MOVED": "set HOLDFAST_URL to the address it was moved to, and start every process anew",
    "STORE_FORBIDDEN": "`holdfast sql --roles` prints what each role needs",
}


class Finding(NamedTuple):
    """One line of the doctor: `ok`, `warn` or `bad`, what was seen, and what to do next."""

    level: str
    check: str
    text: str
    advice: str = ""


def house(app: App) -> Iterator[Finding]:
    """Open the store and look around; where it cannot be opened, that is the only finding."""
    try:
        seen = app.desk.read(_look)
        server = "" if app.desk.store.url.startswith("sqlite:") else app.desk.read(_server)
    except HoldfastError as error:
        yield Finding("bad", "store", f"{error.code}: {error}", _ADVICE.get(error.code, CODES[error.code]))
        return
    if server:
        yield Finding("ok", "server", server)
    known = POSTGRES_MIGRATIONS if server else MIGRATIONS
    yield Finding("ok", "schema", f"version {len(known)}, the newest this Holdfast knows")
    yield _newest(seen)
    yield _leases(seen["lines"])
    yield _workers(seen)
    yield _types(seen["unknown"], alive=bool(_alive(seen)))
    yield _paused(seen["paused"])
    yield _dead(seen["lines"])


def signal(app: App) -> Iterator[Finding]:
    """Whether what is told over a network gets through. Within one machine the check of the folder tells."""
    way: Any = app.signal
    if isinstance(way, FolderSignal):
        return
    if isinstance(way, SilentSignal):
        yield Finding("ok", "signal", "off: everyone polls once a second")
        return
    ear = way.listen("doctor")
    end = monotonic() + _PROOF_SECONDS
    while not ear.proven and monotonic() < end:
        sleep(_PROOF_STEP)
    if ear.proven:
        yield Finding("ok", "signal", f"{way.name}: proven, what is told gets through")
    else:
        yield Finding(
            "warn", "signal", f"{way.name}: not proven, so everyone polls once a second",
            "is the server up, and its address right? PgBouncer in transaction mode swallows signals",
        )  # fmt: skip
    ear.close()


def _look(tx: Transaction) -> dict[str, Any]:
    newest, _ = list_jobs(tx, limit=1)
    return statistics(tx, cap=CAP) | {
        "now": tx.now,
        "newest": newest,
        "workers": workers(tx, silent_too=True),
        "unknown": verbs.unknown_lanes(tx),
    }


def _server(tx: Any) -> str:
    info = tx.connection.raw.info
    major, minor = divmod(info.server_version, 10_000)
    return f"PostgreSQL {major}.{minor}, database {info.dbname}"


def _newest(seen: dict[str, Any]) -> Finding:
    """A job from the future tells of a clock that was set back, or of another machine's that is ahead."""
    if not seen["newest"]:
        return Finding("ok", "jobs", "none yet")
    ahead = stamp.from_datetime(seen["newest"][0].created_at) - seen["now"]
    if ahead > _AHEAD_MS:
        text = f"the newest job was created {span(ahead / 1000)} in the future"
        return Finding("warn", "jobs", text, "a clock was set back, or another machine's is ahead: keep them in step")
    return Finding("ok", "jobs", f"the newest was created {span(ahead / 1000)} ago")


def _leases(lines: list[dict[str, Any]]) -> Finding:
    expired, running = (sum(line[name] for line in lines) for name in ("expired", "running"))
    if expired:
        text = f"expired: {many(expired, 'lease')} of {many(running, 'run')}"
        return Finding("warn", "leases", text, "their workers are gone; any running worker's watchdog ends them")
    return Finding("ok", "leases", f"{many(running, 'run')}, every lease is renewed")


def _workers(seen: dict[str, Any]) -> Finding:
    alive, silent = _alive(seen), len(seen["workers"]) - len(_alive(seen))
    waiting = sum(line["waiting"] for line in seen["lines"])
    quiet = f"; {silent} silent" if silent else ""
    if alive:
        return Finding("ok", "workers", f"{len(alive)} alive{quiet}")
    if waiting:
        return Finding(
            "warn",
            "workers",
            f"none is alive{quiet}; waiting: {many(waiting, 'job')}",
            "start one: `holdfast worker MODULE:APP`",
        )
    return Finding("ok", "workers", f"none is alive{quiet}, and nothing waits")


def _types(unknown: list[tuple[str, str, int, int]], *, alive: bool) -> Finding:
    if not unknown or not alive:  # without any worker the line above tells enough
        return Finding("ok", "types", "a live worker knows every waiting type" if alive else "no worker to ask")
    shown = [f"{kind} v{version} in {queue} ({count(depth, 1_000)})" for queue, kind, version, depth in unknown]
    more = f" and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
    text = f"no live worker knows: {', '.join(shown[:_MOST_SHOWN])}{more}"
    return Finding("warn", "types", text, "is the type spelt right? does a worker draw from that queue?")


def _paused(names: list[str]) -> Finding:
    if names:
        text = f"paused: {', '.join(names)}"
        return Finding("warn", "queues", text, "`holdfast queues resume QUEUE` lets claims go on")
    return Finding("ok", "queues", "none is paused")


def _dead(lines: list[dict[str, Any]]) -> Finding:
    dead = sum(line["dead"] for line in lines)
    if not dead:
        return Finding("ok", "dead letters", "none")
    level = "warn" if dead > _MANY_DEAD else "ok"
    return Finding(
        level, "dead letters", f"{many(dead, 'job', CAP)} for a person to look at", "`holdfast dlq list` shows them"
    )


def _alive(seen: dict[str, Any]) -> list[dict[str, Any]]:
    return [worker for worker in seen["workers"] if worker["alive"]]
