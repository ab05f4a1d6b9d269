"""What is kept of an error: its class, a message that has been scrubbed and cut, a code, the lines it came through, and
the errors that it was raised from. Never a payload.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType, TracebackType

    _Step = tuple[FrameType, int]  # a piece of code, and a line of it

LONGEST_MESSAGE = 2_000
FIRST_LINES, LAST_LINES = 3, 6  # of a traceback: where the handler is, and where it was raised
MOST_CAUSES = 3
LONGEST_CAUSE = 500  # of its message
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
    causes: tuple[Failure, ...] = ()  # what it was raised from, or the first of a group

    def as_text(self) -> str:
        """The JSON text that is stored in the job's `error`."""
        causes = [one.told(LONGEST_CAUSE) for one in self.causes]
        told = self.told(LONGEST_MESSAGE) | {"code": self.code} | ({"causes": causes} if causes else {})
        return json.dumps(told, ensure_ascii=False)

    def told(self, longest: int) -> dict[str, object]:
        """Its class, its message, and where it was raised."""
        told: dict[str, object] = {"class": self.kind, "message": _cut(scrub(self.message), longest)}
        return told | ({"where": self.where} if self.where else {})

    def for_logs(self) -> dict[str, str]:
        """The same in a few words, without the message: the handler's line, and the one that raised it."""
        ends = dict.fromkeys((*self.where[:1], *self.where[-1:]))
        return {"error": self.kind, "where": " > ".join(ends)} if ends else {"error": self.kind}


def failure_of(error: BaseException, code: str = "HANDLER_ERROR") -> Failure:
    """What is kept of an exception."""
    causes = tuple(
        Failure(_name_of(type(one)), _message_of(one), where=_where(_of_trace(one.__traceback__)))
        for one in islice(_causes_of(error), MOST_CAUSES)
    )
    code = _code_of(error) or code
    return Failure(_name_of(type(error)), _message_of(error), code, _where(_of_trace(error.__traceback__)), causes)


def timed_out(timeout_ms: int, stood: object = None, *, how: str = "") -> Failure:
    """A run that was longer than it may be. `stood` tells where: its coroutine, or the cancellation that ended it."""
    seconds = f"{timeout_ms / 1000:.3f}".rstrip("0").rstrip(".")
    steps = _of_trace(stood.__traceback__) if isinstance(stood, BaseException) else _of_coroutine(stood)
    message = f"ran longer than its time-out of {seconds} s{f': {how}' if how else ''}"
    return Failure("TimeoutError", message, "TIMEOUT", _where(steps))


def _message_of(error: BaseException) -> str:
    """Its text, and the notes that were added to it."""
    try:
        return "\n".join([str(error), *map(str, getattr(error, "__notes__", ()))])
    except BaseException:  # noqa: BLE001  # an exception's own __str__ may raise anything, SystemExit too; the job must end
        return "(the error has no readable message)"


def _causes_of(error: BaseException) -> Iterator[BaseException]:
    """The members of a group, then what it was raised from, and what that was raised from."""
    if isinstance(error, BaseExceptionGroup):
        yield from error.exceptions
    seen: set[int] = set()
    before: BaseException | None = error
    while before is not None and id(before) not in seen:  # a ring can be made, if one wants to
        seen.add(id(before))
        before = before.__cause__ or (None if before.__suppress_context__ else before.__context__)
        if before is not None:
            yield before


def _of_trace(trace: TracebackType | None) -> Iterator[_Step]:
    """The way that an error came, the outermost first."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _of_coroutine(waits: Any) -> Iterator[_Step]:
    """Where a coroutine waits, and what it waits for, as far as these are coroutines or generators too."""
    while waits is not None:
        kind = "gi" if hasattr(waits, "gi_frame") else "cr"
        frame: FrameType | None = getattr(waits, f"{kind}_frame", None)
        if frame is None:
            return
        yield frame, frame.f_lineno
        waits = waits.gi_yieldfrom if kind == "gi" else waits.cr_await


def _where(steps: Iterable[_Step]) -> tuple[str, ...]:
    """The first lines of a way, where the handler is, and the innermost; without our own. By module: a path is
    nobody else's business.
    """
    first: list[str] = []
    last: deque[str] = deque(maxlen=LAST_LINES)
    between = 0
    for frame, number in steps:
        module = str(frame.f_globals.get("__name__", "?"))
        if module.startswith("holdfast."):
            continue
        line = scrub(f"{module[-100:]}:{number} in {frame.f_code.co_qualname[-100:]}")
        if len(first) < FIRST_LINES:
            first.append(line)
        else:
            between += len(last) == LAST_LINES
            last.append(line)
    return (*first, *([f"… {between} more"] if between else []), *last)


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
    return _cut(text, LONGEST_MESSAGE)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
