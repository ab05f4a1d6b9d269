"""Numbers on the command line."""

from __future__ import annotations

from math import isfinite

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Finite(click.FloatRange):
    """A number between bounds. Click's own range lets through what compares false with everything: not-a-number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{str(value)[:50]!a} is not a finite number", param, ctx)
        return number
