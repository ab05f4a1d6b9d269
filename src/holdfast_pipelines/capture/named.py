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
    "passwort", "kennwort", "contrase\xf1a", "contrasena", "mot de passe", "wachtwoord", "senha",
    "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u30d1\u30b9\u30ef\u30fc\u30c9",
)  # fmt: skip
# Most texts have no "pass" and no "key": then a third of the words is looked for.
_GROUPS = (
    ("pass", tuple(word for word in WORDS if "pass" in word)),
    ("key", tuple(word for word in WORDS if "key" in word)),
    ("", tuple(word for word in WORDS if "pass" not in word and "key" not in word)),
)

_NAME_END = r"[A-Za-z0-9_.-]{0,24}(?:\\{0,15}[\"'`])?\]?"
_VALUE = (
    r"(?:[bru]{0,2}(?P<quote>\\{0,15}[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n\\]|\\++(?!\")[^\n]){1,2048}+)"
    r"|(?P<bare>[^\s\"'`,;)\]}\\&]{3,2048}+))"
)
_GIVEN = rf"[ \t]{{0,4}}(?::=|=>|=|:|\uff1a)(?!=)[ \t]{{0,4}}{_VALUE}"
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
    r"[(\[{<$]|^%[s({]|^\*+|^\.{2,}|^x{3,}$|^_+$|^(?:env|file|vault|keyring):"
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
        span = _given(text, end, in_name=low[end - 1] in "=:") or otherwise(text, low, start, end) or _said(text, end)
        if span is not None and span[0] >= last:
            last = span[1]
            yield span


def _places(low: str) -> list[tuple[int, int]]:
    """Where the words stand, in order; of two that begin at one place the longer one first."""
    found = []
    for part, words in _GROUPS:
        for word in words if part in low else ():
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


_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_LONGEST_NAME = 32
_SPACED = (
    r"[ \t]{1,4}(?:(?P<quote>\\{0,7}[\"'])(?P<quoted>[^\"'\\\n]{1,512}+)(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;|)\]}<>\\]{3,512}+)(?P<end>[ \t]*+(?:-|[\"'`\\\r\n]|\Z))?)"
)
_TYPED = (
    r":[ \t]{0,4}&?[A-Za-z_][\w.]{0,30}(?:\[[\w.\[\], |]{0,40}\])?\??(?:[ \t]?\|[ \t]?\w{1,12}){0,3}"
    r"[ \t]{0,4}=[ \t]{0,4}(?:Secret(?:Str)?\(|String::from\()?"
    r"[bru]{0,2}(?P<quote>[\"'`])(?P<found>[^\"'`\\\n]{1,512}+)(?P=quote)"
)
_LIST = r"[ \t]{0,4}[:=][ \t]{0,4}\[\s{0,40}\\{0,7}[\"'](?P<found>[^\[\]]{4,2048}?)\\{0,7}[\"'][\s,]{0,40}+\]"
_NEXT = r",\s{0,40}\\{0,7}[\"'](?P<found>[^\"'\\\n]{4,512}+)"
_BLOCK = (
    r":[ \t]{0,4}[|>][+-]?\d?[+-]?[ \t]{0,4}\r?\n(?P<indent>[ \t]{1,40})"
    r"(?P<found>[^\n]{3,512}+(?:\n(?P=indent)[^\n]{0,512}+){0,20}+)"
)
_PAIR = rf"\s{{0,40}},?\s{{0,40}}\\{{0,7}}[\"']?[Vv]alue\\{{0,7}}[\"']?\s{{0,4}}[:=]\s{{0,4}}{_VALUE}"
_IN_TAG = r"\bvalue=\\{0,7}[\"']([^\"'\\]{1,512})"
_TAG = 300  # characters, at most
_TOLD_BY = ("setx ", "setx /m ", "setenv ", "set -x ", "set -gx ", "set -ux ")
_NO_VALUES = frozenset((
    "flag", "flags", "option", "options", "argument", "parameter", "switch", "value", "is", "to", "with", "from", "as",
    "prompt", "here", "instead", "was", "are", "can", "must", "should", "will", "when", "if", "or", "via", "stdin",
))  # fmt: skip


def otherwise(text: str, low: str, start: int, end: int) -> tuple[int, int, str] | None:
    """What a name gives away in other ways: on a command line, in a tag, a list, a pair of name and value."""
    name = compiled(_NAME_END).match(text, end - (low[end - 1] in "=:"))
    assert name is not None, "a name may be empty"
    after = text[name.end() : name.end() + 1]
    if not after or compiled(_HARMLESS_NAME).match(name[0].lower()):
        return None
    begin = start
    while begin > max(0, start - _LONGEST_NAME) and low[begin - 1] in _NAME:
        begin -= 1
    if after in ":=":
        span = _held(text, low[start:end], name.end())
    elif after == "," and text[begin] == "-":
        span = _next(text, name.end())
    elif after == ">" and text[begin - 1 : begin] == "<":
        span = _enclosed(text, low[start:end], name.end())
    else:
        span = (
            (_spaced(text, low, begin, start, name) if after in " \t" else None)
            or _paired(text, low, begin, name.end())
            or _typed_in(text, low, begin, name.end())
        )
    return None if span is None else (*span, "named_secret")


def _held(text: str, word: str, at: int) -> tuple[int, int] | None:
    """`password: str = "..."`, `passwords: ["..."]`, and a block of YAML."""
    if (found := compiled(_TYPED).match(text, at)) and not _is_no_secret(found["found"]):
        return found.span("found")
    if found := compiled(_LIST).match(text, at):
        items = [item.strip(" \t\r\n\"'\\") for item in found["found"].split(",")]
        wanted = _is_mixed if word == "token" else lambda item: not _is_no_secret(item) and not item.isupper()
        return found.span("found") if any(map(wanted, items)) else None
    if (found := compiled(_BLOCK).match(text, at)) and not found["found"].startswith(("[REDACTED", "$", "{{", "<")):
        return found.span("found")
    return None


def _is_mixed(item: str) -> bool:
    return len(item) > _BARE_NUMBER and item.isascii() and not item.isalpha() and not item.isdigit() and " " not in item


def _next(text: str, at: int) -> tuple[int, int] | None:
    """`["--password", "..."]`"""
    found = compiled(_NEXT).match(text, at)
    if found is None or found["found"][0] == "-" or _is_no_secret(found["found"]):
        return None
    return found.span("found")


def _enclosed(text: str, word: str, at: int) -> tuple[int, int] | None:
    """`<password>...</password>`"""
    found = compiled(r">([^<>\n]{3,512}+)</").match(text, at)
    if found is None or _is_no_secret(found[1]) or (word == "token" and not _is_mixed(found[1])):
        return None
    return found.span(1)


def _spaced(text: str, low: str, begin: int, start: int, name: re.Match[str]) -> tuple[int, int] | None:
    """`--password ...`, `setx API_KEY ...`, `ENV API_KEY ...`, netrc's `password ...`, and `PASSWORD '...'` of SQL."""
    value = compiled(_SPACED).match(text, name.end())
    if value is None or name[0][-1:] in {'"', "'", "`", "]"}:
        return None
    option = text[begin] == "-" and (begin == 0 or text[begin - 1] in " \t\n\"'`(")
    if value["quoted"] is not None:
        of_sql = value["quote"][-1] == "'" and low.startswith("passw", start)
        wanted = (option or of_sql or _is_told(text, low, begin)) and not _is_no_secret(value["quoted"])
        return value.span("quoted") if wanted else None
    bare = value["bare"]
    if bare[0] == "-" or bare.lower() in _NO_VALUES or _is_word_of_code(bare, name[0]):
        return None
    if option:
        return None if bare.isalpha() and value["end"] is None else value.span("bare")
    return value.span("bare") if _is_told(text, low, begin) or _is_of_netrc(low, start) else None


def _is_told(text: str, low: str, begin: int) -> bool:
    return text[max(0, begin - 4) : begin] == "ENV " or low[max(0, begin - 8) : begin].endswith(_TOLD_BY)


def _is_of_netrc(low: str, start: int) -> bool:
    if not low.startswith("password", start):
        return False
    before = low[max(0, start - 200) : start].split()
    return before[-2:-1] == ["login"] and ("machine" in before or "default" in before)


def _paired(text: str, low: str, begin: int, at: int) -> tuple[int, int] | None:
    """`{"name": "DB_PASSWORD", "value": "..."}`, and the same in YAML and in tags."""
    before = low[max(0, begin - 12) : begin]
    if "name" not in before and "key" not in before:
        return None
    value = compiled(_PAIR).match(text, at)
    if value is None:
        return None
    if value["quoted"] is not None:
        return None if _is_no_secret(value["quoted"]) else value.span("quoted")
    return None if _is_word_of_code(value["bare"], "") else value.span("bare")


def _typed_in(text: str, low: str, begin: int, at: int) -> tuple[int, int] | None:
    """`<input type="password" value="...">`"""
    if "type=" not in low[max(0, begin - 10) : begin]:
        return None
    first = text.rfind("<", max(0, begin - _TAG), begin)
    last = text.find(">", at, at + _TAG)
    found = compiled(_IN_TAG).search(text, first, last) if 0 <= first < last else None
    return None if found is None or _is_no_secret(found[1]) else found.span(1)


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
        return name[:1] == "s" or (len(value) < _BARE_NUMBER and not name.isupper())  # max_tokens=200000
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
