"""`holdfast worker`: run jobs."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.logs import set_up_logging
from holdfast.cli.opening import url_option
from holdfast.cli.running import announce, ended, options_of, worker_options
from holdfast.cli.tree import Command


@click.command(
    cls=Command,
    examples=(
        ("holdfast worker mysite.jobs:app", "draw from every queue its types name"),
        (
            "holdfast worker mysite.jobs:app --queues images=4,default --processes 2",
            "4 places for images in each process",
        ),
    ),
)
@click.argument("app", metavar="MODULE:APP")
@url_option
@worker_options
def command(app: str, url: str | None, **given: Any) -> None:
    """Run jobs of the application at MODULE:APP until a signal stops it.

    A supervisor keeps children at work, renews their leases, ends what overruns, and carries the upkeep of the store.
    """
    from holdfast.process import run_worker  # noqa: PLC0415

    set_up_logging(given["log_level"])
    ended(run_worker(options_of(app, url, given), announce))
