"""Rules for what belongs to a person or a machine: mail addresses, bank accounts, cards, numbers, addresses."""

from __future__ import annotations

from holdfast_pipelines.capture.patterns import Rule, at_start
from holdfast_pipelines.capture.swift import compiled

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_FILES = frozenset(("png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "js", "mjs", "css", "ts", "tsx", "json", "map"))
_SHORTEST_DOMAIN = 4
_IBAN_SHORTEST, _IBAN_LONGEST, _IBAN_REMAINDER, _IBAN_BASE = 15, 34, 1, 97
_GROUPS = 8  # of an IPv6 address


def is_mail(text: str, start: int, end: int) -> bool:
    """Whether it is more than a package with a version, a picture in double size, or git's way to write a host."""
    local, _, domain = text[start:end].replace("%40", "@").partition("@")
    if not local or local[0] == "." or len(domain) < _SHORTEST_DOMAIN:
        return False
    if domain.rpartition(".")[2].lower() in _FILES:
        return False
    if text[max(0, start - 3) : start] == "://":
        return False  # who logs in to a host
    return not (local == "git" and text[end : end + 1] in {":", "/"})


MAIL = Rule(
    "email",
    "EMAIL",
    ("@", "%40"),
    r"(?:@|%40)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9])",
    left=_LETTERS + _DIGITS + "._%+-",
    reach=64,
    check=is_mail,
)


def is_iban(text: str, start: int, end: int) -> bool:
    """Its own check digits (ISO 13616)."""
    compact = text[start:end].replace(" ", "")
    if not _IBAN_SHORTEST <= len(compact) <= _IBAN_LONGEST:
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % _IBAN_BASE == _IBAN_REMAINDER


IBAN = Rule(
    "iban",
    "IBAN",
    (),
    at_start("[A-Z]", "A-Za-z0-9_")
    + r"[A-Z]\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?)(?![A-Za-z0-9])",
    check=is_iban,
)


def is_card(text: str, start: int, end: int) -> bool:
    """The length and the first digits of a brand, and the last digit by Luhn (ISO 7812)."""
    number = text[start:end].replace(" ", "").replace("-", "")
    return _is_of_a_brand(number) and _luhn(number)


def _is_of_a_brand(number: str) -> bool:
    size, two, four = len(number), int(number[:2]), int(number[:4])
    if number[0] == "4":
        return size in {13, 16, 19}
    if 51 <= two <= 55 or 2221 <= four <= 2720:  # noqa: PLR2004
        return size == 16  # noqa: PLR2004
    if two in {34, 37}:
        return size == 15  # noqa: PLR2004
    if two in {36, 38, 39} or 3000 <= four <= 3059:  # noqa: PLR2004
        return size == 14  # noqa: PLR2004
    return (four == 6011 or two in {62, 65} or 6440 <= four <= 6499 or 3528 <= four <= 3589) and size >= 16  # noqa: PLR2004


def _luhn(number: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004
    return total % 10 == 0


CARD = Rule(
    "card",
    "CREDIT_CARD",
    (),
    at_start("[2-6]", r"\w.-")
    + r"(?:[0-9]{12,18}|[0-9]{3}(?:([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{1,3})?|([ -])[0-9]{6}\2[0-9]{4,5}))"
    r"(?![\w-]|\.\d)",
    check=is_card,
)

SSN = Rule(
    "ssn",
    "SSN",
    ("-",),
    at_start("[0-8]", r"\w-") + r"[0-9]{2}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])",
    check=lambda text, start, _: text[start : start + 3] not in {"000", "666"},
)

_NATIONAL = r"[2-9][0-9]{2}[ .-][0-9]{4}(?![\w/-]|\.\d)"
_NAMED_BEFORE = (
    r"(?:phone|mobile|tel|call|fax|whatsapp|cell)[a-z ]{0,12}[\"']?(?: number)?[\"']?(?: is|:|=|#|\.)? {0,2}[\"']?\+?\Z"
)
_PHONE_DIGITS = range(8, 16)

PHONES = (
    Rule(
        "phone_international",
        "PHONE",
        ("+",),
        r"\+(?:(?<![\w+]\+)|(?<=\\[nrt]\+))(?:[1-9]\d{7,14}|[1-9]\d{0,2}(?:[ .-]{1,2}|[ ]?\(0?\d{1,4}\)[ ]?)\d{1,5}"
        r"(?:[ ./-]?\d{1,5}){1,6})(?![\w])",
        check=lambda text, start, end: sum(sign.isdigit() for sign in text[start:end]) in _PHONE_DIGITS,
    ),
    Rule("phone_area", "PHONE", ("(",), at_start(r"\(", r"\w.+/-") + rf"[2-9][0-9]{{2}}\) ?{_NATIONAL}"),
    Rule(
        "phone_national",
        "PHONE",
        (),
        at_start("[2-9]", r"\w.+/-") + rf"(?:[0-9]{{2}}(?:-(?=.{{3}}-)|\.(?=.{{3}}\.)| (?=.{{3}}[ -]))){_NATIONAL}",
    ),
    Rule(
        "phone_trunk", "PHONE", ("1",), at_start("1", r"\w.+/-") + rf"[ .-]\(?[2-9][0-9]{{2}}(?:\) ?|[ .-]){_NATIONAL}"
    ),
    Rule(
        "phone_spaced",
        "PHONE",
        ("0",),
        at_start("0", r"\w.+/,:-") + r"(?:\d(?: \d\d){4}|\d{2,4} \d{3,4} ?\d{3,4})(?![\w-]|[ .,]\d)",
    ),
    Rule(
        "phone_named",
        "PHONE",
        ("phone", "mobile", "tel", "call", "fax", "whatsapp", "cell"),
        at_start("[0-9]", r"\w./-") + r"[0-9]{8,14}(?!\w)",
        low=True,
        check=lambda text, start, _: (
            compiled(_NAMED_BEFORE).search(text[max(0, start - 40) : start].lower()) is not None
        ),
    ),
)


def is_address(text: str, start: int, end: int) -> bool:
    """Not a version of four parts; not this machine, any machine, or a mask, which tell nothing."""
    found = text[start:end]
    if found.startswith(("127.", "0.", "255.")) or any(int(octet) > 255 for octet in found.split(".")):  # noqa: PLR2004
        return False
    before = text[max(0, start - 12) : start].lower().rstrip(" :\"'")
    if before.endswith("="):
        return before[-2:-1].isalpha()  # HOST=10.0.0.1, but not package==1.2.3.4
    return not before.endswith(("version", "release", "build", "~", "^", ">", "<", " v", "ver"))


IP = (
    Rule(
        "ipv4",
        "IP",
        (".",),
        at_start("[0-9]", r"\w.-") + r"[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![\w]|\.\d|-\w)",
        check=is_address,
    ),
    Rule(
        "ipv6",
        "IP",
        (":",),
        r":(?:[0-9A-Fa-f]{0,4}:){1,6}(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4})(?![\w:])",
        left="0123456789abcdefABCDEF",
        reach=4,
        check=lambda text, start, end: _stands_alone(text, start) and is_long_address(text[start:end]),
    ),
)


def _stands_alone(text: str, start: int) -> bool:
    before = text[max(0, start - 2) : start]
    return not (before[-1:].isalnum() or before[-1:] in {":", ".", "_"}) or before in {"\\n", "\\r", "\\t"}


def is_long_address(found: str) -> bool:
    """Eight groups, or fewer around one `::`; neither a time, nor a MAC address, nor a path of C++ or Rust."""
    groups = found.split(":")
    if any(len(group) > 4 and "." not in group for group in groups) or not any(letter.isdigit() for letter in found):  # noqa: PLR2004
        return False
    if "::" not in found:
        return len(groups) == _GROUPS - ("." in groups[-1])
    return found.count("::") == 1 and ":::" not in found and len([group for group in groups if group]) in range(2, 8)
