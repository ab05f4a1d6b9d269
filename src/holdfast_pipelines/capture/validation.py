"""`sanitize_ai_validation`: a second look at what the hook let through, and a rewrite of what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast_pipelines.capture import record
from holdfast_pipelines.capture.marks import content_hash, keyed_digest, now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.sanitiser import sanitise

if TYPE_CHECKING:
    from holdfast import App
    from holdfast_pipelines.providers.rules import Validator

_AT_ONCE = 200
_UNSURE_DETECTOR = "ai"


def validate(app: App, conversation_id: str, validator: Validator, key: bytes) -> int:
    """Validate every message that waits; answers how many things were found. Safe to repeat."""
    found = 0
    while messages := _waiting(app, conversation_id):
        judged = [_judged(message, validator, key) for message in messages]
        with app.transaction() as tx:
            record.ensure_tables(tx)
            found += sum(_write(tx, conversation_id, message, validator.name) for message in judged)
    return found


def _waiting(app: App, conversation_id: str) -> list[tuple[str, str, str]]:
    with app.transaction() as tx:
        record.ensure_tables(tx)
        rows: list[tuple[str, str, str]] = tx.execute(
            query("unvalidated"), {"conversation_id": conversation_id, "most": _AT_ONCE}
        )
    return rows


def _judged(message: tuple[str, str, str], validator: Validator, key: bytes) -> dict[str, Any]:
    """The text without what was found; findings carry a keyed digest, never the text."""
    name, text, seen = message
    lines: list[tuple[str, str, str, str, float]] = []
    clean, findings = sanitise(text, lambda part: keyed_digest(key, part))  # by rules that may be newer than the hook's
    lines += [(one.rule, one.category, one.digest, "rule", 1.0) for one in findings]
    for one in reversed(validator.detect(clean)):  # from the end, so that places stay what they are
        digest = keyed_digest(key, clean[one.start : one.end])
        detector = "rule" if validator.name.startswith("rules") else _UNSURE_DETECTOR
        lines.append((one.rule, one.category, digest, detector, one.confidence))
        clean = f"{clean[: one.start]}[REDACTED_{one.category}]{clean[one.end :]}"
    return {"id": name, "seen": seen, "content": clean, "content_hash": content_hash(clean), "lines": lines}


def _write(tx: Any, conversation_id: str, message: dict[str, Any], by: str) -> int:
    lines = message["lines"]
    values = {name: message[name] for name in ("id", "seen", "content", "content_hash")}
    tx.execute(query("message_validated"), values | {"findings": len(lines), "by": by})
    line_of = {"id": message["id"], "conversation_id": conversation_id, "at": now()}
    for rule, category, digest, detector, sure in lines:
        record.log(tx, line_of, rule, category, digest=digest, detector=detector, sure=sure)
    return len(lines)
