"""What a person gives a parked job is encrypted before it is stored: AES-256-GCM, bound to the job it was given for.

The keys stand in HOLDFAST_SECRET, newest first, with spaces between them: the first one encrypts, all of them decrypt,
so that a key can be changed while answers wait. Needs the extra `encryption`.
"""

from __future__ import annotations

import binascii
import hashlib
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from holdfast.model.errors import BadInput, install
from holdfast.model.job import loads

VARIABLE = "HOLDFAST_SECRET"
_SHORTEST = 24  # bytes
_NONCE = 12
_VERSION = "1"
_ADVICE = "`holdfast webhook secret` makes one"


def seal(job_id: str, text: str, environment: Mapping[str, str] = os.environ) -> str:
    """The text, encrypted with the newest key, for this job alone."""
    name, key = _keys(environment)[0]
    nonce = os.urandom(_NONCE)
    closed = nonce + _cipher(key).encrypt(nonce, text.encode(), job_id.encode())
    return f"{_VERSION}.{name}.{b64encode(closed).decode()}"


def unseal(job_id: str, sealed: str, environment: Mapping[str, str] = os.environ) -> Any:
    """What was sealed for the job. Raises BadInput NO_SECRET where no key of this process fits."""
    _, name, body = sealed.split(".")
    key = dict(_keys(environment)).get(name)
    if key is None:
        raise BadInput(
            "NO_SECRET", f"{VARIABLE} lacks the key that the answer was encrypted with: add it, after the newest"
        )
    closed = b64decode(body)
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # `_keys` has seen that it is there

    try:
        return loads(_cipher(key).decrypt(closed[:_NONCE], closed[_NONCE:], job_id.encode()).decode())
    except InvalidTag:
        raise BadInput(
            "NO_SECRET", "the answer of this job was changed in the store: park it anew, and resume"
        ) from None


def check_secret(environment: Mapping[str, str] = os.environ) -> None:
    """Raise BadInput where nothing could be sealed."""
    _keys(environment)


def _keys(environment: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Name and bytes of each key, newest first. A name tells which key it is and nothing about it."""
    try:
        import cryptography  # noqa: F401, PLC0415  # only those who are given answers need it
    except ImportError:
        raise BadInput("NO_SECRET", f"data is kept encrypted: {install('encryption')}") from None
    given = environment.get(VARIABLE, "").split()
    if not given:
        raise BadInput("NO_SECRET", f"data is kept encrypted: set {VARIABLE} here and where workers run; {_ADVICE}")
    derived = [hashlib.sha256(b"holdfast auth_data\0" + _bytes(secret)).digest() for secret in given]
    return [(hashlib.sha256(b"name\0" + key).hexdigest()[:8], key) for key in derived]


def _bytes(secret: str) -> bytes:
    try:
        key = b64decode(secret.removeprefix("whsec_"), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) < _SHORTEST:
        raise BadInput(
            "NO_SECRET", f"{VARIABLE} holds something else than base64 of {_SHORTEST} random bytes; {_ADVICE}"
        )
    return key


def _cipher(key: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    return AESGCM(key)
