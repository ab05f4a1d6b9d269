"""Who reads a text: Claude if it is switched on and can be asked, else the rules; and who it was.

Why Claude was not asked, or gave no answer, is written down once, for `holdfast capture doctor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

import holdfast
from holdfast_pipelines.capture import provider
from holdfast_pipelines.capture.marks import now
from holdfast_pipelines.capture.places import note
from holdfast_pipelines.capture.sanitiser import sanitise
from holdfast_pipelines.capture.spending import Instant, Purse
from holdfast_pipelines.providers.claude import LONGEST_WAIT, Busy, Claude, Declined, Failed
from holdfast_pipelines.providers.claude_extractor import ClaudeExtractor
from holdfast_pipelines.providers.claude_validator import ClaudeValidator
from holdfast_pipelines.providers.extraction import RulesExtractor
from holdfast_pipelines.providers.rules import RulesValidator

if TYPE_CHECKING:
    from holdfast import App
    from holdfast_pipelines.capture.places import Places
    from holdfast_pipelines.providers.rules import Detection, Draft, Message

ATTEMPTS = 3
_TITLE = 100
_WELL_SECONDS = 60


class Reader:
    """Validates and extracts for one application. `environment` None: by rules, whatever is set."""

    def __init__(
        self, app: App, places: Places, environment: Mapping[str, str] | None, instant: Instant | None = None
    ) -> None:
        self._places = places
        self._lock = Lock()
        self._shut_until = 0.0  # on the monotonic clock: asking is useless until then
        self._well_until = 0.0
        self._validator, self._extractor = RulesValidator(), RulesExtractor()
        self._claude: Claude | None = None
        try:
            chosen = provider.chosen(environment or {})
        except provider.WrongSetting as error:
            note(places, now(), f"rules are used: {error}")
            return
        if chosen is not None:
            self._purse = Purse(app, chosen.caps, instant)
            self._claude = _claude(chosen, self._purse, environment or {})

    @property
    def asks(self) -> bool:
        """Whether somebody outside is asked, who takes his time."""
        return self._claude is not None

    def judge(self, text: str, attempt: int = 1) -> tuple[list[Detection], str]:
        """What is private in a text that was sanitised, and who found it."""
        if self._claude is not None and self._open():
            validator = ClaudeValidator(self._claude)
            try:
                with self._noted(attempt):
                    return validator.detect(text), validator.name
            except Declined as error:
                if error.found is not None:
                    return error.found, self._validator.name  # a part of it was read: what was found there stays
        return self._validator.detect(text), self._validator.name

    def drafts(self, messages: list[Message], categories: list[str], attempt: int = 1) -> tuple[list[Draft], str]:
        """What a conversation teaches, and who says so."""
        if self._claude is not None and self._open():
            extractor = ClaudeExtractor(self._claude)
            try:
                with self._noted(attempt):
                    return [_clean(draft) for draft in extractor.extract(messages, categories)], extractor.name
            except Declined:
                pass
        return self._extractor.extract(messages, categories), self._extractor.name

    def _open(self) -> bool:
        with self._lock:
            return monotonic() >= self._shut_until

    @contextmanager
    def _noted(self, attempt: int) -> Iterator[None]:
        """Turn what a provider raises into what a job raises; only Declined comes out as it is."""
        try:
            yield
        except Declined as error:
            with self._lock:
                self._shut_until = max(self._shut_until, monotonic() + error.pause)
            self._write_down(str(error))
            raise
        except Busy as error:
            if not error.known:
                self._write_down(str(error), error.after)
            raise holdfast.Snooze(error.after) from None
        except Failed as error:
            self._write_down(str(error))
            if attempt >= ATTEMPTS:
                raise Declined(str(error)) from None
            raise holdfast.Retry(f"Claude {error}", after=error.after) from None
        else:
            if monotonic() >= self._well_until:  # now and then: the trouble may be another process's
                self._purse.well()
                self._well_until = monotonic() + _WELL_SECONDS

    def _write_down(self, text: str, pause: float = 0.0) -> None:
        self._well_until = 0.0
        if self._purse.trouble(text, pause=pause):
            note(self._places, now(), f"Claude {text}")


def _claude(chosen: provider.ClaudeSettings, purse: Purse, environment: Mapping[str, str]) -> Claude:
    def key() -> str:
        found = provider.key_in(environment, chosen.key_name)
        if not found:
            raise Declined(f"is not asked: {chosen.key_name} holds no key", pause=LONGEST_WAIT)
        return found

    return Claude(
        model=chosen.model,
        url=chosen.url,
        price=chosen.price,
        purse=purse,
        key=key,
        timeout=chosen.timeout,
        effort=chosen.effort,
    )


def _clean(draft: Draft) -> Draft:
    """What a model wrote is text from outside: it goes through the same rules as everything that is stored."""
    title, content, summary = (_sanitised(text) for text in (draft.title, draft.content, draft.summary))
    tags = tuple(tag for tag in draft.tags if sanitise(tag)[0] == tag)
    return replace(draft, title=title[:_TITLE], content=content, summary=summary, tags=tags)


def _sanitised(text: str) -> str:
    clean, _ = sanitise(text)
    for one in reversed(RulesValidator().detect(clean)):
        clean = f"{clean[: one.start]}[REDACTED_{one.category}]{clean[one.end :]}"
    return clean
