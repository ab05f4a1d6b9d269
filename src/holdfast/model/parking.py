"""What a run asks of a person, and what the person's answer may be. A job waits for it parked, without a worker."""

from __future__ import annotations

import json

from holdfast.model.errors import BadInput
from holdfast.model.failure import Failure, scrub
from holdfast.model.payload import encode
from holdfast.model.request import check_name

MOST_PARKS = 10
LONGEST_REASON = 500
LONGEST_URL = 2_000
LARGEST_ANSWER = 64 * 1024

TOO_MANY = Failure("TooManyParks", f"it has waited for a person {MOST_PARKS} times", "TOO_MANY_PARKS")


def check_reason(reason: object) -> str:
    """What a person is asked: short text. Credentials in it are taken out."""
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError("reason says what a person has to do: text, such as 'log in at example.org'")
    text = " ".join(scrub(reason).split())
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"


def check_address(url: object) -> str | None:
    """Where the person goes to. It becomes a link, so nothing but the web is let through."""
    if url is None:
        return None
    if not isinstance(url, str) or not url.isprintable() or " " in url or len(url) > LONGEST_URL:
        raise ValueError(f"url is an address of up to {LONGEST_URL} characters, without spaces")
    scheme, found, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    if scheme.lower() not in ("http", "https") or not found or not host:
        raise ValueError("url is an address of the web, such as https://example.org/login")
    if "@" in host or "\\" in host:
        raise ValueError("url must not hold a user's name or password: say in the reason who should log in")
    return url


def check_key(key: object) -> str | None:
    """What several jobs wait for together, such as a domain."""
    return None if key is None else check_name("key", key)


def question(reason: str, url: str | None) -> str:
    """What is stored of it."""
    return json.dumps({"reason": reason, "url": url}, ensure_ascii=False)


def expired(auth: str | None) -> Failure:
    """Why a job ends that nobody answered."""
    reason = (json.loads(auth) if auth else {}).get("reason") or "a person had to act"
    return Failure("AuthExpired", f"nobody acted in time: {reason}", "AUTH_EXPIRED")


def check_answer(data: object) -> str:
    """What a person gives the run, as JSON text. The error never repeats it."""
    if not isinstance(data, dict):
        raise BadInput("BAD_OPTION", f"data is an object, as in data={{'code': '123456'}}, not {type(data).__name__}")
    return encode(data, what="data", limit=LARGEST_ANSWER)
