"""Carries a body to an endpoint: checks the address, signs, sends. One attempt, and no opinion about the next."""

from __future__ import annotations

import ssl
from concurrent.futures import ThreadPoolExecutor

from holdfast.webhooks.endpoint import Endpoint
from holdfast.webhooks.sending import Answer, Unreachable, send
from holdfast.webhooks.signing import sign, sign_sha256
from holdfast.webhooks.target import Rules, check_url

__all__ = ["Answer", "Courier", "Unreachable"]

_LOOKUPS = 8  # at the same time: a name server that hangs holds up these threads and nothing else


class Courier:
    """What all deliveries of a process share; made when the first one leaves, so no thread or file crosses a fork."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._pool = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="holdfast-lookup")
        self._tls = ssl.create_default_context()
        self._tls.set_alpn_protocols(["http/1.1"])

    async def carry(self, endpoint: Endpoint, rules: Rules, *, event: str, id: str, body: bytes, now: float) -> Answer:
        """Send the body once, signed for `now`; BadInput, Unreachable, or what the receiver said."""
        target = check_url(endpoint.url, rules)
        headers = [("User-Agent", self._agent), *signed_headers(endpoint, event=event, id=id, body=body, now=now)]
        return await send(
            target, rules, headers=headers, body=body, tls=self._tls, pool=self._pool, seconds=endpoint.timeout
        )


def signed_headers(endpoint: Endpoint, *, event: str, id: str, body: bytes, now: float) -> list[tuple[str, str]]:
    """The headers by which a receiver knows the request: Standard Webhooks, and its own style where it has one."""
    secrets = endpoint.current_secrets()
    headers = [
        ("webhook-id", id),
        ("webhook-timestamp", str(int(now))),
        ("webhook-signature", sign(secrets, id=id, timestamp=int(now), body=body)),
    ]
    if endpoint.signature_header is not None:  # has room for one signature: by the newest secret
        headers.append((endpoint.signature_header, sign_sha256(secrets[0], body)))
    if endpoint.event_header is not None:
        headers.append((endpoint.event_header, event))
    if endpoint.id_header is not None:
        headers.append((endpoint.id_header, id))
    return headers
