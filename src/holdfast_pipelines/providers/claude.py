"""Claude: one question, one answer that fits a schema, and never more money than was set aside for it.

Before a request goes out, the most that it can cost is set aside in a purse; when the answer is there, the purse is
told what it did cost. How a question can end:

    answered            the answer passed the caller's check
    Declined            there will be no answer now, go on without: no money, no key, refused (4xx), twice malformed
    Busy                later, and nobody is to blame: 429, 529, the host cannot be reached; nothing was spent
    Failed              try again: 5xx, no answer in time, the connection broke off; it may have been billed

The answer is untrusted, whoever sent it: its size, its form and each field are checked. No message of an error holds
a word of what was sent or came back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from holdfast_pipelines.providers.rules import Detection
    from holdfast_pipelines.providers.wire import Answer

T = TypeVar("T")

LONGEST_WAIT = 3_600.0  # seconds; whatever a server asks for
_BUSY_SECONDS, _AWAY_SECONDS, _FAILED_SECONDS = 30.0, 60.0, 10.0
_MOST_OUT = 4_096  # tokens of an answer
_UNSEEN = 4_096  # tokens that the API may add to a request of its own
_MOST_TOKENS = 10_000_000  # more than any call can use: what is told beyond is not believed
_TRIES = 2
_OK, _BUSY, _FAILING, _SERVER = 200, (429, 529), (408, 409), 500
_REASONS = {
    400: "refused the request (400): is the model's name right, and is there credit?",
    401: "refused the key (401): set a valid one and start the worker again",
    403: "refused the key (403): it has no right to this model",
    404: "does not know the model or the address (404)",
}
_BY_SETTINGS = (401, 403, 404)


class ProviderError(Exception):
    """There is no answer; the text says why and is safe to show."""


class Declined(ProviderError):
    """Go on without. `pause`: seconds for which asking again is useless; `found`: what was found before the refusal."""

    def __init__(self, text: str, *, pause: float = 0.0, found: list[Detection] | None = None) -> None:
        super().__init__(text)
        self.pause = pause
        self.found = found


class Busy(ProviderError):
    """Not now: ask again after so many seconds. `known`: that was so before, and nobody was asked."""

    def __init__(self, text: str, after: float, *, known: bool = False) -> None:
        super().__init__(text)
        self.after = after
        self.known = known


class Failed(ProviderError):
    """It did not work: try again after so many seconds, but not for ever."""

    def __init__(self, text: str, after: float) -> None:
        super().__init__(text)
        self.after = after


class Malformed(Exception):
    """The answer is not what was asked for."""


class Purse(Protocol):
    """Where the money is. Amounts are in millionths of a dollar."""

    def reserve(self, most: int) -> str:
        """Set so much aside; Declined if it is not there, Busy if nobody should ask now."""

    def settle(self, held: str, spent: int) -> None:
        """Put in what was spent for what was set aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens, which is millionths of a dollar for one."""

    given: Decimal
    answered: Decimal

    def of(self, given: int, answered: int) -> int:
        """Millionths of a dollar, rounded up."""
        return math.ceil(self.given * given + self.answered * answered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claude:
    """A model at an address. `key` hands the key out when it is needed; it is not kept."""

    model: str
    url: str
    price: Price
    purse: Purse
    key: Callable[[], str] = field(repr=False)
    timeout: float = 20.0
    effort: str = "low"

    def ask(self, system: str, content: str, *, schema: dict[str, Any], check: Callable[[Any], T]) -> T:
        """The answer as `check` returns it, which raises Malformed for what it cannot believe. Asked twice at most."""
        form: dict[str, Any] = {"format": {"type": "json_schema", "schema": schema}}
        if self.effort:
            form["effort"] = self.effort
        request = {
            "model": self.model,
            "max_tokens": _MOST_OUT,
            "system": system,
            "messages": [{"role": "user", "content": content}],
            "output_config": form,
        }
        why = ""
        for _ in range(_TRIES):
            try:
                return check(_read(self._send(request)))
            except Malformed as error:
                why = str(error)
        raise Declined(f"answered {_TRIES} times with something else than was asked for: {why}")

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        key = self.key()
        try:
            from holdfast_pipelines.providers import wire  # noqa: PLC0415  # the SDK takes a second to load
        except ImportError:
            raise Declined("is not installed: pip install '/path/to/the/clone[claude]'", pause=LONGEST_WAIT) from None
        # No token is shorter than a byte.
        most = self.price.of(len(json.dumps(request, ensure_ascii=False).encode()) + _UNSEEN, _MOST_OUT)
        held, spent = self.purse.reserve(most), most
        try:
            answer = wire.post(request, url=self.url, key=key, timeout=self.timeout)
            spent = 0 if answer.status != _OK else most
            body = _body(answer)
            spent = _reckoned(body, self.price, most)
        except wire.Unreachable as error:
            spent = 0
            raise Busy(str(error), _AWAY_SECONDS) from None
        except wire.Lost as error:
            raise Failed(str(error), _FAILED_SECONDS) from None
        except (wire.TooLarge, wire.Elsewhere) as error:
            raise Malformed(str(error)) from None
        finally:
            self.purse.settle(held, spent)
        return body


def _body(answer: Answer) -> dict[str, Any]:
    if answer.status in _BUSY:
        raise Busy(f"asks for a pause ({answer.status})", _after(answer.retry_after, _BUSY_SECONDS))
    if answer.status in _FAILING or answer.status >= _SERVER:
        raise Failed(f"failed ({answer.status})", _after(answer.retry_after, _FAILED_SECONDS))
    if answer.status != _OK:
        text = _REASONS.get(answer.status, f"refused the request ({answer.status})")
        raise Declined(text, pause=LONGEST_WAIT if answer.status in _BY_SETTINGS else LONGEST_WAIT / 6)
    body = parsed(answer.content)
    if not isinstance(body, dict) or body.get("type") != "message":
        raise Malformed("no message")
    return body


def parsed(text: bytes | str) -> Any:
    """JSON that somebody else has written."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # also what is no text at all
        raise Malformed("no JSON") from None


def _after(told: str | None, otherwise: float) -> float:
    """Retry-After, in seconds or as a date, within bounds."""
    if told is None:
        return otherwise
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return otherwise
    return min(max(seconds, 1.0), LONGEST_WAIT) if math.isfinite(seconds) else otherwise


def _reckoned(body: dict[str, Any], price: Price, most: int) -> int:
    """What a call cost by the usage that it reports; all that was set aside if that cannot be read."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return most
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    # Nothing is asked to be cached. If it is, writing costs up to twice the price.
    counts += [usage.get(name) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens")]
    if not all(type(count) is int and 0 <= count <= _MOST_TOKENS for count in counts):
        return most
    given, answered, written, read = (int(count or 0) for count in counts)
    return price.of(given + 2 * written + read, answered)


def _read(body: dict[str, Any]) -> Any:
    """The object that the model wrote."""
    if body.get("stop_reason") == "refusal":
        raise Declined("does not answer this text")
    if body.get("stop_reason") != "end_turn":
        raise Malformed("the answer was cut off")
    blocks = body.get("content")
    if not isinstance(blocks, list):
        raise Malformed("no content")
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise Malformed("no text")
    return parsed("".join(map(str, texts)))
