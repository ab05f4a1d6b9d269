"""Takes personal data and secrets out of a text. Pure, linear in the text's length, and idempotent.

Rules run in a fixed order on what the rules before have left. What was found is replaced by `[REDACTED_<CATEGORY>]`;
a finding never carries the text itself. A text is looked at again until nothing more is found: so a second call
changes nothing.
"""

from __future__ import annotations

from holdfast_pipelines.capture import named
from holdfast_pipelines.capture.patterns import AUTH, JWT, PATHS, PROVIDERS, URL_CREDENTIALS, URL_TOKEN, Rule
from holdfast_pipelines.capture.personal import CARD, IBAN, IP, MAIL, PHONES, SSN
from holdfast_pipelines.capture.swift import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Span = tuple[int, int, str, str]  # from, to, rule, category

VERSION = "1.0.0"
LIMIT = 256_000  # characters that are kept
_MOST_PASSES = 12
_BEGIN = "-----BEGIN "
_PEM = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_REST = r"(?:(?:\s|\\[nrt])*+[A-Za-z0-9+/=]{16,128}+)*+"  # of a key whose end was cut off
_BEFORE = (URL_CREDENTIALS, *AUTH, JWT, *PROVIDERS)
_AFTER = (URL_TOKEN, *PATHS, MAIL, IBAN, CARD, SSN, *PHONES, *IP)


class Finding:
    """What was found, never the text: a rule, its category, and a keyed digest if the caller gave a way to make one."""

    __slots__ = ("category", "digest", "rule")

    def __init__(self, rule: str, category: str, digest: str) -> None:
        self.rule = rule
        self.category = category
        self.digest = digest

    def __repr__(self) -> str:
        return f"<Finding {self.rule} {self.category}>"


def sanitise(text: str, digest: Callable[[str], str] | None = None) -> tuple[str, list[Finding]]:
    """The text without what is private, and what was found. Redacted first, then cut to `LIMIT` characters."""
    findings: list[Finding] = []
    text = _unescaped(text)
    for _ in range(_MOST_PASSES):
        before = text
        text = _once(text, findings, digest or _no_digest)[:LIMIT]
        if text == before:
            break
    return text, findings


def _no_digest(found: str) -> str:
    del found
    return ""


def _unescaped(text: str) -> str:
    """Signs written as JSON may write them: an escaped at sign hides an address from every rule."""
    if "\\u00" in text:
        text = compiled(r"\\u00([2-7][0-9a-fA-F])").sub(lambda found: _plain(chr(int(found[1], 16)), found[0]), text)
    if "\\/" in text:
        text = text.replace("\\/", "/")
    return text


def _plain(sign: str, written: str) -> str:
    return written if sign in '"\\\x7f' else sign


def _once(text: str, findings: list[Finding], digest: Callable[[str], str]) -> str:
    def replaced(text: str, spans: Iterable[Span]) -> str:
        parts: list[str] = []
        last = 0
        for start, end, rule, category in spans:
            findings.append(Finding(rule, category, digest(text[start:end])))
            parts += (text[last:start], f"[REDACTED_{category}]")
            last = end
        return "".join((*parts, text[last:])) if parts else text

    if _BEGIN in text:
        text = replaced(text, _private_keys(text))
    text = _by_rules(text, _BEFORE, replaced)
    found = named.spans(text, _lowered(text))
    text = replaced(text, ((start, end, rule, "SECRET") for start, end, rule in found))
    return _by_rules(text, _AFTER, replaced)


def _by_rules(text: str, rules: Iterable[Rule], replaced: Callable[[str, Iterable[Span]], str]) -> str:
    low = _lowered(text)
    for rule in rules:
        if not rule.wanted(text, low):
            continue
        clean = replaced(text, _spans(rule, text, low))
        if clean is not text:
            text, low = clean, _lowered(clean)
    return text


def _lowered(text: str) -> str:
    """In lower case, letter for letter: a place in it is the same place in the text."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(letter.lower()[:1] for letter in text)


def _spans(rule: Rule, text: str, low: str) -> Iterable[Span]:
    last = 0
    for found in rule.compiled().finditer(low if rule.low else text):
        start, end = found.span(rule.group)
        first = max(last, start - rule.reach)
        while start > first and text[start - 1] in rule.left:
            start -= 1
        if start and text[start - 1] == "\\" and text[start] in "nrt" and start < found.start():
            start += 1  # a line break written as in JSON is no letter
        kept = True if rule.check is None else rule.check(text, start, end)
        if kept:
            last = end
            yield start, end, rule.name, kept if isinstance(kept, str) else rule.category


def _private_keys(text: str) -> Iterable[Span]:
    """From the first line of a key to its last; of a key without a last line, what looks like its body."""
    begins = [found.span() for found in compiled(_PEM).finditer(text)]
    end_after = 0
    for place, (start, body) in enumerate(begins):
        following = begins[place + 1][0] if place + 1 < len(begins) else len(text)
        if 0 <= end_after < body:
            end_after = text.find("-----END ", body)  # looked for once: where there is none, there is none later
        if body <= end_after < following:
            closing = text.find("-----", end_after + 9, end_after + 80)
            end = closing + 5 if closing >= 0 else end_after + 9
        else:
            rest = compiled(_PEM_REST).match(text, body)
            end = body if rest is None else rest.end()
        yield start, end, "private_key", "PRIVATE_KEY"
