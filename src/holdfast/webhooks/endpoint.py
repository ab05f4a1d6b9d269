"""A receiver: where it is, and what it is sent. Secrets are named here and read when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.model.backoff import Backoff
from holdfast.model.errors import BadInput
from holdfast.model.request import check_count
from holdfast.model.subscription import ATTEMPTS
from holdfast.webhooks.signing import check_secret

# 5 s, 10 s, 20 s and so on up to six hours: with 16 attempts a receiver may be away for a day.
PATIENT = Backoff(base_ms=2_500, cap_ms=6 * 3_600_000, jitter_ms=1_000)
_LONGEST_TIMEOUT = 60.0
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")
_TAKEN = frozenset({
    "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding", "user-agent",
    "webhook-id", "webhook-signature", "webhook-timestamp",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A receiver of webhooks.

    `secrets` are references, newest first: `env:NAME` or `file:PATH`, read at each delivery, each holding one secret or
    several with spaces between them; or secrets themselves, for applications that keep them in a vault of their own.
    `signature_header` adds a `sha256=` signature of the body under that name; `event_header` and `id_header` name the
    event and the delivery for such receivers.
    """

    url: str = field(repr=False)  # some receivers put a token into its path
    secrets: tuple[str, ...] = field(repr=False)
    timeout: float = 10.0
    max_attempts: int = ATTEMPTS
    backoff: Backoff = PATIENT
    signature_header: str | None = None
    event_header: str | None = None
    id_header: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "secrets", _texts("secrets", self.secrets))
        if not self.secrets:
            raise BadInput("WEBHOOK_SECRET", "an endpoint needs a secret, as in secrets=['env:BILLING_WEBHOOK_SECRET']")
        for secret in self.secrets:
            if not secret.startswith(("env:", "file:")):
                check_secret(secret)
        if type(self.timeout) not in (int, float) or not 0 < self.timeout <= _LONGEST_TIMEOUT:
            raise BadInput("BAD_OPTION", f"timeout is a number of seconds up to {_LONGEST_TIMEOUT:.0f}")
        if not isinstance(self.backoff, Backoff):
            raise BadInput("BAD_OPTION", "backoff is a holdfast.Backoff")
        check_count("max_attempts", self.max_attempts, 10_000)
        for header in filter(None, (self.signature_header, self.event_header, self.id_header)):
            if not _HEADER.fullmatch(header) or header.lower() in _TAKEN:
                raise BadInput("BAD_OPTION", f"{header[:50]!a} cannot be a header of yours: use X-...")

    def current_secrets(self) -> list[str]:
        """The secrets as they are now, newest first."""
        return [check_secret(secret) for reference in self.secrets for secret in _read(reference)]


def _texts(name: str, given: Iterable[str]) -> tuple[str, ...]:
    values = () if isinstance(given, str) else tuple(given)
    if isinstance(given, str) or not all(isinstance(value, str) for value in values):
        raise BadInput("BAD_OPTION", f"{name} is a list of texts")
    return values


def _read(reference: str) -> list[str]:
    kind, _, name = reference.partition(":")
    if kind == "env":
        found, where = os.environ.get(name, "").split(), f"the environment variable {name}"
    elif kind == "file":
        try:
            found, where = Path(name).read_text(encoding="utf-8").split(), f"the file {name}"
        except (OSError, ValueError) as error:
            raise BadInput("WEBHOOK_SECRET", f"the file {name} cannot be read: {type(error).__name__}") from None
    else:
        return [reference]
    if not found:
        raise BadInput("WEBHOOK_SECRET", f"{where} is not set: give it a value where workers run")
    return found
