"""What a run of `mine_upload` reads and writes of its row, and how it says that it must wait."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

import holdfast
from holdfast_pipelines.capture import uploads
from holdfast_pipelines.capture.marks import now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.sanitiser import sanitise

if TYPE_CHECKING:
    from holdfast import App
    from holdfast_pipelines.capture.uploads import Upload

LONGEST_WAIT = 60.0  # seconds
SOON, LATER = 1.0, 5.0
_PATIENT_FOR = 30.0
RAISED_AFTER = 180.0  # seconds in which nobody mined it


def row(app: App, learning_id: str) -> Upload:
    """The row as it stands; Permanent if there is none."""
    try:
        return uploads.get(app, learning_id)
    except uploads.NoSuchUpload as error:
        raise coded(holdfast.Permanent(str(error)), error.code) from None


def allowed(app: App, learning_id: str) -> bool:
    """Whether the learning may go out: sharing is on, it was approved, and nobody revoked it."""
    with app.transaction() as tx:
        return allowed_in(tx, learning_id)


def allowed_in(tx: Any, learning_id: str) -> bool:
    """The same, in a transaction that is open."""
    ((sharing, verdict),) = tx.execute(query("upload_allowed"), {"learning_id": learning_id})
    return bool(sharing) and verdict == "approved"


def drop(app: App, row: Upload) -> None:
    """Nothing of it is to go out any more."""
    with app.transaction() as tx:
        values = {
            "learning_id": row.learning_id,
            "error": "sharing was turned off, or the approval revoked",
            "at": now(),
        }
        tx.execute(query("upload_dropped"), values)
        tx.execute(query("learning_unapproved"), {"id": row.learning_id})


def write(app: App, statement: str, learning_id: str, **values: Any) -> Any:
    """One statement about the upload, in a transaction of its own."""
    with app.transaction() as tx:
        return tx.execute(query(statement), {"learning_id": learning_id, "at": now()} | values)


def wait(app: App, learning_id: str, reason: str, seconds: float | None = None) -> NoReturn:
    """Not now: note why, and let the job sleep; longer each time in a row, if no time is given."""
    found = write(app, "upload_waits", learning_id, error=reason)
    waits = found[0][0] if found else 0
    raise holdfast.Snooze(min(LONGEST_WAIT, 2.0 ** min(waits, 10)) if seconds is None else seconds)


def rest(row: Upload) -> NoReturn:
    """Until the next block or so: soon at first, later when it takes long."""
    raise holdfast.Snooze(SOON if _age(row) < _PATIENT_FOR else LATER)


def is_stuck(row: Upload) -> bool:
    """Whether what was signed has waited so long for a block that its fee may be too low."""
    return _age(row) > RAISED_AFTER


def _age(row: Upload) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(row.tx_signed_at or row.updated_at)).total_seconds()


def private(document: str) -> bool:
    """Whether the sanitiser, which may know more than at the capture, finds anything."""
    fields = json.loads(document)
    texts = [fields["title"], fields["summary"], fields["context"], *fields["tags"]]
    return any(sanitise(text)[1] for text in texts)


def coded(signal: holdfast.Permanent | holdfast.Retry, code: str = "UPLOAD_REFUSED") -> Any:
    """A verdict with a code of ours."""
    signal.code = code
    return signal
