"""`holdfast top`: a live view for the terminal."""

from __future__ import annotations

import os
import select
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast.cli.frame import View, frame, look
from holdfast.cli.numbers import Finite
from holdfast.cli.opening import opened, shown_url, url_option
from holdfast.cli.render import console
from holdfast.cli.tree import Command
from holdfast.model.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from holdfast.app import App

QUIT = "q"


@click.command(
    cls=Command,
    examples=(
        ("holdfast top", "live, until q"),
        ("holdfast top --once", "one frame, for a file or a screenshot"),
    ),
)
@click.option("--once", is_flag=True, help="Print one frame and end.")
@click.option(
    "--refresh",
    type=Finite(0.1, 60),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Look this often.",
)
@url_option
def command(url: str | None, refresh: float, *, once: bool) -> None:
    """Watch queues, workers, runs and failures live.

    Rates are of the last five minutes; success and durations of the last hour. q quits.
    """
    if not once and not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise click.UsageError("top needs a terminal: add --once to print one frame")
    with opened(url) as app:
        screen = console()
        if once:
            screen.print(frame(app.desk.read(look, shown_url(app)), screen.width, screen.height))
        else:
            _live(app, screen, refresh)


def _live(app: App, screen: Console, refresh: float) -> None:
    from rich.live import Live  # noqa: PLC0415

    with _keys() as pressed, Live(console=screen, screen=True, auto_refresh=False) as live:
        view = View(url=shown_url(app))
        while True:
            try:
                view = app.desk.read(look, shown_url(app))
            except HoldfastError as error:  # the store is away: show what was last seen, and say so
                view = view.stale(f"{error.code}: {error}")
            live.update(frame(view, screen.width, screen.height, live=True), refresh=True)
            if pressed(refresh) == QUIT:
                return


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Keys one by one as they are pressed; the terminal is put back as it was."""
    import termios  # noqa: PLC0415
    import tty  # noqa: PLC0415

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield lambda timeout: _key(terminal, timeout)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _key(terminal: int, timeout: float) -> str:
    if not select.select([terminal], [], [], timeout)[0]:
        return ""
    return os.read(terminal, 1).decode(errors="replace") or QUIT  # nothing to read: the terminal has gone
