"""From an event of Claude Code to what is kept of it: pure, and everything is sanitised on the way."""

from __future__ import annotations

from holdfast_pipelines.capture.marks import content_hash, keyed_digest, new_id, now
from holdfast_pipelines.capture.sanitiser import VERSION, sanitise
from holdfast_pipelines.capture.texts import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

EVENTS = ("UserPromptSubmit", "Stop", "PostToolUse", "SessionEnd")
_LONGEST_NAME = 200
_DEEPEST = 12


class UnusableEvent(Exception):
    """The event cannot be used; the text says why, and holds nothing of it."""


def read_event(raw: bytes) -> dict[str, Any]:
    """The JSON object on the hook's standard input."""
    if not raw.strip():
        raise UnusableEvent("the input is empty")
    try:
        event = loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise UnusableEvent("the input is not UTF-8") from None
    except (ValueError, RecursionError):
        raise UnusableEvent("the input is not JSON") from None
    if not isinstance(event, dict):
        raise UnusableEvent("the input is not an object")
    return event


class Clerk:
    """Writes down what is kept of events: sanitised, with a keyed digest for each finding."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def record(self, event: dict[str, Any]) -> dict[str, Any]:
        """What is kept of an event, as it is stored or spooled."""
        kind = event.get("hook_event_name") or event.get("event") or event.get("event_type")
        if kind not in EVENTS:
            raise UnusableEvent("the event is of no kind that is captured")
        session = event.get("session_id") or event.get("conversation_id")
        if not isinstance(session, str) or not session.strip():
            raise UnusableEvent("the event names no session")
        return {
            "id": new_id(),
            "at": now(),
            "version": VERSION,
            "event": kind,
            "session_id": self.name(session),
            "conversation_id": self.name(event.get("conversation_id")),
            "project": self.folder(event.get("cwd")),
            "ended": kind == "SessionEnd",
            "owed": False,
            "messages": list(self._messages(kind, event)),
        }

    def _messages(self, kind: str, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if kind == "UserPromptSubmit":
            said = event.get("prompt", event.get("content"))
            role = event.get("role") if event.get("role") in {"user", "assistant"} else "user"
            yield from self.message(str(role), said)
        elif kind == "Stop":
            yield from self.message("assistant", event.get("last_assistant_message", event.get("content")))
        elif kind == "PostToolUse":
            tool = self.name(event.get("tool_name")) or "tool"
            answer = event.get("tool_response", event.get("tool_output"))
            text = "\n".join((*lines(event.get("tool_input")), *lines(answer)))
            source = event.get("tool_use_id")
            for message in self.message("assistant", f"{tool}\n{text}", source=f"tool:{source}" if source else ""):
                failed = isinstance(answer, dict) and bool(answer.get("is_error") or answer.get("error"))
                message["tool_calls"] = [{"tool_name": tool, "status": "error" if failed else "success"}]
                yield message

    def message(self, role: str, said: object, source: str = "") -> Iterator[dict[str, Any]]:
        """A message, if there is anything in it."""
        if not isinstance(said, str) or not said.strip():
            return
        text, findings = sanitise(said.encode("utf-8", "replace").decode(), self._digest)
        yield {
            "role": role,
            "content": text,
            "content_hash": content_hash(text),
            "raw_hash": self._digest(text),  # keyed: validation may yet find something private in it
            "source_id": self.name(source) or None,
            "tool_calls": None,
            "findings": [[finding.rule, finding.category, finding.digest] for finding in findings],
        }

    def name(self, value: object) -> str:
        """A short text of the event's frame: a session's id, a folder, a tool."""
        return sanitise(value[:_LONGEST_NAME].encode("utf-8", "replace").decode())[0] if isinstance(value, str) else ""

    def folder(self, value: object) -> str:
        """A folder, or that it is a user's: with spaces or without, all of it is one path."""
        joined = self.name(value.replace(" ", "_")) if isinstance(value, str) else ""
        return joined if "[REDACTED_PATH]" in joined else self.name(value)

    def _digest(self, found: str) -> str:
        return keyed_digest(self._key, found)


def lines(value: object, name: str = "", depth: int = 0) -> Iterator[str]:
    """The texts of a decoded JSON value, each behind its name, so that a secret's name gives it away."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lines(inner, str(key), depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from lines(inner, name, depth + 1)
    elif value is not None:
        text = value if isinstance(value, str) else dumps(value)
        yield f"{name}: {text}" if name else text
