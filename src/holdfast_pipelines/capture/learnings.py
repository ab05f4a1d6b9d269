"""Learnings: found, shown, approved, revoked. Sharing is off until the user turns it on."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast_pipelines.capture.marks import new_id, now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.record import ensure_tables

if TYPE_CHECKING:
    from holdfast import App

LONGEST_QUERY = 1_000
MOST = 100
RANKED = 5_000  # matches that are ranked: of more, the newest
_COLUMNS = ("id", "title", "category", "confidence", "tags", "created_at", "excerpt")
_WHOLE = (
    "id", "conversation_id", "source_message_ids", "category", "title", "content", "confidence", "tags", "created_at",
    "metadata", "license", "attribution_type", "upload_status",
)  # fmt: skip
_JSON = frozenset(("source_message_ids", "tags", "metadata"))


class NoSuchLearning(holdfast.NotFound):
    """There is no learning of this id."""


class NotShared(holdfast.Conflict):
    """Sharing is off; the text says how to turn it on."""


def search(
    app: App,
    text: str,
    *,
    category: str | None = None,
    tags: tuple[str, ...] = (),
    min_confidence: float = 0.0,
    limit: int = 10,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """The learnings that hold all words of the text, best first."""
    words = quoted(text)
    if not words:
        return []
    limit, most = max(1, min(limit, MOST)), limit + offset + 200
    values: dict[str, Any] = {"query": words, "category": category, "min_confidence": min_confidence}
    values |= {"tags": json.dumps(tags), "limit": limit, "offset": offset, "ranked": RANKED - 1}
    with app.transaction() as tx:
        ensure_tables(tx)
        while True:
            rows = tx.execute(query("search"), values | {"most": most})
            if (
                len(rows) == limit
                or most >= RANKED
                or most > tx.execute(query("matches"), {"query": words, "most": most + 1})[0][0]
            ):
                return [_row(_COLUMNS, row) for row in rows]
            most *= 10  # filters left too few of the best matches


def quoted(text: str) -> str:
    """The words of a text as FTS5 takes them: each quoted, so that none of them is an operator."""
    return " ".join(f'"{word}"' for word in re.findall(r"\w+", text[:LONGEST_QUERY]))


def show(app: App, name: str) -> dict[str, Any]:
    """One learning with all it has."""
    with app.transaction() as tx:
        ensure_tables(tx)
        return _get(tx, name)


def context(app: App, name: str) -> dict[str, Any]:
    """A learning, and the validated messages of its conversation."""
    with app.transaction() as tx:
        ensure_tables(tx)
        learning = _get(tx, name)
        rows = tx.execute(query("validated"), {"conversation_id": learning["conversation_id"]})
    columns = ("id", "role", "content", "tool_calls", "sequence", "created_at")
    return {"learning": learning, "messages": [dict(zip(columns, row, strict=True)) for row in rows]}


def listing(app: App, which: str, limit: int = 20) -> list[dict[str, Any]]:
    """The newest learnings (`recent`), or the surest (`top`)."""
    with app.transaction() as tx:
        ensure_tables(tx)
        return [_row(_COLUMNS, row) for row in tx.execute(query(which), {"limit": limit})]


def totals(app: App) -> dict[str, Any]:
    """How many there are."""
    with app.transaction() as tx:
        ensure_tables(tx)
        rows = tx.execute(query("totals"))
    count = sum(row[1] for row in rows)
    return {
        "learnings": count,
        "average_confidence": round(sum(row[1] * row[2] for row in rows) / count, 3) if count else None,
        "categories": {row[0]: row[1] for row in rows},
        "latest_learning_at": max((row[3] for row in rows), default=None),
    }


def approve(app: App, name: str) -> None:
    """A person allows one learning to be shared."""
    with app.transaction() as tx:
        ensure_tables(tx)
        _get(tx, name)
        if not _sharing(tx):
            raise NotShared(
                "SHARING_OFF", "sharing is off: turn it on with `holdfast capture sharing on`, then approve"
            )
        tx.execute(query("approval_add"), {"id": new_id(), "learning_id": name, "at": now(), "decision": "approved"})
        tx.execute(query("learning_status"), {"id": name, "status": "approved"})


def revoke(app: App, name: str, reason: str = "user-requested") -> None:
    """A learning is not to be shared any more; that it was so is recorded."""
    with app.transaction() as tx:
        ensure_tables(tx)
        _get(tx, name)
        tx.execute(query("revocation_add"), {"id": new_id(), "learning_id": name, "at": now(), "reason": reason})
        tx.execute(query("learning_status"), {"id": name, "status": "revoked"})


def sharing(app: App, turn: bool | None = None) -> bool:  # noqa: FBT001
    """Whether sharing is on; with `turn`, set it."""
    with app.transaction() as tx:
        ensure_tables(tx)
        if turn is not None and turn != _sharing(tx):
            statement = "consent_add" if turn else "consent_withdraw"
            tx.execute(query(statement), {"id": new_id(), "at": now()} if turn else {"at": now()})
        return _sharing(tx)


def _sharing(tx: Any) -> bool:
    rows = tx.execute(query("consent"))
    return bool(rows and rows[0][0])


def _get(tx: Any, name: str) -> dict[str, Any]:
    rows = tx.execute(query("learning"), {"id": name})
    if not rows:
        raise NoSuchLearning(
            "LEARNING_NOT_FOUND", f"no learning {name[:50]!a}: `holdfast capture learnings search WORDS` finds them"
        )
    return _row(_WHOLE, rows[0])


def _row(columns: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: json.loads(value) if name in _JSON else value for name, value in zip(columns, row, strict=True)}
