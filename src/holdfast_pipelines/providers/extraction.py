"""The extractor by rules: which conversations are worth it, what they are about, and the passage that says so."""

from __future__ import annotations

import re

from holdfast_pipelines.providers.rules import Draft, Message

CATEGORIES = (
    "pattern", "best_practice", "anti_pattern", "bug_fix", "optimization", "tool_usage", "workflow", "decision",
)  # fmt: skip
_SIGNS = {
    "bug_fix": r"\b(?:bugs?|fix(?:ed|es)?|errors?|crash\w*|exceptions?|root cause|regression|stack trace|failed)\b",
    "optimization": r"\b(?:optimi[sz]\w*|faster|slow|latency|perform\w*|cache[ds]?|profil\w+|throughput|memory)\b",
    "anti_pattern": r"\b(?:avoid|never|anti-?pattern|don't|do not|pitfall|race condition|leak)\b",
    "best_practice": r"\b(?:best practice|should always|always|recommend\w*|prefer)\b",
    "decision": r"\b(?:decid\w+|decision|trade-?offs?|instead of|chose|choose|because|rather than)\b",
    "tool_usage": r"\b(?:command|flags?|cli|option|git|docker|pytest|npm|pip|curl|make)\b",
    "workflow": r"\b(?:workflow|pipeline|steps?|deploy\w*|release|review|ci)\b",
    "pattern": r"\b(?:pattern|architecture|design|abstraction|interface|decorator|transaction|idempoten\w+)\b",
}
_VALUE_WORDS = re.compile(r"\b(?:error|bug|fix|implement|optimi[sz]e|pattern|architecture|design|test)", re.IGNORECASE)
_GENERIC = re.compile(
    r"^(?:write tests|use logging|follow best practices|add comments|handle errors)\.?$", re.IGNORECASE
)
_ADVICE = re.compile(r"\b(?:use|set|add|run|avoid|call|move|replace|wrap|check|always|never|instead)\b", re.IGNORECASE)
WORTH = 0.3
_MOST_CATEGORIES = 2
_SHORTEST, _LONGEST = 100, 4_000
_TAG = re.compile(r"\b[a-z][a-z0-9_+.-]{2,24}\b")
_COMMON = frozenset((
    "the", "and", "for", "that", "this", "with", "from", "you", "your", "are", "was", "were", "have", "has", "had",
    "not", "but", "can", "could", "would", "should", "will", "into", "then", "than", "when", "what", "which",
    "while", "where", "there", "here", "they", "them", "their", "its", "our", "also", "just", "like", "only", "some",
    "any", "all", "one", "two", "does", "did", "done", "use", "used", "using", "make", "made", "get", "got", "now",
    "new", "see", "need", "want", "because",
))  # fmt: skip


def value_of(messages: list[Message]) -> float:
    """How much a conversation promises, from 0 to 1."""
    if len(messages) < 3:  # noqa: PLR2004
        return 0.0
    fenced = sum("```" in message.content for message in messages)
    telling = sum(bool(_VALUE_WORDS.search(message.content)) for message in messages)
    tokens = sum(len(message.content) for message in messages) // 4
    score = 0.30 * (fenced >= 2) + 0.25 * (sum(message.with_tools for message in messages) >= 3)  # noqa: PLR2004
    return score + 0.20 * (tokens >= 2_000) + 0.25 * (telling >= 2)  # noqa: PLR2004


def confidence_of(draft: Draft) -> float:
    """How far a draft can be trusted, from 0 to 1; 0 for what says nothing."""
    if len(draft.content) < _SHORTEST or _GENERIC.match(draft.title) or _GENERIC.match(draft.content):
        return 0.0
    strength = draft.factors["evidence_strength"] if draft.evidence else min(0.4, draft.factors["evidence_strength"])
    return round(
        0.35 * draft.factors["actionability"]
        + 0.30 * draft.factors["generalizability"]
        + 0.20 * draft.factors["clarity"]
        + 0.15 * strength,
        4,
    )


def threshold_of(category: str, least: float) -> float:
    """Advice must be surer than what happened."""
    return max(least, 0.65 if category in {"best_practice", "anti_pattern"} else 0.0)


class RulesExtractor:
    """Takes the passage of an answer that has most signs of a category. It does not write a sentence of its own."""

    name = "rules-1"

    def extract(self, messages: list[Message], categories: list[str]) -> list[Draft]:
        """At most two drafts, for the categories that the conversation has most signs of."""
        if value_of(messages) < WORTH:
            return []
        answers = [message for message in messages if message.role == "assistant" and not message.with_tools]
        wanted = [name for name in CATEGORIES if not categories or name in categories]
        scores = {name: sum(_hits(name, message.content) for message in answers) for name in wanted}
        best = sorted((name for name in wanted if scores[name] >= 2), key=lambda name: -scores[name])  # noqa: PLR2004
        return [draft for name in best[:_MOST_CATEGORIES] if (draft := _draft(name, messages, answers)) is not None]


def _hits(category: str, text: str) -> int:
    return len(re.findall(_SIGNS[category], text, re.IGNORECASE))


def _draft(category: str, messages: list[Message], answers: list[Message]) -> Draft | None:
    ranked = sorted(answers, key=lambda message: -_hits(category, message.content))
    source = ranked[0]
    content = _passage(category, source.content)
    if len(content) < _SHORTEST:
        return None
    evidence = tuple(message.id for message in ranked[:4] if _hits(category, message.content))
    question = next((m.content for m in reversed(messages[: messages.index(source)]) if m.role == "user"), "")
    code, advice = "```" in content, len(_ADVICE.findall(content))
    hidden = content.count("[REDACTED_")
    factors = {
        "actionability": min(1.0, 0.4 + 0.3 * code + 0.1 * min(advice, 3)),
        "generalizability": max(0.2, 0.85 - 0.1 * hidden),
        "clarity": 0.85 if len(content) <= 2_000 else 0.6,  # noqa: PLR2004
        "evidence_strength": min(1.0, 0.4 + 0.2 * len(evidence)),
    }
    return Draft(
        category=category,
        title=_title(content),
        content=content,
        tags=_tags(category, content),
        evidence=evidence,
        factors=factors,
        summary=" ".join(question.split())[:300],
    )


def _passage(category: str, text: str) -> str:
    """The paragraphs with signs of the category, and what stands between them."""
    parts = text.split("\n\n")
    marked = [place for place, part in enumerate(parts) if _hits(category, part)]
    passage = "\n\n".join(parts[marked[0] : marked[-1] + 2]) if marked else ""
    if len(passage) < _SHORTEST:
        passage = text
    if passage.count("```") % 2:
        passage += "\n```"
    return passage.strip()[:_LONGEST]


def _title(content: str) -> str:
    plain = re.sub(r"```.*?(?:```|\Z)", " ", content, flags=re.DOTALL)
    first = re.split(r"(?<=[.!?])\s|\n", plain.strip() or content.strip(), maxsplit=1)[0]
    title = " ".join(first.lstrip("#*- ").split()) or "Untitled"
    return title if len(title) <= 100 else f"{title[:97].rstrip()}..."  # noqa: PLR2004


def _tags(category: str, content: str) -> tuple[str, ...]:
    words = [word for word in _TAG.findall(content.lower()) if word not in _COMMON and "redacted" not in word]
    counted = sorted(set(words), key=lambda word: (-words.count(word), word))
    return (category, *[word for word in counted if word != category][:5])
