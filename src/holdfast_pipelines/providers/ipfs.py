"""IPFS through the RPC API of Kubo: a document that fits into one block is added, pinned, looked for and unpinned.

The node is not believed: the CID that it answers must be the one that the content has.
"""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha256
from secrets import token_hex
from typing import Any
from urllib.parse import urlencode

from holdfast_pipelines.providers.outside import Garbled, Host, Refused, Unreachable, parsed

BLOCK = 256 * 1024  # what Kubo puts into one block
_ADD = {
    "pin": "true",
    "cid-version": "1",
    "raw-leaves": "false",
    "hash": "sha2-256",
    "chunker": f"size-{BLOCK}",
    "wrap-with-directory": "false",
    "inline": "false",
    "progress": "false",
}
_CID_VERSION, _DAG_PB, _SHA2_256, _DIGEST_BYTES = 1, 0x70, 0x12, 32


class Kubo:
    """A Kubo node."""

    def __init__(self, address: str) -> None:
        self._host = Host(address)
        self.name = self._host.name

    def ensure_pinned(self, content: bytes) -> str:
        """The node holds the content and keeps it; answers its CID. Safe to repeat: equal content is one pin."""
        cid = cid_of(content)
        if not self.pinned(cid):
            self._add(content, cid)
            if not self.pinned(cid):
                raise Garbled(f"{self.name} added a document and did not pin it")
        return cid

    def pinned(self, cid: str) -> bool:
        """Whether the node keeps this CID."""
        try:
            answer = _object(self.name, self._ask("pin/ls", {"arg": cid, "type": "recursive"}))
        except Unreachable as error:
            if b"is not pinned" in error.body:  # Kubo answers with HTTP 500 to whatever it has to deny
                return False
            raise
        keys = answer.get("Keys")
        if not isinstance(keys, dict) or cid not in keys:
            raise Garbled(f"{self.name} answered about other pins than it was asked for")
        return True

    def unpin(self, cid: str) -> None:
        """The node need not keep this CID any more."""
        try:
            self._ask("pin/rm", {"arg": cid, "recursive": "true"})
        except Unreachable as error:
            if b"not pinned" not in error.body:
                raise

    def _add(self, content: bytes, cid: str) -> None:
        boundary = token_hex(16)
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="learning.json"\r\n'
        body = f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + content
        body += f"\r\n--{boundary}--\r\n".encode()
        lines = self._ask("add", _ADD, body, f"multipart/form-data; boundary={boundary}").splitlines()
        answered = _object(self.name, lines[-1] if lines else b"").get("Hash")
        if answered != cid:
            raise Garbled(f"{self.name} added something else than it was given: its CID is not {cid}")

    def _ask(self, verb: str, values: dict[str, str], body: bytes = b"", kind: str = "text/plain") -> bytes:
        try:
            return self._host.post(f"/api/v0/{verb}?{urlencode(values)}", body, kind)
        except Refused as error:
            raise Refused(f"{error}: is HOLDFAST_CAPTURE_IPFS the address of Kubo's RPC API?") from None


def cid_of(content: bytes) -> str:
    """The CID (version 1) of a file that fits into one block, worked out here."""
    if len(content) > BLOCK:
        raise ValueError(f"a document has at most {BLOCK} bytes")
    length = _varint(len(content))
    file = b"\x08\x02" + b"\x12" + length + content + b"\x18" + length  # UnixFS: type file, data, size
    node = b"\x0a" + _varint(len(file)) + file  # DAG-PB: data without links
    head = bytes((_CID_VERSION, _DAG_PB, _SHA2_256, _DIGEST_BYTES))
    return "b" + b32encode(head + sha256(node).digest()).decode().lower().rstrip("=")


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:  # noqa: PLR2004
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _object(name: str, answer: bytes) -> dict[str, Any]:
    try:
        found = parsed(answer)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Garbled(f"{name} does not answer as Kubo does")
    return found
