"""`sanitize_ai_validation`: a second look at what the hook let through, and a rewrite of what is found."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast_pipelines.capture import record
from holdfast_pipelines.capture.marks import content_hash, keyed_digest, now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.sanitiser import sanitise

if TYPE_CHECKING:
    from holdfast import App
    from holdfast_pipelines.providers.rules import Detection

    Judge = Callable[[str], tuple[list[Detection], str]]

AT_ONCE = 200
SCRUB = "capture_scrub"


def validate(
    app: App, conversation_id: str, judge: Judge, key: bytes, *, at_once: int = AT_ONCE, seconds: float = 3_600
) -> tuple[int, bool]:
    """Validate every message that waits, as far as the time goes; answers how many things were found, and whether all
    are done. Safe to repeat: what was judged is stored, `at_once` messages in one transaction.
    """
    found, give_up = 0, monotonic() + seconds
    while messages := _waiting(app, conversation_id, at_once):
        if monotonic() > give_up:
            return found, False
        judged = [_judged(message, judge, key) for message in messages]
        with app.transaction() as tx:
            record.ensure_tables(tx)
            new = sum(_write(tx, conversation_id, message) for message in judged)
            if new:  # whatever becomes of this run, what was rewritten is cut from SQLite's log, too
                app.enqueue(SCRUB, coalesce_key="file", queue=record.QUEUE, priority=1, max_attempts=20)
        found += new
    return found, True


def _waiting(app: App, conversation_id: str, most: int) -> list[tuple[str, str, str]]:
    with app.transaction() as tx:
        record.ensure_tables(tx)
        rows: list[tuple[str, str, str]] = tx.execute(
            query("unvalidated"), {"conversation_id": conversation_id, "most": most}
        )
    return rows


def _judged(message: tuple[str, str, str], judge: Judge, key: bytes) -> dict[str, Any]:
    """The text without what was found; findings carry a keyed digest, never the text."""
    name, text, seen = message
    lines: list[tuple[str, str, str, str, float]] = []
    clean, findings = sanitise(text, lambda part: keyed_digest(key, part))  # by rules that may be newer than the hook's
    lines += [(one.rule, one.category, one.digest, "rule", 1.0) for one in findings]
    detections, by = judge(clean)
    for one in reversed(detections):  # from the end, so that places stay what they are
        digest = keyed_digest(key, clean[one.start : one.end])
        detector = "ai" if one.rule.startswith("claude-") else "rule"
        lines.append((one.rule, one.category, digest, detector, one.confidence))
        clean = f"{clean[: one.start]}[REDACTED_{one.category}]{clean[one.end :]}"
    return {"id": name, "seen": seen, "content": clean, "content_hash": content_hash(clean), "lines": lines, "by": by}


def _write(tx: Any, conversation_id: str, message: dict[str, Any]) -> int:
    lines = message["lines"]
    values = {name: message[name] for name in ("id", "seen", "content", "content_hash", "by")}
    tx.execute(query("message_validated"), values | {"findings": len(lines)})
    line_of = {"id": message["id"], "conversation_id": conversation_id, "at": now()}
    for rule, category, digest, detector, sure in lines:
        record.log(tx, line_of, rule, category, digest=digest, detector=detector, sure=sure)
    return len(lines)
