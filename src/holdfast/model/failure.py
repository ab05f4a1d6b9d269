"""What is kept of an error: its class, a message that has been scrubbed and cut, a code, and the lines of the handler's
code that it came through. Never a payload.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

LONGEST_MESSAGE = 2_000
MOST_LINES = 5
_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,49}")  # an error may carry a code of its own

_NAMED = r"""\b([\w-]{0,60}(?:password|passwd|secret|token|api_?key)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;&]+"""

# Redact first, then cut: a cut through the middle of a secret would hide it from the patterns.
_SECRETS = (
    (re.compile(r"([a-z][a-z0-9+.-]{1,20}://)[^\s/@:]{0,200}:[^\s/@]{1,2000}@", re.IGNORECASE), r"\1[REDACTED]@"),
    (re.compile(r"\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,2000}", re.IGNORECASE), r"\1 [REDACTED]"),
    (re.compile(r"\b(eyJ[\w-]{5,4000}\.[\w-]{5,4000}\.[\w-]{0,4000})"), "[REDACTED]"),
    (re.compile(r"\b((?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs])[-_][\w-]{10,500})"), "[REDACTED]"),
    (re.compile(r"\b(AKIA[0-9A-Z]{16})\b"), "[REDACTED]"),
    (re.compile(_NAMED, re.IGNORECASE), r"\1[REDACTED]"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run did not return."""

    kind: str
    message: str
    code: str = "HANDLER_ERROR"
    where: tuple[str, ...] = ()  # the last one is where it was raised

    def as_text(self) -> str:
        """The JSON text that is stored in the job's `error`."""
        error: dict[str, object] = {"class": self.kind, "message": scrub(self.message), "code": self.code}
        return json.dumps(error | ({"where": self.where} if self.where else {}), ensure_ascii=False)

    def for_logs(self) -> dict[str, str]:
        """The same in a few words, without the message."""
        return {"error": self.kind, "where": self.where[-1]} if self.where else {"error": self.kind}


def failure_of(error: BaseException, code: str = "HANDLER_ERROR") -> Failure:
    """What is kept of an exception."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001  # an exception's own __str__ may raise anything; the job must still end
        message = "(the error has no readable message)"
    return Failure(_name_of(type(error)), message, _code_of(error) or code, _where(error.__traceback__))


def _where(trace: TracebackType | None) -> tuple[str, ...]:
    """The innermost lines of a traceback, without our own: by module, for a path is nobody else's business."""
    lines: deque[str] = deque(maxlen=MOST_LINES)
    while trace is not None:
        frame = trace.tb_frame
        module = str(frame.f_globals.get("__name__", "?"))
        if not module.startswith("holdfast."):
            lines.append(scrub(f"{module[-100:]}:{trace.tb_lineno} in {frame.f_code.co_qualname[-100:]}"))
        trace = trace.tb_next
    return tuple(lines)


def _name_of(kind: type) -> str:
    if kind.__module__ == "builtins":
        return kind.__qualname__
    # Where ours live is our own business, and may change: users know them as `holdfast.Permanent`.
    home = "holdfast" if kind.__module__.startswith("holdfast.") else kind.__module__
    return f"{home}.{kind.__qualname__}"


def _code_of(error: BaseException) -> str | None:
    try:
        code = getattr(error, "code", None)
    except Exception:  # noqa: BLE001  # a property may raise anything; the job must still end
        return None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def scrub(text: str) -> str:
    """The text without credentials, control characters and half characters, cut to a bounded length."""
    text = text[: LONGEST_MESSAGE * 4].encode("utf-8", "replace").decode()
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    text = "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
