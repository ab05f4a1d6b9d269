"""The worker's side: handlers for an application of their own (`application`) or of somebody else's (`register`).

They pass each other on in the order sanitize_ai_validation -> extract_learning; `mine_upload` follows an approval.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic, sleep
from typing import Any

import holdfast
from holdfast_pipelines.capture import hook, record, spending, uploads
from holdfast_pipelines.capture.extraction import extract
from holdfast_pipelines.capture.opening import opened
from holdfast_pipelines.capture.places import Places, make_folder, own_key
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.reading import ATTEMPTS, Reader
from holdfast_pipelines.capture.sanitiser import VERSION
from holdfast_pipelines.capture.upload_settings import UploadSettings
from holdfast_pipelines.capture.validation import AT_ONCE, SCRUB, validate

QUEUE = record.QUEUE
REST = 120  # seconds without a word, after which a conversation rests
LONGEST_WAIT = 1_800
SWEPT_AFTER = timedelta(minutes=10)
_CHECKPOINT_SECONDS = 0.5
_ASKING = 900  # seconds for a job that asks somebody outside: a long text is asked about in six pieces, twice at most
_TURN = 15  # seconds after which no further message of a conversation is begun in one run


def application(environment: dict[str, str] | None = None, *, url: str | None = None, **settings: Any) -> holdfast.App:
    """The application of the capture pipeline, on the database that the hook writes to."""
    environment = dict(os.environ) if environment is None else environment
    places = Places(environment)
    make_folder(os.path.dirname(places.database))  # noqa: PTH120
    app = opened(url or places.url, **settings)
    register(app, places, Reader(app, places, environment, settings.get("clock")))
    return app


def register(app: holdfast.App, places: Places, reader: Reader | None = None) -> None:
    """Make the pipeline's jobs jobs of this application, whose store must be the one that the hook writes to.

    Without a reader, rules validate and extract.
    """
    reader = reader or Reader(app, places, None)
    _register_validation(app, places, reader)
    _register_extraction(app, reader)
    _register_upload(app, places)
    _register_upkeep(app, places)


def _register_validation(app: holdfast.App, places: Places, reader: Reader) -> None:
    @app.job(
        type=record.VALIDATE, queue=QUEUE, priority=1, max_attempts=ATTEMPTS, timeout=_ASKING if reader.asks else 30
    )
    def sanitize_ai_validation(
        job: holdfast.JobContext,
        conversation_id: str,
        sanitization_version: str = VERSION,
        message_ids: list[str] | None = None,
    ) -> dict[str, Any]:
        """Look again at every message that was not looked at; rewrite what is found."""
        del sanitization_version, message_ids  # whatever was asked for: all that waits is validated
        judge, key = partial(reader.judge, attempt=job.attempt), own_key(places)
        # Where each answer takes its time it is stored at once, and a long line is taken up again where it was left.
        at_once = 1 if reader.asks else AT_ONCE
        found, done = validate(app, conversation_id, judge, key, at_once=at_once, seconds=_TURN)
        with app.transaction() as tx:
            state = tx.execute(query("conversation_state"), {"conversation_id": conversation_id})
            if state and done:
                rest = {} if state[0][0] else {"debounce": REST, "max_wait": LONGEST_WAIT}
                wanted = {"conversation_id": conversation_id}
                app.enqueue("extract_learning", wanted, coalesce_key=conversation_id, queue=QUEUE, **rest)
        if found:
            _scrubbed(app)  # at once if nobody reads; the job makes sure
        if not done:
            raise holdfast.Snooze(0)
        return {"success": True, "findings": found}

    @app.job(type=SCRUB, queue=QUEUE, priority=1, max_attempts=20, timeout=30)
    def capture_scrub() -> None:
        """Cut SQLite's log, which still holds what was rewritten."""
        if not _scrubbed(app):
            raise holdfast.Retry(after=2)


def _scrubbed(app: holdfast.App) -> bool:
    give_up = monotonic() + _CHECKPOINT_SECONDS
    while not app.checkpoint():
        if monotonic() > give_up:
            return False
        sleep(0.01)
    return True


def _register_extraction(app: holdfast.App, reader: Reader) -> None:
    @app.job(queue=QUEUE, priority=5, max_attempts=ATTEMPTS, timeout=_ASKING if reader.asks else 60)
    def extract_learning(
        job: holdfast.JobContext,
        conversation_id: str,
        min_confidence: float = 0.6,
        categories: list[str] | None = None,
    ) -> dict[str, Any]:
        """Look for what the conversation teaches, in its validated messages alone."""
        drafter = partial(reader.drafts, attempt=job.attempt)
        return extract(app, conversation_id, drafter, min_confidence=min_confidence, categories=categories or [])


def _register_upload(app: holdfast.App, places: Places) -> None:
    @app.job(type=uploads.JOB, queue=QUEUE, priority=10, max_attempts=5, timeout=120, max_crashes=5)
    def mine_upload(
        learning_id: str, ipfs_endpoint: str | None = None, chain_config: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Share one approved learning: resume where it stopped, and never twice."""
        from holdfast_pipelines.capture.upload import mine  # noqa: PLC0415  # few workers ever upload

        settings = UploadSettings(places.environment)
        settings.refuse_others(ipfs_endpoint, chain_config)
        return mine(app, settings, learning_id)


def _register_upkeep(app: holdfast.App, places: Places) -> None:
    @app.job(queue=QUEUE, max_attempts=1, timeout=60)
    def capture_spool() -> int:
        """Store what hooks had to put aside."""
        total = 0
        while done := hook.drain(app, places.spool, 100):
            total += done
        return total

    app.schedule("capture-spool", capture_spool.call(), every=10)

    def capture_rows_without_a_job() -> list[Any]:
        """Rows whose job was lost, by the last activity of their conversation."""
        now = datetime.now(UTC)
        before = (now - SWEPT_AFTER).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with app.transaction() as tx:
            record.ensure_tables(tx)
            spending.forget(tx, now)
            unseen = tx.execute(query("sweep_validation"), {"before": before})
            resting = tx.execute(query("sweep_extraction"), {"before": before})
        found: list[Any] = []
        for kind, rows in ((record.VALIDATE, unseen), ("extract_learning", resting)):
            handler = app.registry.door(kind)
            found += [
                handler.using(coalesce_key=name).call(conversation_id=name) for (name,) in rows if handler is not None
            ]
        return found

    app.sweeper(capture_rows_without_a_job, every=600, queue=QUEUE)
