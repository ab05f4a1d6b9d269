"""What an answer means for a delivery. Pure: the same answer always has the same consequence."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

LONGEST_WAIT = 86_400.0
_TRY_AGAIN = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


def delivered(status: int) -> bool:
    """Whether the receiver took it."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def curable(status: int) -> bool:
    """Whether trying again can help: the receiver is at fault, or asks for time."""
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRY_AGAIN


def explanation(status: int) -> str:
    """What a person should know about an answer that is no success."""
    if status == HTTPStatus.GONE:
        return "410: the receiver is gone for good; take the endpoint away"
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"{status}: redirects are not followed; give the endpoint its final address"
    if curable(status):
        return f"{status}: the receiver cannot take it now"
    return f"{status}: the receiver refuses it, and would again; mend the receiver, then replay"


def asked_wait(retry_after: str | None, now: float) -> float:
    """How many seconds the receiver asks us to wait: a number or a date; at most a day, 0 where it asks for none."""
    if retry_after is None:
        return 0.0
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(LONGEST_WAIT, float(text[:10]))
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    aware = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(0.0, min(LONGEST_WAIT, (aware - datetime.fromtimestamp(now, UTC)).total_seconds()))
