"""Who validates and extracts: rules by default, Claude only where the user has switched it on.

The key is named, never given: `HOLDFAST_CAPTURE_ANTHROPIC_KEY` holds the name of the variable that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from holdfast_pipelines.capture.spending import DOLLAR, Caps
from holdfast_pipelines.providers.claude import Price

PROVIDER, KEY = "HOLDFAST_CAPTURE_PROVIDER", "HOLDFAST_CAPTURE_ANTHROPIC_KEY"
MODEL, URL = "HOLDFAST_CAPTURE_CLAUDE_MODEL", "HOLDFAST_CAPTURE_CLAUDE_URL"
DAY, MONTH = "HOLDFAST_CAPTURE_CLAUDE_DAY", "HOLDFAST_CAPTURE_CLAUDE_MONTH"
PRICES, TIMEOUT = "HOLDFAST_CAPTURE_CLAUDE_PRICES", "HOLDFAST_CAPTURE_CLAUDE_TIMEOUT"
EFFORT = "HOLDFAST_CAPTURE_CLAUDE_EFFORT"
NAMES = (PROVIDER, KEY, MODEL, URL, DAY, MONTH, PRICES, TIMEOUT, EFFORT)  # none of them is a secret

# Dollars for a million tokens given and answered, as listed in November 2026.
_PRICES = (
    "claude-haiku-5-5=0.10/0.50, claude-sonnet-5-5=2/10, claude-opus-5-5=4/20, claude-fable-5-1=10/50, "
    "claude-sonnet-5=2/10, claude-opus-5=5/25, claude-sonnet-4-6=3/15, claude-haiku-4-5=1/5"
)
_EFFORTS = ("low", "medium", "high", "none")
_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,60}")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LEAST_SECONDS, _MOST_SECONDS = 0.1, 60
_MOST_DOLLARS = 1_000_000


class WrongSetting(Exception):
    """A setting cannot be used; the text says which, and how to write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeSettings:
    """What it takes to ask Claude, the key left out."""

    model: str
    url: str
    key_name: str
    price: Price
    caps: Caps
    timeout: float
    effort: str


def chosen(environment: Mapping[str, str]) -> ClaudeSettings | None:
    """The settings for Claude; None if the user wants rules. Raises WrongSetting."""
    provider = environment.get(PROVIDER, "").strip().lower() or "rules"
    if provider == "rules":
        return None
    if provider != "claude":
        raise WrongSetting(f"{PROVIDER} must be rules or claude")
    model = environment.get(MODEL, "").strip() or "claude-haiku-5-5"
    if not re.fullmatch(r"claude-[a-z0-9.-]{1,60}", model):
        raise WrongSetting(f"{MODEL} must be the name of a model that begins with claude-")
    return ClaudeSettings(
        model=model,
        url=_url(environment.get(URL, "").strip() or "https://api.anthropic.com"),
        key_name=_key_name(environment.get(KEY, "").strip() or "ANTHROPIC_API_KEY"),
        price=_price(model, environment.get(PRICES, "")),
        caps=Caps(day=_amount(environment, DAY, "1.00"), month=_amount(environment, MONTH, "10.00")),
        timeout=_timeout(environment.get(TIMEOUT, "").strip() or "20"),
        effort=_effort(environment.get(EFFORT, "").strip().lower() or "low", model),
    )


def key_in(environment: Mapping[str, str], name: str) -> str:
    """The key itself; empty if there is none that can be sent."""
    key = environment.get(name, "").strip()
    return key if key.isascii() and key.isprintable() and " " not in key else ""


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        host, usable = parts.hostname or "", parts.port != 0
    except ValueError:
        host, usable, parts = "", False, urlsplit("")
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not safe or not usable or not host or parts.username or parts.password or parts.query or parts.fragment:
        raise WrongSetting(f"{URL} must be https://host, or http:// on this machine, without a name or a query in it")
    return text.rstrip("/")


def kept(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that are set, for a service to start with; a key that was written there by mistake is left out."""
    found = {name: environment[name] for name in NAMES if environment.get(name)}
    if not _NAME.fullmatch(found.get(KEY, "A")):
        del found[KEY]
    return found


def _key_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise WrongSetting(f"{KEY} must be the name of the variable that holds the key, never the key itself")
    return name


def _price(model: str, given: str) -> Price:
    for line in reversed([*_PRICES.split(","), *given.split(",")]):
        name, _, amounts = line.strip().partition("=")
        if name.strip() != model:
            continue
        first, _, second = amounts.partition("/")
        return Price(given=_decimal(first, PRICES), answered=_decimal(second, PRICES))
    raise WrongSetting(f"there is no price for {model}: {PRICES}={model}=DOLLARS/DOLLARS, for a million tokens")


def _amount(environment: Mapping[str, str], name: str, otherwise: str) -> int:
    return int(_decimal(environment.get(name, "").strip() or otherwise, name) * DOLLAR)


def _decimal(text: str, name: str) -> Decimal:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or not 0 <= value <= _MOST_DOLLARS:
        raise WrongSetting(f"{name} must hold amounts in dollars, such as 1.50")
    return value


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise WrongSetting(f"{TIMEOUT} must be a number of seconds up to {_MOST_SECONDS}")
    return seconds


def _effort(text: str, model: str) -> str:
    if text not in _EFFORTS:
        raise WrongSetting(f"{EFFORT} must be one of {', '.join(_EFFORTS)}")
    return "" if text == "none" or model.startswith("claude-haiku-4") else text  # those models refuse the option
