"""Learnings: found, shown, approved, revoked. Sharing is off until the user turns it on."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast_pipelines.capture import uploads
from holdfast_pipelines.capture.marks import new_id, now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.record import ForeignTables, ensure_tables, has_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast import App

LONGEST_QUERY = 1_000
MOST = 100
RANKED = 5_000  # matches that are ranked: of more, the newest
LONGEST_MESSAGE = 4_000
_MOST_WORDS = 32  # of which any may be found: each is read from the index
_BEFORE = 5  # messages shown in front of those that a learning was taken from
_COLUMNS = ("id", "title", "category", "confidence", "tags", "created_at", "excerpt")
_WHOLE = (
    "id", "conversation_id", "source_message_ids", "category", "title", "content", "confidence", "tags", "created_at",
    "metadata", "license", "attribution_type", "upload_status",
)  # fmt: skip
_MESSAGE = ("id", "role", "content", "length", "tool_calls", "sequence", "created_at")
_CONVERSATION = ("id", "project", "created_at", "completed_at")
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
    any_word: bool = False,
) -> list[dict[str, Any]]:
    """The learnings that hold all words of the text, or any of them, best first."""
    words = quoted(text, any_word=any_word)
    if not words:
        return []
    values: dict[str, Any] = {"query": words, "category": category, "min_confidence": min_confidence}
    values |= {"tags": json.dumps(tags), "limit": max(1, min(limit, MOST)), "offset": offset, "ranked": RANKED - 1}
    return _read(app, lambda tx: [_row(_COLUMNS, row) for row in _matches(tx, values)]) or []


def _matches(tx: Any, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    most = values["limit"] + values["offset"] + 200
    while True:
        rows: list[tuple[Any, ...]] = tx.execute(query("search"), values | {"most": most})
        if len(rows) == values["limit"] or most >= RANKED:
            return rows
        if most > tx.execute(query("matches"), {"query": values["query"], "most": most + 1})[0][0]:
            return rows
        most *= 10  # filters left too few of the best matches


def quoted(text: str, *, any_word: bool = False) -> str:
    """The words of a text as FTS5 takes them: each quoted, so that none of them is an operator."""
    words = [f'"{word}"' for word in re.findall(r"\w+", text[:LONGEST_QUERY])]
    return " OR ".join(words[:_MOST_WORDS]) if any_word else " ".join(words)


def show(app: App, name: str) -> dict[str, Any]:
    """One learning with all it has."""
    return _found(name, _read(app, lambda tx: _whole(tx, name)))


def context(app: App, name: str, *, start: int | None = None, limit: int = 100) -> dict[str, Any]:
    """A learning, and validated messages of its conversation: from a place on, or from shortly before its source."""

    def look(tx: Any) -> Any:
        learning = _whole(tx, name)
        if learning is None:
            return None
        values = {"conversation_id": learning["conversation_id"], "start": start, "limit": limit + 1}
        values |= {"sources": json.dumps(learning["source_message_ids"]), "longest": LONGEST_MESSAGE, "before": _BEFORE}
        rows = [dict(zip(_MESSAGE, row, strict=True)) for row in tx.execute(query("context"), values)]
        about = tx.execute(query("conversation_about"), {"conversation_id": learning["conversation_id"]})
        return {
            "learning": learning,
            "conversation": dict(zip(_CONVERSATION, about[0], strict=True)),
            "messages": rows[:limit],
            "next_start": rows[limit]["sequence"] if len(rows) > limit else None,
        }

    return _found(name, _read(app, look))


def listing(app: App, which: str, limit: int = 20) -> list[dict[str, Any]]:
    """The newest learnings (`recent`), or the surest (`top`)."""
    return _read(app, lambda tx: [_row(_COLUMNS, row) for row in tx.execute(query(which), {"limit": limit})]) or []


def totals(app: App) -> dict[str, Any]:
    """How many there are."""
    rows = _read(app, lambda tx: tx.execute(query("totals"))) or []
    count = sum(row[1] for row in rows)
    return {
        "learnings": count,
        "average_confidence": round(sum(row[1] * row[2] for row in rows) / count, 3) if count else None,
        "categories": {row[0]: row[1] for row in rows},
        "latest_learning_at": max((row[3] for row in rows), default=None),
    }


def approve(app: App, name: str) -> None:
    """A person allows one learning to be shared: what it says now, and nothing else. Its upload begins."""
    with app.transaction() as tx:
        ensure_tables(tx)
        learning = _get(tx, name)
        if not _sharing(tx):
            raise NotShared(
                "SHARING_OFF", "sharing is off: turn it on with `holdfast capture sharing on`, then approve"
            )
        tx.execute(query("approval_add"), {"id": new_id(), "learning_id": name, "at": now(), "decision": "approved"})
        tx.execute(query("learning_status"), {"id": name, "status": "approved"})
        uploads.begin(app, tx, learning)


def revoke(app: App, name: str, reason: str = "user-requested") -> None:
    """A learning is not to be shared any more; that it was so is recorded. What is not out yet is called back."""
    with app.transaction() as tx:
        ensure_tables(tx)
        _get(tx, name)
        tx.execute(query("revocation_add"), {"id": new_id(), "learning_id": name, "at": now(), "reason": reason})
        tx.execute(query("learning_status"), {"id": name, "status": "revoked"})
        uploads.recall(app, tx, name)


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


def _read(app: App, verb: Callable[[Any], Any]) -> Any:
    """What the verb reads, and None where nothing was captured yet.

    Not in `app.transaction()`: that takes the write lock, for which a hook waits no longer than 25 milliseconds.
    """
    try:
        return app.desk.read(lambda tx: verb(tx) if has_tables(tx) else None)
    except ForeignTables as error:
        raise holdfast.StoreError("FOREIGN_TABLES", str(error)) from None


def _get(tx: Any, name: str) -> dict[str, Any]:
    return _found(name, _whole(tx, name))


def _whole(tx: Any, name: str) -> dict[str, Any] | None:
    rows = tx.execute(query("learning"), {"id": name})
    return _row(_WHOLE, rows[0]) if rows else None


def _found(name: str, learning: dict[str, Any] | None) -> dict[str, Any]:
    if learning is None:
        raise NoSuchLearning(
            "LEARNING_NOT_FOUND", f"no learning {name[:50]!a}: `holdfast capture learnings search WORDS` finds them"
        )
    return learning


def _row(columns: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: json.loads(value) if name in _JSON else value for name, value in zip(columns, row, strict=True)}
