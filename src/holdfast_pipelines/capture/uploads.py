"""Uploads as rows: begun by an approval, looked at, dropped, tried again. What happens outside: `upload.py`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import holdfast
from holdfast_pipelines.capture.marks import new_id, now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.capture.record import QUEUE, ensure_tables

if TYPE_CHECKING:
    from holdfast import App

JOB = "mine_upload"
OPTIONS = {"queue": QUEUE, "priority": 10, "max_attempts": 5}
STATUSES = ("pending", "ipfs_uploaded", "tx_submitted", "confirmed", "failed", "dropped")
LARGEST = 256 * 1024  # bytes of a document: one block of IPFS
_SUMMARY = 300  # characters
_LISTED = ("learning_id", "status", "cid", "tx", "waits_for", "created_at", "updated_at", "confirmed_at")


class NoSuchUpload(holdfast.NotFound):
    """No learning of this id was approved."""


class Upload(NamedTuple):
    """A row, as `upload.sql` reads it."""

    id: str
    learning_id: str
    document: str
    ipfs_cid: str | None
    chain_tx_hash: str | None
    status: str
    tx_chain: int | None
    tx_contract: str | None
    tx_account: str | None
    tx_nonce: int | None
    tx_raw: str | None
    tx_replaces: str | None
    tx_signed_at: str | None
    tx_seen_at: str | None
    tx_block: int | None
    begun_at: str | None
    waits: int
    last_error: str | None
    created_at: str
    updated_at: str
    uploaded_at: str | None
    confirmed_at: str | None

    @property
    def content(self) -> bytes:
        """What goes out, to the byte."""
        return self.document.encode()


def document_of(learning: dict[str, Any]) -> str:
    """The public form of a learning, in canonical JSON. No project, no quotes, no messages go along."""
    content: str = learning["content"]
    summary = content.strip().partition("\n\n")[0]
    fields = {
        "id": learning["id"],
        "title": learning["title"],
        "summary": summary[:_SUMMARY],
        "context": content,
        "tags": learning["tags"],
        "category": learning["category"],
        "created": learning["created_at"],
        "version": "1",
        "license": learning["license"],
    }
    return json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def metadata_of(document: str) -> bytes:
    """What the contract is given a hash of."""
    fields = json.loads(document)
    kept = {name: fields[name] for name in ("created", "summary", "title")}
    return json.dumps(kept, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def begin(app: App, tx: Any, learning: dict[str, Any]) -> None:
    """In the transaction of an approval: keep what was approved, and the job that sends it."""
    document = document_of(learning)
    if len(document) > LARGEST:
        raise holdfast.BadInput("UPLOAD_REFUSED", f"the learning is too long to be shared: {LARGEST} bytes is the most")
    values = {"id": new_id(), "learning_id": learning["id"], "document": document, "at": now()}
    tx.execute(query("upload_add"), values)
    app.enqueue(JOB, {"learning_id": learning["id"]}, coalesce_key=learning["id"], **OPTIONS)


def recall(app: App, tx: Any, learning_id: str) -> None:
    """In the transaction of a revocation: have what is under way stopped, and what was pinned unpinned."""
    found = tx.execute(query("upload"), {"learning_id": learning_id})
    if found and Upload(*found[0]).status not in {"confirmed", "dropped"}:
        app.enqueue(JOB, {"learning_id": learning_id}, coalesce_key=learning_id, **OPTIONS)


def get(app: App, learning_id: str) -> Upload:
    """The upload of a learning."""
    with app.transaction() as tx:
        ensure_tables(tx)
        found = tx.execute(query("upload"), {"learning_id": learning_id})
    if not found:
        raise NoSuchUpload(
            "UPLOAD_NOT_FOUND",
            f"no upload of a learning {learning_id[:50]!a}: `holdfast capture learnings approve ID` begins one",
        )
    return Upload(*found[0])


def show(app: App, learning_id: str) -> dict[str, Any]:
    """One upload, with the document that goes out."""
    found = get(app, learning_id)
    return {
        "learning_id": found.learning_id,
        "status": found.status,
        "cid": found.ipfs_cid,
        "tx": found.chain_tx_hash,
        "chain_id": found.tx_chain,
        "contract": found.tx_contract,
        "account": found.tx_account,
        "nonce": found.tx_nonce,
        "block": found.tx_block,
        "waits_for": found.last_error,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
        "confirmed_at": found.confirmed_at,
        "document": json.loads(found.document),
    }


def listing(app: App, status: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
    """The newest uploads."""
    with app.transaction() as tx:
        ensure_tables(tx)
        rows = tx.execute(query("uploads"), {"status": status, "limit": limit})
    return [dict(zip(_LISTED, row, strict=True)) for row in rows]


def retry(app: App, learning_id: str) -> dict[str, Any]:
    """Try an upload again now: one that has failed, or that waits."""
    found = get(app, learning_id)
    if found.status in {"confirmed", "dropped"}:
        raise holdfast.Conflict(
            "WRONG_STATUS",
            f"the upload is {found.status}"
            + ("" if found.status == "confirmed" else ": `holdfast capture learnings approve ID` begins it anew"),
        )
    app.enqueue(JOB, {"learning_id": learning_id}, coalesce_key=learning_id, **OPTIONS)
    return {"learning_id": learning_id, "status": found.status}


def counts(tx: Any) -> dict[str, tuple[int, int]]:
    """By status: how many, and how many of them wait for something."""
    return {status: (number, waiting) for status, number, waiting in tx.execute(query("upload_counts"))}
