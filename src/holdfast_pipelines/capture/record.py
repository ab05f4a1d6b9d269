"""One transaction for each record: conversation, messages, log of findings and the job that validates them."""

from __future__ import annotations

from holdfast_pipelines.capture.marks import new_id
from holdfast_pipelines.capture.queries import query, statements
from holdfast_pipelines.capture.texts import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast import App

SCHEMA = 1
QUEUE = "capture"
VALIDATE = "sanitize_ai_validation"
VALIDATE_OPTIONS = {"queue": QUEUE, "priority": 1, "max_attempts": 3}


class ForeignTables(Exception):
    """The database has tables of the same names that are somebody else's, or of another version."""


class AnswerOwed(Exception):
    """An answer of this session was not in its transcript when it ended: fetch it first, so that it keeps its place."""


def store(app: App, record: dict[str, Any], *, fetched: bool | None = None) -> int:
    """Write a record; answers how many messages are new. A record that is there already changes nothing.

    `fetched` says whether the record has all answers of its session's transcript. False: AnswerOwed if one is missing
    and nothing is written. None: nobody has looked, and what is owed stays owed.
    """
    with app.transaction() as tx:
        ensure_tables(tx)
        return _store(app, tx, record, fetched=fetched)


def ensure_tables(tx: Any) -> None:
    """Get ready to write: make the tables where there are none; those of others, or of other versions, stay."""
    # Whoever writes must zero what he moves, too: a page that is split leaves copies behind.
    tx.execute(query("secure_delete"))
    if not has_tables(tx):
        for statement in statements("tables"):
            tx.execute(statement)


def has_tables(tx: Any) -> bool:
    """Whether the tables are there; those of others, or of other versions, are refused."""
    found = {name for (name,) in tx.execute(query("schema_look"))}
    if "capture_schema" in found:
        if tx.execute(query("schema_version")) != [(SCHEMA,)]:
            raise ForeignTables("the capture tables are of another version of Holdfast: upgrade the older of the two")
        return True
    if found:
        raise ForeignTables(f"the database has a table {min(found)} that is not of Holdfast: set HOLDFAST_CAPTURE_URL")
    return False


def _store(app: App, tx: Any, record: dict[str, Any], *, fetched: bool | None) -> int:
    at, owed = record["at"], 0
    names = {"session_id": record["session_id"], "conversation_id": record["conversation_id"]}
    known = tx.execute(query("conversation"), names)
    if known:
        conversation, owed = known[0]
        if owed and fetched is False:
            raise AnswerOwed
    else:
        conversation = new_id()
        values = {"id": conversation, "session_id": record["session_id"], "project": record["project"], "at": at}
        tx.execute(query("conversation_add"), values | {"version": record["version"]})
    new = sum(_add(tx, record, conversation, part) for part in range(len(record["messages"])))
    state = {
        "id": conversation,
        "at": at,
        "owed": int(record["owed"] or (owed and fetched is None)),
        "ended": int(record["ended"]),
    }
    tx.execute(query("conversation_touch"), state)
    if new or record["ended"]:
        app.enqueue(
            VALIDATE,
            {"conversation_id": conversation, "sanitization_version": record["version"]},
            coalesce_key=conversation,
            **VALIDATE_OPTIONS,
        )
    return new


def _add(tx: Any, record: dict[str, Any], conversation: str, part: int) -> bool:
    message = record["messages"][part]
    values = {
        "id": new_id(),
        "conversation_id": conversation,
        "event_id": record["id"],
        "part": part,
        "at": record["at"],
        "role": message["role"],
        "content": message["content"],
        "content_hash": message["content_hash"],
        "raw_hash": message["raw_hash"],
        "source_id": message["source_id"],
        "tool_calls": None if message["tool_calls"] is None else dumps(message["tool_calls"]),
    }
    if tx.execute(query("message_known"), values):
        return False
    if (
        message["source_id"] is not None
        and message["tool_calls"] is None
        and tx.execute(query("message_claim"), values)
    ):
        return False
    tx.execute(query("message_add"), values)
    for rule, category, digest in message["findings"]:
        log(tx, values, rule, category, digest=digest)
    return True


def log(
    tx: Any,
    message: dict[str, Any],
    rule: str,
    category: str,
    *,
    digest: str,
    detector: str = "rule",
    sure: float = 1.0,
) -> None:
    """One line for what was taken out."""
    line = {"id": new_id(), "conversation_id": message["conversation_id"], "message_id": message["id"]}
    line |= {"category": category, "rule_id": rule, "digest": digest, "replacement": f"[REDACTED_{category}]"}
    tx.execute(query("log_add"), line | {"detector": detector, "confidence": sure, "at": message["at"]})
