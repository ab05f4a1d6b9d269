"""Secrets that have no form of their own: known by the name in front of them, or by a word nearby."""

from __future__ import annotations

from holdfast_pipelines.capture.swift import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

WORDS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "api-key", "apikey", "api key",
    "access_key", "access-key", "access key", "accesskey", "private_key", "private-key", "privatekey", "credential",
    "auth_key", "authkey", "encryption_key", "signing_key", "master_key", "account_key", "accountkey",
    "subscription_key", "subscription-key", "service_key", "connection_string", "client_key", "pass=", "pass:",
    "_pass", "secretkey", "_pw=", "session_key", "cookie",
)  # fmt: skip

_NAME_END = r"[A-Za-z0-9_.-]{0,24}(?:\\?[\"'`])?\]?"
_GIVEN = (
    r"[ \t]{0,4}(?::=|=>|=|:)(?!=)[ \t]{0,4}"
    r"(?:(?P<b>[bru]{0,2})(?P<quote>\"|'|`|\\\")(?P<quoted>(?:(?!(?P=quote))[^\n\\]|\\(?!\")[^\n]){1,2048}+)"
    r"|(?P<bare>[^\s\"'`,;)\]}\\&]{3,2048}+))"
)
_SHORTEST_RUN = 20
_RUN_BEGINS = rf"[A-Za-z0-9+/_=-]{{{_SHORTEST_RUN}}}"
_RUN = rf"[A-Za-z0-9+/_=-]{{{_SHORTEST_RUN},512}}+"
_NEAR = 40

# Names that speak of secrets and hold none.
_HARMLESS_NAME = (
    r"^s?[_.-]?(?:count|counts|type|types|limit|limits|name|names|length|len|size|expir\w{0,8}|ttl|policy|file|path|dir|"
    r"field|label|budget|usage|used|url|uri|endpoint|index|idx|id|ids|format|prefix|scheme|param\w{0,6}|header|"
    r"class|manager|store|provider|validator|generator|rotation|strength|rules?|reset|age|required|enabled|\w{0,12}_?count|"
    r"iz\w{0,8}|ary|less|s_per_\w{0,8}|s_used|s_in|s_out|s_total)[\"'`]?\]?$"
)
_EMPTY = frozenset((
    "str", "string", "int", "integer", "number", "bool", "boolean", "none", "null", "nil", "true", "false", "undefined",
    "any", "object", "bytes", "text", "optional", "required", "unknown", "void", "never", "self", "password", "passwd",
    "secret", "token", "value", "required,", "varchar", "char", "uuid", "secretstr", "option<string>", "buffer",
    "hidden", "redacted", "empty", "missing", "invalid", "expired", "wrong", "incorrect", "changed", "not", "the", "a",
    "an", "your", "it", "and", "for", "yes", "no", "env", "default", "sha256", "hs256", "bearer", "basic", "jwt",
))  # fmt: skip
_CODE_TEXT = (
    r"[(\[{<$]|^%[s({]|^\*+|^\.{2,}|^x{3,}$|^_+$"
    r"|^(?:os|process|self|this|config|settings|env|args|request|req|ctx|app|options|props|params|data|user|secrets)\."
)
_BARE_NUMBER = 6  # digits: fewer count something
_QUOTED_SHORTEST = 4


def spans(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Where the values stand that a name gives away, and by which rule, in order."""
    last = 0
    for start, end in _places(low):
        if start < last:
            continue
        span = _given(text, end, in_name=low[end - 1] in "=:") or _said(text, end)
        if span is not None and span[0] >= last:
            last = span[1]
            yield span


def _places(low: str) -> list[tuple[int, int]]:
    """Where the words stand, in order; of two that begin at one place the longer one first."""
    found = []
    for word in WORDS:
        at = low.find(word)
        while at >= 0:
            found.append((at, at + len(word)))
            at = low.find(word, at + len(word))
    found.sort(key=lambda place: (place[0], -place[1]))
    return found


def _given(text: str, at: int, *, in_name: bool) -> tuple[int, int, str] | None:
    """`password = "..."` and its kin in code, JSON, YAML and environment files."""
    if in_name:
        at -= 1
    name = compiled(_NAME_END).match(text, at)
    rest = "" if name is None else name[0]
    value = compiled(_GIVEN).match(text, at + len(rest))
    if value is None or compiled(_HARMLESS_NAME).match(rest.lower()):
        return None
    if value["quoted"] is not None:
        return None if _is_no_secret(value["quoted"]) else (*value.span("quoted"), "named_secret")
    bare = value["bare"]
    if bare.isalpha() and (value[0][0] != "=" or len(bare) < _QUOTED_SHORTEST):
        return None  # a word of prose or of code: `tokens: words`
    return None if _is_word_of_code(bare, rest) else (*value.span("bare"), "named_secret")


def _is_no_secret(value: str) -> bool:
    """Whether a quoted text is a template, or a word that stands for a value."""
    inner = value.strip()
    return (
        len(inner) < _QUOTED_SHORTEST
        or inner.startswith(("[REDACTED_", "${", "{{", "$(", "<", "%(", "{", "***", "..."))
        or inner.lower() in _EMPTY
        or (" " in inner and not any(letter.isdigit() for letter in inner))
    )


def _is_word_of_code(value: str, name: str) -> bool:
    """Whether what follows without quotes is a type, a call or a number that counts something."""
    if value.lower().rstrip(".!?") in _EMPTY or "[REDACTED" in value or compiled(_CODE_TEXT).search(value):
        return True
    if value.isdigit():
        return len(value) < _BARE_NUMBER and not name.isupper()
    return False


def _said(text: str, at: int) -> tuple[int, int, str] | None:
    """`the token is ...`: a run of characters without rhyme or reason shortly after such a word, on the same line."""
    line_end = text.find("\n", at, at + _NEAR)
    last = (line_end if line_end >= 0 else at + _NEAR) + _SHORTEST_RUN
    while found := compiled(_RUN_BEGINS).search(text, at, last):  # no further than it may begin
        run = compiled(_RUN).match(text, found.start())
        assert run is not None, "it begins here"
        if looks_random(run[0].strip("=-_")) and not _goes_on(text, run):
            return (*run.span(), "entropy")
        at = run.end()
    return None


def _goes_on(text: str, run: re.Match[str]) -> bool:
    before = text[run.start() - 1] if run.start() else ""
    return before in {"/", ".", "@"} or text[run.end() : run.end() + 1] in {"(", "."}


_ENTROPY = 3.5  # bits for each character; English words have about 3, random hexadecimal digits close to 4
_HASHES = (40, 64)  # digits of git's hashes
_HEX = frozenset("0123456789abcdef")


def looks_random(run: str) -> bool:
    """Whether a text is likely to be made by a machine, and is neither a UUID nor one of git's hashes."""
    digits = sum(map(run.count, "0123456789"))
    if digits < 2 or digits == len(run):  # noqa: PLR2004
        return False
    if len(run) in _HASHES and _HEX.issuperset(run):
        return False
    if compiled("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch(run):
        return False
    if "-" in run or "_" in run or "/" in run:
        parts = [part for part in run.replace("_", "-").replace("/", "-").split("-") if part]
        if all(part.isalpha() or part.isdigit() for part in parts):
            return False  # words and numbers, as in a file's name
    return entropy(run) >= _ENTROPY


def entropy(run: str) -> float:
    """Bits for each character (Shannon)."""
    from math import log2  # noqa: PLC0415  # seldom needed, and slow to load

    size = len(run)
    return -sum(count / size * log2(count / size) for count in map(run.count, set(run)))
