"""`extract_learning`: what a conversation teaches, once it rests or has ended; said once, however often it is met."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast_pipelines.capture.marks import content_hash, new_id, now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.record import ensure_tables
from holdfast_pipelines.providers.extraction import confidence_of, threshold_of
from holdfast_pipelines.providers.rules import Message

if TYPE_CHECKING:
    from holdfast import App
    from holdfast_pipelines.providers.rules import Draft

    Drafter = Callable[[list[Message], list[str]], tuple[list[Draft], str]]

_NEAR = 3  # bits in which two texts that say the same may differ
_BITS = 64
_QUOTE = 200


def extract(
    app: App, conversation_id: str, drafter: Drafter, *, min_confidence: float, categories: list[str]
) -> dict[str, Any]:
    """Store what is new; answers how many learnings, and why there are none."""
    with app.transaction() as tx:
        rows = tx.execute(query("validated"), {"conversation_id": conversation_id})
    messages = [Message(id=row[0], role=row[1], content=row[2], with_tools=row[3] is not None) for row in rows]
    drafts, by = drafter(messages, categories)
    good = [draft for draft in drafts if confidence_of(draft) >= threshold_of(draft.category, min_confidence)]
    texts = {message.id: message for message in messages}
    with app.transaction() as tx:
        ensure_tables(tx)
        stored = sum(_store(tx, conversation_id, draft, texts, by) for draft in good)
        if rows:
            tx.execute(query("extracted"), {"conversation_id": conversation_id, "sequence": rows[-1][4]})
    reason = None if stored else "low_value" if not drafts else "low_quality" if not good else "known_already"
    return {"success": True, "learnings_extracted": stored, "reason": reason}


def _store(tx: Any, conversation_id: str, draft: Draft, texts: dict[str, Message], by: str) -> bool:
    """Whether it is new. One that is known word for word gains sources; one that is nearly known is left out."""
    confidence, same = confidence_of(draft), content_hash(canonical(f"{draft.category}:{draft.title} {draft.content}"))
    run = {"timestamp": now(), "new_sources": list(draft.evidence), "confidence": confidence}
    for known, sources, sure, metadata in tx.execute(query("learning_by_hash"), {"dedupe_hash": same}):
        merged = list(dict.fromkeys((*json.loads(sources), *draft.evidence)))
        about = json.loads(metadata)
        about["extraction_runs"] = [*about["extraction_runs"], run][-20:]
        values = {"id": known, "source_message_ids": json.dumps(merged), "metadata": json.dumps(about)}
        tx.execute(query("learning_merge"), values | {"confidence": max(sure, confidence)})
        return False
    mark = simhash(draft.content)
    for (other,) in tx.execute(query("learning_newest"), {"category": draft.category}):
        if (other ^ mark).bit_count() < _NEAR:
            return False
    if not by.startswith("rules") and _told_before(tx, conversation_id, draft):
        return False
    quotes = draft.details.get("quotes") or [
        {"message_id": name, "text": texts[name].content[:_QUOTE], "role": texts[name].role}
        for name in draft.evidence
        if name in texts
    ]
    metadata = {
        "evidence": {"quotes": quotes, "context_summary": draft.summary},
        "confidence_factors": draft.factors,
        "extraction_runs": [run],
        "extractor": by,
    }
    values = {"id": new_id(), "conversation_id": conversation_id, "category": draft.category, "title": draft.title}
    values |= {
        "source_message_ids": json.dumps(draft.evidence),
        "content": draft.content,
        "tags": json.dumps(draft.tags),
    }
    values |= {"dedupe_hash": same, "at": now(), "metadata": json.dumps(metadata)}
    tx.execute(query("learning_add"), {**values, "confidence": confidence, "simhash": mark})
    return True


def _told_before(tx: Any, conversation_id: str, draft: Draft) -> bool:
    """Whether it gave a learning of this kind on the same evidence: a model says it again in other words."""
    rows = tx.execute(query("learnings_of"), {"conversation_id": conversation_id, "category": draft.category})
    return any(set(draft.evidence) <= set(json.loads(sources)) for (sources,) in rows)


def canonical(text: str) -> str:
    """A text without what changes from one telling to the next: case, spaces, dates, numbers of issues, queries."""
    text = " ".join(text.lower().split())
    text = re.sub(r"\d{4}-\d\d-\d\d(?:t[\d:.]{5,15}z?)?", "DATE", text)
    text = re.sub(r"(https?://[^\s?]{1,500})\?\S{0,1000}", r"\1", text)
    return re.sub(r"#\d{1,9}", "ISSUE", text)


def simhash(text: str) -> int:
    """64 bits, of which few differ between texts of nearly the same words; signed, as SQLite stores them."""
    weights = [0] * _BITS
    for word in re.findall(r"\w+", text.lower()):
        digest = int(content_hash(word)[:16], 16)
        for bit in range(_BITS):
            weights[bit] += 1 if digest >> bit & 1 else -1
    value = sum(1 << bit for bit, weight in enumerate(weights) if weight > 0)
    return value - (1 << _BITS) if value >> (_BITS - 1) else value
