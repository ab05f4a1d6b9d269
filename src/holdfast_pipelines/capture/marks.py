"""Ids, stamps and digests, from the interpreter's own modules: `hashlib` and `uuid` are too slow for a cold hook."""

from __future__ import annotations

import os
import sys
from time import gmtime, strftime, time_ns

if sys.version_info >= (3, 12):
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
else:
    from _sha256 import sha256  # type: ignore[import-not-found,no-redef,unused-ignore]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BLOCK = 64


def new_id() -> str:
    """A ULID."""
    number = time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -5, -5))


def now() -> str:
    """This moment, in UTC."""
    milliseconds = time_ns() // 1_000_000
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(milliseconds // 1000))}.{milliseconds % 1000:03}Z"


def content_hash(text: str) -> str:
    """SHA-256 of a text that is clean already."""
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def keyed_digest(key: bytes, text: str) -> str:
    """HMAC-SHA-256 (RFC 2104): equal findings can be counted, and nobody without the key can guess what they were."""
    block = key.ljust(_BLOCK, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in block) + text.encode("utf-8", "surrogatepass")).digest()
    return str(sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest())
