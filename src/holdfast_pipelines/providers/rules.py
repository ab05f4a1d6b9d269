"""A validator and an extractor that are rules, and say so: deterministic, offline, and no match for a reader.

They stand where a language model may stand later: whatever has `name`, and `detect` or `extract`, fits in their place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Protocol

SURE_ENOUGH = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Where something private stands in a text."""

    category: str
    rule: str
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that was validated."""

    id: str
    role: str
    content: str
    with_tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an extractor proposes."""

    category: str
    title: str
    content: str
    tags: tuple[str, ...]
    evidence: tuple[str, ...]
    factors: dict[str, float]
    summary: str = ""
    details: dict[str, Any] = field(default_factory=dict)


class Validator(Protocol):
    """Finds what rules on forms cannot: names, places, identifiers, secrets told in words."""

    name: str

    def detect(self, text: str) -> list[Detection]: ...


class Extractor(Protocol):
    """Finds what a conversation teaches."""

    name: str

    def extract(self, messages: list[Message], categories: list[str]) -> list[Draft]: ...


_NAME = r"[A-Z\u00c0-\u00de][a-zA-Z'\u00c0-\u024f-]{1,30}"
_NAMES = rf"({_NAME}(?: {_NAME}){{1,2}})"
_INTRODUCED = r"(?:[Mm]y name is|[Tt]his is|[Ii] am|I'm|[Ss]igned,?|[Rr]egards,?)[ \n]{1,3}"
_TRAILER = r"(?:Signed-off-by|Co-authored-by|Author|Reviewed-by|Reported-by): "
_FORM = r"(?:Inc|LLC|GmbH|Ltd|Corp|AG|S\.A|B\.V)\b\.?"
_STREET = r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd)\b"
_STRASSE = r"[A-Z\u00c4\u00d6\u00dc][a-z\u00e4\u00f6\u00fc\u00df]{2,30}(?:stra\u00dfe|strasse|gasse|platz)"
_NUMBERED = r"(?i)\b(?:customer|employee|patient|passport|member|driver'?s? licen[cs]e)[ _]?(?:id|no|number|nr)?"
_TOLD = r"(?i)\b(?:password|passcode|pin|passphrase|login code)(?: for \w{1,20})? is:? "
_RULES = (
    ("PERSON_NAME", "introduced", 0.9, _INTRODUCED + _NAMES),
    ("PERSON_NAME", "commit_trailer", 0.95, _TRAILER + _NAMES),
    ("PERSON_NAME", "title", 0.9, rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\. ({_NAME}(?: {_NAME})?)"),
    ("ORGANIZATION", "legal_form", 0.85, rf"\b({_NAME}(?: {_NAME}){{0,3}},? {_FORM})"),
    ("ORGANIZATION", "employer", 0.85, rf"\b[Ii] work (?:at|for) ({_NAME}(?: {_NAME}){{0,2}})"),
    ("ADDRESS", "street", 0.85, rf"\b(\d{{1,5}} (?:[A-Z][a-z]{{1,20}} ){{1,3}}{_STREET})"),
    ("ADDRESS", "street_german", 0.85, rf"\b({_STRASSE} \d{{1,4}})"),
    ("CUSTOM_IDENTIFIER", "numbered_person", 0.9, _NUMBERED + r"\.?[ :#=]{1,3}([A-Z]{0,4}-?\d{4,12})\b"),
    ("CONTEXTUAL_SECRET", "told_secret", 0.85, _TOLD + r"[\"'`]?((?=\S*\d)[^\s\"'`]{4,64})"),
)


class RulesValidator:
    """Detections by rules. It misses what only a reader would notice."""

    name = "rules-1"

    def detect(self, text: str) -> list[Detection]:
        """Detections in order, none over another."""
        found = [
            Detection(category=category, rule=rule, start=match.start(1), end=match.end(1), confidence=sure)
            for category, rule, sure, pattern in _RULES
            for match in re.finditer(pattern, text)
            if "REDACTED_" not in match[1]
        ]
        found.sort(key=lambda one: (one.start, -one.end))
        kept: list[Detection] = []
        for one in found:
            if one.confidence >= SURE_ENOUGH and (not kept or one.start >= kept[-1].end):
                kept.append(one)
        return kept
