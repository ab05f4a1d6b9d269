"""What the doctor says about the provider: who reads, whether he can be asked, what it cost and may cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast_pipelines.capture import provider as choice
from holdfast_pipelines.capture.spending import Purse, dollars

if TYPE_CHECKING:
    from holdfast import App

Line = tuple[str, str, str]
_NEARLY = 0.8
_FOR_A_PERSON = ("refused", "does not know", "is not installed")  # what does not pass by itself


def provider(environment: Mapping[str, str]) -> Iterator[Line]:
    """Who validates and extracts, and what is missing for it."""
    try:
        chosen = choice.chosen(environment)
    except choice.WrongSetting as error:
        yield "bad", "provider", f"rules are used: {error}"
        return
    if chosen is None:
        yield "ok", "provider", f"rules-1: nothing is sent; {choice.PROVIDER}=claude asks Claude"
    elif not choice.key_in(environment, chosen.key_name):
        yield "bad", "provider", f"rules are used: {chosen.key_name} holds no key ({choice.KEY} names another variable)"
    elif find_spec("anthropic") is None:
        yield "bad", "provider", "rules are used: pip install '/path/to/the/clone[claude]'"
    else:
        yield "ok", "provider", f"{chosen.model} at {chosen.url}, with the key in {chosen.key_name}"


def spending(app: App, environment: Mapping[str, str]) -> Iterator[Line]:
    """What was spent, of which caps; and what went wrong last."""
    try:
        chosen = choice.chosen(environment)
    except choice.WrongSetting:
        return
    if chosen is None:
        return
    purse = Purse(app, chosen.caps)
    totals, caps = purse.totals(), chosen.caps
    day, month = totals.day + totals.day_held, totals.month + totals.month_held
    nearly = day > _NEARLY * caps.day or month > _NEARLY * caps.month
    held = f" (set aside: {dollars(totals.day_held)})" if totals.day_held else ""
    text = f"today {dollars(day)} of {dollars(caps.day)}{held}, this month {dollars(month)} of {dollars(caps.month)}"
    advice = f"; rules take over when a cap is spent: {choice.DAY}, {choice.MONTH}" if nearly else ""
    yield "warn" if nearly else "ok", "spending", f"{text}{advice}"
    if (trouble := purse.last_trouble()) is not None:
        text, since = trouble
        yield "bad" if text.startswith(_FOR_A_PERSON) else "warn", "provider", f"Claude {text}, since {since}"
