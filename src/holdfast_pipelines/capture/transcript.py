"""The end of a session's transcript: JSON lines, one for each block of a message, read backwards.

The file may not be written to its end yet, or end in half a line. Nobody waits for it: what is missing is fetched at
the next event.
"""

from __future__ import annotations

import os

from holdfast_pipelines.capture.texts import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TAIL = 256 * 1024


class NoTranscript(Exception):
    """The file has whole lines, and none is a message; the text holds nothing of it."""


def last_answers(path: str, *, since_prompt: bool) -> list[tuple[str, str]]:
    """The assistant's messages at the end of the main chain, oldest first: id and text. Thinking is left out.

    With `since_prompt` only those after the last prompt.
    """
    texts: dict[str, list[str]] = {}
    lines, messages = _tail(path), 0
    for line in reversed(lines):
        entry = _entry(line)
        message = None if entry is None else entry.get("message")
        if entry is None or not isinstance(message, dict):
            continue
        messages += 1
        if entry.get("isSidechain"):
            continue
        if entry.get("type") == "user" and since_prompt and _is_prompt(message.get("content")):
            break
        if entry.get("type") == "assistant" and isinstance(message.get("id"), str):
            texts.setdefault(message["id"], [])[:0] = _texts(message.get("content"))
    if not messages and len(lines) > 1:  # a single line may only not be whole yet
        raise NoTranscript("nothing to keep: the event has no answer, and its transcript no message in the last 256 KB")
    return [(name, "\n".join(parts)) for name, parts in reversed(texts.items()) if parts]


def _tail(path: str) -> list[bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        size = os.fstat(descriptor).st_size
        start = max(0, size - TAIL)
        content = os.pread(descriptor, TAIL, start)
    finally:
        os.close(descriptor)
    lines = content.split(b"\n")
    if start:
        lines[0] = b""  # half a line
    return lines


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]


def _is_prompt(content: object) -> bool:
    """What a person wrote, not what a tool answered."""
    return bool(_texts(content))
