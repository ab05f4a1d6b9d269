"""`holdfast-hook`: what Claude Code runs, cold, at each event. It always exits 0 and prints nothing.

Standard input -> sanitised record -> one transaction. If the database cannot be had within 25 milliseconds, or is of
another version, the record goes to the spool; if that fails, too, it is dropped. Either way one line is logged.
"""

from __future__ import annotations

import os
import sys

from holdfast_pipelines.capture.marks import now
from holdfast_pipelines.capture.places import Places, make_folder, make_private, note, opted_out, own_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast import App

LIMIT = 1024 * 1024
PATIENCE = 0.025  # seconds to wait for another's lock: a person waits for the hook
_FROM_SPOOL = 5
_FULL = ("STORE_FULL", "ENOSPC", "EDQUOT")
_ADVICE = {"FOREIGN_TABLES": ": the database there is not of Holdfast: move it away, or set HOLDFAST_CAPTURE_URL"}


_LONG_LOG = 512 * 1024  # of SQLite: whoever opens the file next reads all of it
_opened: list[App] = []  # stays open to the end: the last to close a file folds its log into it, which takes time


def main() -> int:
    """Run the hook and leave at once: there is nothing to tidy up that the system does not."""
    run(None if sys.stdin is None else sys.stdin.buffer, os.environ)
    for app in _opened:
        _close_if_long(app)
    os._exit(0)


def _close_if_long(app: App) -> None:
    try:
        if os.stat(f"{app.url.partition('?')[0].removeprefix('sqlite:///')}-wal").st_size > _LONG_LOG:  # noqa: PTH116
            app.close()
    except Exception:  # noqa: BLE001  # what was captured is safe
        return


def run(stdin: Any, environment: Mapping[str, str]) -> None:
    """Capture one event. Never raises."""
    places = None
    try:
        places = Places(environment)
        if stdin is None:
            note(places, now(), "ignored: there is no standard input")
            return
        raw = _read(stdin)
        if raw is None:
            note(places, now(), "dropped: the input is longer than 1 MiB")
            return
        capture(raw, places, environment)
    except BaseException as error:  # noqa: BLE001  # whatever it is, the session of the user goes on
        if places is not None:
            note(places, now(), f"dropped: {_reason(error)}")


def capture(raw: bytes, places: Places, environment: Mapping[str, str]) -> None:
    """From the event's bytes to a stored, or spooled, record."""
    from holdfast_pipelines.capture import swift  # noqa: PLC0415
    from holdfast_pipelines.capture.events import Clerk, UnusableEvent, read_event  # noqa: PLC0415

    try:
        event = read_event(raw)
        if opted_out(environment, event.get("cwd"), environment.get("CLAUDE_PROJECT_DIR")):
            return
        make_folder(places.folder)
        swift.load(places.folder)
        clerk = Clerk(own_key(places))
        record = clerk.record(event)
    except UnusableEvent as error:
        note(places, now(), f"ignored: {error}")
        return
    if places.remark:
        note(places, now(), places.remark)
    if record["event"] == "Stop" and not record["messages"]:
        _fetch(clerk, event, record, places, since_prompt=True)
        record["owed"] = not record["messages"]
    _keep(places, record, clerk, event)
    swift.save(places.folder)


def _keep(places: Places, record: dict[str, Any], clerk: Any, event: dict[str, Any]) -> None:
    from holdfast_pipelines.capture import spool  # noqa: PLC0415

    behind = bool(spool.waiting(places.spool))
    try:
        if behind:
            spool.put(places.spool, record)  # behind those that wait: order counts
            drain(_open(places), places.spool, _FROM_SPOOL)
        else:
            _store(_open(places), record, clerk, event, places)
        _make_private(places)
    except Exception as error:
        reason = _reason(error)
        if reason in _FULL:
            raise
        if not behind:
            spool.put(places.spool, record)
        note(places, now(), f"spooled: {reason}{_ADVICE.get(reason, '')}")


def _make_private(places: Places) -> None:
    try:
        if not places.shared and make_private(places.database):
            note(places, now(), "others could read the database: now it is for its owner alone, mode 0600")
    except OSError as error:
        note(places, now(), f"others can read the database, and that cannot be changed: {_reason(error)}; chmod 600")


def drain(app: App, folder: str, most: int) -> int:
    """Store what waits in the spool, oldest first; answers how many files are done."""
    from holdfast_pipelines.capture import record as records  # noqa: PLC0415
    from holdfast_pipelines.capture import spool  # noqa: PLC0415

    files = spool.waiting(folder)[:most]
    for path in files:
        waiting = spool.take(path)
        if waiting is None:
            continue
        try:
            records.store(app, waiting)
            spool.done(path)
        except (KeyError, TypeError):  # of another version, or nobody's
            spool.put_aside(path)
    return len(files)


def _open(places: Places) -> App:
    from holdfast import App  # noqa: PLC0415

    make_folder(os.path.dirname(places.database))  # noqa: PTH120
    _opened.append(App(places.url, patience=PATIENCE, migrate=False))
    return _opened[-1]


def _store(app: App, record: dict[str, Any], clerk: Any, event: dict[str, Any], places: Places) -> None:
    from holdfast_pipelines.capture.record import AnswerOwed, store  # noqa: PLC0415

    try:
        store(app, record, fetched=record["event"] == "Stop")
    except AnswerOwed:
        said, record["messages"] = record["messages"], []
        _fetch(clerk, event, record, places, since_prompt=False)
        record["messages"] += said
        store(app, record, fetched=True)


def _fetch(clerk: Any, event: dict[str, Any], record: dict[str, Any], places: Places, *, since_prompt: bool) -> None:
    """Put the answers that the transcript holds into the record."""
    from holdfast_pipelines.capture.transcript import NoTranscript, last_answers  # noqa: PLC0415

    path = event.get("transcript_path")
    if not isinstance(path, str) or not path:
        if since_prompt:
            note(places, now(), "nothing to keep: the event has no answer, and names no transcript")
        return
    try:
        answers = last_answers(path, since_prompt=since_prompt)
    except NoTranscript as error:
        note(places, now(), str(error))
        return
    except (OSError, ValueError) as error:
        note(places, now(), f"the transcript cannot be read: {_reason(error)}")
        return
    for name, text in answers:
        record["messages"] += clerk.message("assistant", text, source=f"message:{name}")


def _read(stdin: Any) -> bytes | None:
    """All of the input; None if it is too long. The rest is read all the same: a writer must not meet a closed pipe."""
    raw: bytes = stdin.read(LIMIT + 1)
    if len(raw) <= LIMIT:
        return raw
    while stdin.read(LIMIT):
        pass
    return None


def _reason(error: BaseException) -> str:
    """An error without its text, which may hold anything: its code, or the name of its class."""
    number = getattr(error, "errno", None)
    if isinstance(error, OSError) and number is not None:
        from errno import errorcode  # noqa: PLC0415

        return errorcode.get(number, type(error).__name__)
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else type(error).__name__
