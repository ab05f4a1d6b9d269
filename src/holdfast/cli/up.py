"""`holdfast up`: worker, HTTP API, overview page and upkeep in one command."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.logs import set_up_logging
from holdfast.cli.opening import flagged_url, signal_required_option, url_option
from holdfast.cli.running import announce, ended, options_of, worker_options
from holdfast.cli.tree import Command


@click.command(
    cls=Command,
    examples=(("holdfast up mysite.jobs:app", "run jobs, and watch them at http://127.0.0.1:8321/"),),
)
@click.argument("app", metavar="MODULE:APP")
@url_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Loopback addresses only.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535))
@signal_required_option
@worker_options
def command(app: str, url: str | None, host: str, port: int, *, require_signal: bool, **given: Any) -> None:
    """Run jobs and serve the overview page, until a signal stops both."""
    from holdfast.http.address import check_libraries, listen  # noqa: PLC0415
    from holdfast.process import run_up  # noqa: PLC0415

    check_libraries()
    set_up_logging(given["log_level"])
    serve = [app, "--host", host, "--port", str(port), "--log-level", given["log_level"]]
    if (flagged := flagged_url(url)) is not None:
        serve += ["--url", flagged]
    if require_signal:
        serve.append("--require-signal")
    options = options_of(app, url, given)
    with listen(host, port) as listener:  # before anything is started: without its page it would not be what was asked
        code = run_up(options, serve, listener, announce)
    ended(code)
