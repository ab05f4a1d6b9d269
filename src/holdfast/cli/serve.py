"""`holdfast serve`: the HTTP API and the overview page."""

from __future__ import annotations

import os

import click

from holdfast.cli.opening import chosen_url, url_option
from holdfast.cli.tree import Command
from holdfast.model.errors import BadInput


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
def command(app: str | None, url: str | None, host: str, port: int) -> None:
    """Serve the HTTP API and the overview page on this machine."""
    try:
        from holdfast.http import serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise BadInput("BAD_OPTION", f"the HTTP door needs {error.name}: pip install 'holdfast[http]'") from None
    from holdfast.app import App  # noqa: PLC0415

    _end_with_parent()
    if app is None:
        served = App(chosen_url(url))
    else:
        from holdfast.worker.application import load_app  # noqa: PLC0415

        served = load_app(app, os.getcwd(), chosen_url(url))  # type: ignore[assignment]  # noqa: PTH109
    click.echo(f"holdfast: http://{host}:{port}/ (API at /v1, metrics at /metrics)", err=True)
    serve(served, host, port)


def _end_with_parent() -> None:
    """`holdfast up` starts this door; when it dies, however it dies, the door goes too."""
    parent = os.environ.pop("HOLDFAST_PARENT", "")
    if parent:
        from holdfast.worker.death import die_with  # noqa: PLC0415

        die_with(int(parent))
