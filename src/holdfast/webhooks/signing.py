"""Signatures that a receiver can check, and the check.

Two styles. *Standard Webhooks* signs `id.timestamp.body`, so neither the id nor the time can be changed, and a recorded
request is worth nothing after five minutes. *sha256=* signs the body alone, as GitHub and others do: for receivers that
know nothing else.

A secret is text: base64 of 24 to 64 random bytes, usually behind `whsec_`. Standard Webhooks takes the bytes for its
key; the `sha256=` style takes the text as it stands, because that is what its receivers do.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import secrets as randomness
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from time import time
from typing import NamedTuple

from holdfast.model.errors import BadInput, BadSignature

PREFIX = "whsec_"
TOLERANCE = 300.0
_SHORTEST, _LONGEST = 24, 64
_MOST_SIGNATURES = 20  # a longer list is not a rotation


class Verified(NamedTuple):
    """A request that is what it says. Remember `id` until `remember_until`, and a repeated request can do no harm."""

    id: str
    timestamp: int
    remember_until: float


def new_secret() -> str:
    """A fresh secret to share with one receiver."""
    return PREFIX + b64encode(randomness.token_bytes(32)).decode()


def check_secret(secret: str) -> str:
    """The secret, if it is one. The error never repeats it."""
    key_of(secret)
    return secret


def key_of(secret: str) -> bytes:
    """The bytes of a secret, as Standard Webhooks has them."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except (ValueError, AttributeError, binascii.Error):
        raise BadInput("WEBHOOK_SECRET", _ADVICE) from None
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise BadInput("WEBHOOK_SECRET", _ADVICE)
    return key


def sign(secrets: Sequence[str], *, id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: one signature a secret, in their order, so that a secret can be changed."""
    content = _content(id, timestamp, body)
    return " ".join(f"v1,{_standard(secret, content)}" for secret in secrets)


def sign_sha256(secret: str, body: bytes) -> str:
    """The value of an `X-...-Signature` header in the style of `sha256=`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def verify(
    body: bytes,
    headers: Mapping[str, str],
    *,
    secrets: str | Iterable[str],
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> Verified:
    """Check a request that came in, by Standard Webhooks; BadSignature if it is not what it says.

    `body` is the raw body, before any parsing. Several `secrets` are for the time in which one is changed. A request
    whose time-stamp is more than `tolerance` seconds off is refused. Within that time it can be sent again by whoever
    saw it: keep the `id` of each until `remember_until`, and do nothing when you meet it again.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message, stamp, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise BadSignature("BAD_SIGNATURE", f"the request has no header {missing}: it is no signed webhook") from None
    if not stamp.isascii() or not stamp.isdigit() or not 0 < len(stamp) <= len("9999999999"):
        raise BadSignature("BAD_SIGNATURE", "webhook-timestamp is not a number of seconds: refuse the request")
    expected = [_standard(secret, _content(message, int(stamp), body)) for secret in _several(secrets)]
    claimed = [value for version, _, value in (one.partition(",") for one in signatures.split(" ")) if version == "v1"]
    if len(claimed) > _MOST_SIGNATURES or not _any_equal(expected, claimed):
        raise BadSignature("BAD_SIGNATURE", "no signature fits: the body was changed, or the secret is another one")
    off = (time() if now is None else now) - int(stamp)
    if not -tolerance <= off <= tolerance:
        raise BadSignature("BAD_SIGNATURE", f"the time-stamp is {abs(off):.0f} s off: an old request, or a wrong clock")
    return Verified(message, int(stamp), int(stamp) + tolerance)


def verify_sha256(body: bytes, signature: str | None, *, secrets: str | Iterable[str]) -> None:
    """Check a request by its `sha256=` header; BadSignature if it is not what it says.

    This style signs no time and no id: a request that was seen once can be sent again for ever. Prefer `verify`.
    """
    expected = [sign_sha256(secret, body) for secret in _several(secrets)]
    if not _any_equal(expected, [signature or ""]):
        raise BadSignature(
            "BAD_SIGNATURE", "the signature does not fit: the body was changed, or the secret is another"
        )


def _content(id: str, timestamp: int, body: bytes) -> bytes:
    return f"{id}.{timestamp}.".encode() + body


def _standard(secret: str, content: bytes) -> str:
    return b64encode(hmac.new(key_of(secret), content, hashlib.sha256).digest()).decode()


def _any_equal(expected: Sequence[str], claimed: Sequence[str]) -> bool:
    """Compare all with all, each in constant time: how long it takes tells nothing about which one was nearly right."""
    found = False
    for ours in expected:
        for theirs in claimed:
            found |= hmac.compare_digest(ours.encode(), theirs.encode("utf-8", "replace"))
    return found


def _several(secrets: str | Iterable[str]) -> list[str]:
    given = [secrets] if isinstance(secrets, str) else list(secrets)
    if not given or not all(given):
        raise BadInput("WEBHOOK_SECRET", "there is no secret to check with: an empty one would let everyone in")
    return given


_ADVICE = (
    "a secret is base64 of 24 to 64 random bytes, usually behind whsec_: `holdfast webhook secret` makes one; "
    "env:NAME and file:PATH name where it is kept"
)
