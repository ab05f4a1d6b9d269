"""Idempotency keys from content."""

from __future__ import annotations

from hashlib import sha256
from hmac import new as keyed_digest

from holdfast.model.payload import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def content_key(*parts: Any, nonce: str | bytes | None = None) -> str:
    """The same key for the same content, whatever the order of its fields; with a nonce nobody else can guess it."""
    text = encode(_ordered(list(parts)), what="content of a key", limit=16 * 1024 * 1024).encode()
    if nonce is None:
        return sha256(text).hexdigest()
    return keyed_digest(nonce.encode() if isinstance(nonce, str) else nonce, text, sha256).hexdigest()


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    return value
