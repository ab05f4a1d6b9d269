"""Takes personal data and secrets out of a text. Pure, linear in the text's length, and idempotent.

Rules run in a fixed order on what the rules before have left. What was found is replaced by `[REDACTED_<CATEGORY>]`;
a finding never carries the text itself. A text is looked at again until nothing more is found: so a second call
changes nothing. What a reader does not see goes first: colours of a terminal and letters of no width. Joiners stay
between emoji, and between letters of scripts that are written with them.
"""

from __future__ import annotations

from holdfast_pipelines.capture import named
from holdfast_pipelines.capture.patterns import (
    AUTH,
    COMMANDS,
    JWT,
    PATHS,
    PROVIDERS,
    URL_CREDENTIALS,
    URL_TOKEN,
    WRAPPED,
    Rule,
)
from holdfast_pipelines.capture.personal import CARD, IBAN, IP, MAIL, PHONES, SSN
from holdfast_pipelines.capture.swift import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

    Span = tuple[int, int, str, str]  # from, to, rule, category

VERSION = "1.1.0"
LIMIT = 256_000  # characters that are kept
_MOST_PASSES = 12
_BEGIN = "-----BEGIN "
_PEM = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_REST = r"(?:(?:\s|\\[nrt])*+[A-Za-z0-9+/=]{16,128}+)*+"  # of a key whose end was cut off
_KEY_END = r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BACKWARDS = (
    r"(?:(?:\s|[nrt]\\)*+(?:[A-Za-z0-9+/=](?!\\)){1,128}+)?(?:(?:\s|[nrt]\\)++(?:[A-Za-z0-9+/=](?!\\)){16,128}+)*+"
)
_LONGEST_KEY, _SHORTEST_BODY = 16_384, 24
# How a key is broken: in a shell, between two quotes, and by a line that is too long. Then its rest has digits too.
_PIECE = "[A-Za-z0-9_.+/=-]"
_BREAK = (
    r"\\{1,4}\r?\n[ \t]{0,40}+|[\"'][ \t]{0,4}[+.&\\]?[ \t]{0,4}(?:\\?\r?\n[ \t]{0,40}+)?[+.&]?[ \t]{0,4}[\"']"
    rf"|\r?\n[ \t]{{0,40}}+(?=[A-Za-z_.+/=-]{{0,80}}[0-9]{_PIECE}{{0,300}}+(?:[\"'`,;\s]|\Z))"
)
_BEFORE = (URL_CREDENTIALS, *AUTH, JWT, *PROVIDERS, *WRAPPED, *COMMANDS)
_AFTER = (URL_TOKEN, *PATHS, MAIL, IBAN, CARD, SSN, *PHONES, *IP)

# What a reader does not see, and what hides a secret from a rule: controls, and letters of no width.
_CONTROLS = "\x1b\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x7f"
_LETTERS = (
    r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Sequences of ECMA-48: with parameters, with a text up to its end, and of two signs.
_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]{0,64}+[ -/]{0,8}+[@-~]|\x1b\][^\x07\x1b\n]{0,4096}+(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]{0,4096}+\x1b\\|\x1b[ -/]{1,4}+[0-~]|\x1b[0-Z\\^-~]"
)
# The same as JSON writes it. A joiner in front of another escape may belong to an emoji.
_WRITTEN = (
    r"\\{1,8}u(?:001[bB]\[[0-9;:]{0,32}[A-Za-z]|00(?:0[0-8eEfF]|1[0-9aAbB]|7[fF]|[aA][dD])|200[bBcCeEfF]|202[a-eA-E]"
    r"|20[6][0-9a-fA-F]|[fF][eE][fF]{2}|(?:200[dD]|[fF][eE]0[0-9a-fA-F])(?!\\{1,8}u[dD2]))"
)
_UNSEEN = f"(?:{_SEQUENCE}|[{_LETTERS}])(?:{_SEQUENCE}|[{_LETTERS}])*+"
_MOVES = r"[0-9;]*[A-HJ]"  # of the cursor: what follows stands elsewhere
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_BEGINNINGS = "eyJ|(?:SK|AC)[0-9a-f]{32}|[srp]k_(?:live|test)_|" + "|".join(
    needle.replace(".", r"\.")
    for rule in PROVIDERS
    for needle in rule.needles
    if len(needle) > 2 and not rule.left  # noqa: PLR2004
)


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
    for _ in range(_MOST_PASSES):
        before = text
        text = _once(_plain(text), findings, digest or _no_digest)[:LIMIT]
        if text == before:
            break
    return text, findings


def _no_digest(found: str) -> str:
    del found
    return ""


def _plain(text: str) -> str:
    """The text without what cannot be seen, and with signs as they are, which JSON may write in another way."""
    if _has_unseen(text):
        text = compiled(_UNSEEN).sub(_seen, text)
    if "%" in text:  # signs that need no such form in an address (RFC 3986)
        text = compiled("(?<=[A-Za-z0-9])%(5[fF]|2[dDeE])(?=[A-Za-z0-9])").sub(_sign, text)
    if "\\" not in text:
        return text
    if "\\u" in text:
        text = compiled(_WRITTEN).sub("", text)
        text = compiled(r"\\u00([2-7][0-9a-fA-F])").sub(_sign, text)
    if "\\/" in text:
        text = compiled(r"\\(?<!\\\\)\\*+/").sub("/", text)
    return text


def _has_unseen(text: str) -> bool:
    if text.isascii():
        return any(sign in text for sign in _CONTROLS)  # two dozen quick looks are quicker than one slow one
    return compiled(f"[{_LETTERS}]").search(text) is not None


def _seen(found: re.Match[str]) -> str:
    """Nothing; or a space, where a key begins behind it or the cursor moves; or joiners where they are needed."""
    text, run = found.string, found[0]
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if _JOINERS.issuperset(run):
        return run if _joins(before) and (_joins(after) or run in {"\ufe0e", "\ufe0f"}) else ""
    if run[-1] != "m" and "\x1b[" in run and compiled(_MOVES).search(run):
        return " "
    if before.isalnum() and compiled(_BEGINNINGS).match(text, found.end()):
        return " "
    return ""


def _joins(sign: str) -> bool:
    return "\u0600" <= sign < "\u1200" or "\u2190" <= sign < "\u2c00" or "\U0001f000" <= sign < "\U0001fb00"


def _sign(found: re.Match[str]) -> str:
    sign = chr(int(found[1], 16))
    return found[0] if sign in '"\\\x7f' else sign


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
    if "PRIVATE KEY-----" in text:
        text = replaced(text, _private_keys_without_a_beginning(text))
    text = _by_rules(text, _BEFORE, replaced)
    found = named.spans(text, _lowered(text))
    text = replaced(text, ((start, end, rule, "SECRET") for start, end, rule in found))
    return _by_rules(text, _AFTER, replaced)


def _by_rules(text: str, rules: Iterable[Rule], replaced: Callable[[str, Iterable[Span]], str]) -> str:
    low = _lowered(text)
    for rule in rules:
        if not rule.wanted(text, low):
            continue
        clean = replaced(text, _pieces(rule, text)) if rule.prefix else text
        clean = replaced(clean, _spans(rule, clean, low))
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


def _pieces(rule: Rule, text: str) -> Iterable[Span]:
    """Keys that are broken by the end of a line or by quotes: looked at as if they were whole."""
    last = 0
    for found in compiled(f"{rule.prefix}(?=({_PIECE}{{0,300}}+(?:(?:{_BREAK}){_PIECE}{{1,300}}+){{1,5}}+))").finditer(
        text
    ):
        start = found.start()
        if start < last:
            continue
        window = text[start : found.end(1)]
        breaks = [gap.span() for gap in compiled(_BREAK).finditer(window)]
        key = rule.compiled().match(compiled(_BREAK).sub("", window))
        if key is None:
            continue
        end, by_hand = key.end(), False
        for first, behind in breaks:
            if first < end:
                end += behind - first
                by_hand = by_hand or window[first] in "\\\"'"
        if end > key.end() and (by_hand or rule.name == "aws" or named.looks_random(key[0])):
            last = start + end
            yield start, last, rule.name, rule.category


def _private_keys_without_a_beginning(text: str) -> Iterable[Span]:
    """Lines of a key in front of its last line."""
    last = 0
    for found in compiled(_KEY_END).finditer(text):
        before = text[max(last, found.start() - _LONGEST_KEY) : found.start()]
        body = compiled(_BACKWARDS).match(before[::-1])
        last = found.end()
        if body is not None and body.end() > _SHORTEST_BODY:
            yield found.start() - body.end(), last, "private_key", "PRIVATE_KEY"


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
