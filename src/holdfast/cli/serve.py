"""`holdfast serve`: the HTTP API and the overview page."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import click

from holdfast.cli.logs import log_option, set_up_logging
from holdfast.cli.opening import chosen_signal, chosen_url, flagged_url, signal_required_option, url_option
from holdfast.cli.tree import Command

if TYPE_CHECKING:
    from holdfast.app import App


@click.command(
    cls=Command,
    examples=(
        ("holdfast serve", "API and overview page of the store in this folder"),
        ("holdfast serve mysite.jobs:app --port 8000", "payloads are checked against the application's handlers"),
    ),
)
@click.argument("app", metavar="[MODULE:APP]", required=False)
@url_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Loopback addresses only.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535))
@signal_required_option
@log_option
def command(app: str | None, url: str | None, host: str, port: int, log_level: str, *, require_signal: bool) -> None:
    """Serve the HTTP API and the overview page on this machine."""
    from holdfast.http.address import check_libraries, listen  # noqa: PLC0415

    check_libraries()
    set_up_logging(log_level)
    from holdfast.app import App  # noqa: PLC0415
    from holdfast.http import serve  # noqa: PLC0415

    _end_with_parent()
    with _given_listener() or listen(host, port) as listener:
        served = App(chosen_url(url), signal=chosen_signal()) if app is None else _loaded(app, url)
        serve(served, host, port, listener=listener, announce=_announce, require_signal=require_signal)


def _loaded(spec: str, url: str | None) -> App:
    from holdfast.worker.loading import load_app  # noqa: PLC0415

    if otherwise := chosen_url(None):
        os.environ["HOLDFAST_URL"] = otherwise  # where the application names no store
    return load_app(spec, os.getcwd(), flagged_url(url), chosen_signal())  # type: ignore[return-value]  # noqa: PTH109


def _announce(address: str) -> None:
    click.echo(f"holdfast: {address} (API described at /openapi.json, metrics at /metrics)", err=True)


def _given_listener() -> socket.socket | None:
    """The socket that `holdfast up` has bound, before it started anything."""
    number = os.environ.pop("HOLDFAST_LISTENER", "")
    return socket.socket(fileno=int(number)) if number else None


def _end_with_parent() -> None:
    """`holdfast up` starts this door; when it dies, however it dies, the door goes too."""
    parent = os.environ.pop("HOLDFAST_PARENT", "")
    if parent:
        from holdfast.worker.death import die_with  # noqa: PLC0415

        die_with(int(parent))
