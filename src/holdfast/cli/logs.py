"""The log of the commands that stay: one form for the worker, its children and the door beside it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def log_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--log-level`, on every command that stays."""
    levels = click.Choice(_LEVELS, case_sensitive=False)
    told = "What is told on standard error."
    return click.option("--log-level", default="WARNING", show_default=True, type=levels, help=told)(function)


def set_up_logging(level: str) -> None:
    """Messages to standard error."""
    logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
