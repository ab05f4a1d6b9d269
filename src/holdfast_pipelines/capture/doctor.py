"""What is wrong with the capture of sessions, and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import holdfast
from holdfast_pipelines.capture import examination, install, learnings, spool, uploads
from holdfast_pipelines.capture.mcp import registration
from holdfast_pipelines.capture.places import KEY_BYTES, Places, make_private
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.record import QUEUE, ForeignTables, ensure_tables
from holdfast_pipelines.capture.upload_settings import UploadSettings

OLD = timedelta(minutes=10)
Line = tuple[str, str, str]  # level, what, text


def examine(
    places: Places, files: list[Path], servers: list[Path], environment: Mapping[str, str] | None = None
) -> Iterator[Line]:
    """One line for each thing that was looked at: ok, warn or bad."""
    yield _seen("hook", _hook, files)
    yield _seen("mcp", _server, servers)
    if places.remark:
        yield "bad", "address", places.remark
    yield from examination.provider(environment or {})
    yield _key(Path(places.key_file))
    yield from _database(places, environment or {})
    waiting = len(spool.waiting(places.spool))
    advice = "; a worker stores them: `holdfast worker holdfast_pipelines.capture.work:app`"
    yield ("warn" if waiting else "ok"), "spool", f"{waiting} events wait{advice if waiting else ''}"
    log = Path(places.log)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:] if log.exists() else []
    yield ("warn" if lines else "ok"), "log", f"{log}: " + ("; ".join(lines) if lines else "no complaints")


def _seen(what: str, look: Callable[[list[Path]], Line], files: list[Path]) -> Line:
    """A file that cannot be read is one finding; the others are looked at all the same."""
    try:
        return look(files)
    except holdfast.HoldfastError as error:
        return "bad", what, str(error)


def _hook(files: list[Path]) -> Line:
    found = [(path, command) for path in files for command in dict.fromkeys(install.installed(path))]
    if not found:
        return "bad", "hook", "not installed: `holdfast capture install`"
    if len(found) > 1:
        return (
            "warn",
            "hook",
            "installed twice, so prompts are captured twice: `holdfast capture uninstall` in one place",
        )
    path, command = found[0]
    if not Path(shlex.split(command)[0]).exists():
        return "bad", "hook", f"{path} names an interpreter that is gone: `holdfast capture install` again"
    return "ok", "hook", f"installed in {path}"


def _server(files: list[Path]) -> Line:
    found = [(path, program) for path in files for program in registration.registered(path)]
    for path, program in found:
        if not Path(program).exists():
            return "bad", "mcp", f"{path} names an interpreter that is gone: `holdfast capture install --mcp` again"
    if not found:
        return "ok", "mcp", "not registered, so sessions cannot ask for learnings: `holdfast capture install --mcp`"
    return "ok", "mcp", f"registered in {found[0][0]}"


def _database(places: Places, environment: Mapping[str, str]) -> Iterator[Line]:
    path = Path(places.database)
    if not path.exists():
        yield "ok", "database", f"{path} is made at the first event"
        return
    app = holdfast.App(places.url, migrate=False, patience=1)
    try:
        with app.transaction() as tx:
            ensure_tables(tx)
            counts = uploads.counts(tx)
            ((read, learned),) = tx.execute(query("learned"))
        yield "ok", "database", str(path)
        yield from _privacy(places)
        yield from _jobs(app)
        why = "; a short one teaches nothing: see the guide" if read and not learned else ""
        yield "ok", "learnings", f"{learned} from {read} conversations{why}"
        yield from examination.spending(app, environment)
        yield from _uploads(places, counts, shared=learnings.sharing(app))
    except holdfast.HoldfastError as error:
        yield "bad", "database", str(error)
    except ForeignTables as error:
        yield "bad", "database", str(error)
    finally:
        app.close()


def _key(path: Path) -> Line:
    if not path.exists():
        return "ok", "key", f"{path} is made at the first event"
    if not path.is_file() or path.stat().st_size != KEY_BYTES:
        advice = "put a backup back, or let the next event make a new one, which does not compare with the old"
        return "bad", "key", f"{path} is no key of {KEY_BYTES} bytes, and is not used: {advice}"
    if path.stat().st_mode & 0o077:
        return "warn", "key", f"others can read {path}: chmod 600"
    return "ok", "key", str(path)


def _privacy(places: Places) -> Iterator[Line]:
    path = Path(places.database)
    try:
        if places.shared and path.stat().st_mode & 0o077:
            yield "warn", "database", f"others can read {path}, which HOLDFAST_URL names: chmod 600, if they need not"
        elif not places.shared and make_private(places.database):
            yield "warn", "database", f"others could read {path}: now it is for its owner alone, mode 0600"
    except OSError as error:
        yield "bad", "database", f"others can read {path}, and that cannot be changed: {error.strerror}; chmod 600"


def _jobs(app: holdfast.App) -> Iterator[Line]:
    now = datetime.now(UTC)
    old = [job for job in app.jobs(status="queued", queue=QUEUE, limit=1_000) if now - job.scheduled_at > OLD]
    if old:
        yield (
            "bad",
            "jobs",
            (
                f"{len(old)} have waited for more than 10 minutes: start a worker, "
                "`holdfast worker holdfast_pipelines.capture.work:app`, or `holdfast capture install --service`"
            ),
        )
    else:
        yield "ok", "jobs", "none has waited for more than 10 minutes"
    dead = app.jobs(status="dead_letter", queue=QUEUE, limit=1_000)
    if dead:
        yield "bad", "jobs", f"{len(dead)} dead letters: `holdfast dlq list --url {app.url}`"


def _uploads(places: Places, counts: dict[str, tuple[int, int]], *, shared: bool) -> Iterator[Line]:
    settings = UploadSettings(places.environment)
    if shared and settings.wrong:
        yield "warn", "uploads", settings.advice()
    failed = counts.get("failed", (0, 0))[0]
    if failed:
        yield "bad", "uploads", f"{failed} have failed: `holdfast capture uploads list --status failed` says why"
    under_way = [counts.get(status, (0, 0)) for status in ("pending", "ipfs_uploaded", "tx_submitted")]
    number, waiting = (sum(column) for column in zip(*under_way, strict=True))
    if waiting:
        yield "warn", "uploads", f"{waiting} of {number} wait: `holdfast capture uploads list` says what for"
    elif shared or counts:
        yield "ok", "uploads", f"{number} under way, {counts.get('confirmed', (0, 0))[0]} confirmed"
