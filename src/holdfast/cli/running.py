"""What `worker` and `up` share: their options, and what they say when they start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import colour, note
from holdfast.cli.logs import log_option
from holdfast.cli.numbers import Finite
from holdfast.cli.opening import chosen_signal, chosen_url, flagged_url
from holdfast.cli.plain import clean, many
from holdfast.worker.child import COROUTINES, THREADS
from holdfast.worker.options import STOP_SECONDS, Options
from holdfast.worker.places import MOST_READY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.worker.application import Described
    from holdfast.worker.supervisor import Supervisor


def worker_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a worker."""
    options = (
        click.option("--queues", metavar="NAME[=PLACES],...", help="Queues to draw from: images=4,default."),
        click.option("--processes", default=1, show_default=True, type=click.IntRange(1, 256),
                     help="Processes that run jobs."),
        click.option("--coroutines", default=COROUTINES, show_default=True, type=click.IntRange(1, 10_000),
                     help="Places for coroutine handlers, per process."),
        click.option("--threads", default=THREADS, show_default=True, type=click.IntRange(1, 1_000),
                     help="Places for plain functions, per process."),
        click.option("--prefetch", default=MOST_READY, show_default=True, type=click.IntRange(0, 10_000),
                     help="Most jobs held ready behind the places; 0: none."),
        click.option("--alone", default=4, show_default=True, type=click.IntRange(1, 64),
                     help="Most jobs at once that run in processes of their own."),
        click.option("--no-signals", is_flag=True, help="Find new jobs by polling alone."),
        click.option("--stop-seconds", default=STOP_SECONDS, show_default=True, type=Finite(0, 3600),
                     help="How long running jobs may go on after the first signal to stop."),
        log_option,
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def options_of(spec: str, url: str | None, given: dict[str, Any]) -> Options:
    """A worker's options from those of the command line."""
    return Options(
        spec=spec,
        folder=os.getcwd(),  # noqa: PTH109
        url=flagged_url(url),
        url_otherwise=chosen_url(None),
        signal=chosen_signal(),
        queues=parse_queues(given["queues"]),
        processes=given["processes"],
        coroutines=given["coroutines"],
        threads=given["threads"],
        prefetch=given["prefetch"],
        solos=given["alone"],
        signals=not given["no_signals"],
        stop_seconds=given["stop_seconds"],
        log_level=given["log_level"].upper(),
    )


def parse_queues(text: str | None) -> dict[str, int | None] | None:
    """`images=4,default` -> {"images": 4, "default": None}."""
    if not text:
        return None
    queues: dict[str, int | None] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, places = part.partition("=")
        if not name or (equals and not (places.isdecimal() and 0 < int(places) <= 10_000)):  # noqa: PLR2004
            raise click.BadParameter(f"{part[:50]!a} is not NAME or NAME=PLACES, as in images=4", param_hint="--queues")
        queues[name] = int(places) if equals else None
    return queues


def announce(supervisor: Supervisor) -> None:
    """The banner: what is drawn from, and by how many."""
    app, options = supervisor.app, supervisor.options
    types = ", ".join(clean(one["type"]) for one in app.types)
    queues = ", ".join(f"{clean(name)}={places}" if places else clean(name) for name, places in app.queues.items())
    processes = many(options.processes, "process", plural="processes")
    click.echo(f"holdfast worker {options.spec}: {processes}, store {_without_secret(app.url)}", err=True)
    click.echo(f"  queues {queues or '-'}; types {types or '-'}", err=True)
    for warning in _doubts(app):
        click.echo(click.style("  warning:", fg="yellow") + f" {clean(warning)}", err=True, color=colour())
    click.echo("  Ctrl-C stops it: what runs may finish; a second one stops it at once", err=True)


def ended(code: int) -> None:
    """Say that all is over, and end the command with its exit code."""
    if code:
        click.get_current_context().exit(code)
    note("stopped")


def _doubts(app: Described) -> Iterator[str]:
    """What may be meant, and is more often a slip."""
    if not app.types:
        yield "it has no types, so nothing will run: register handlers with @app.job in what MODULE imports"
        return
    named = {one["queue"] for one in app.types}
    for queue in app.queues:
        if queue not in named:
            yield f"no handler names queue {queue}: only jobs that are enqueued there by name come from it"


def _without_secret(url: str) -> str:
    """Without user and password, and without settings, of which one may be a password, too."""
    scheme, _, rest = url.partition("://")
    user, at, place = rest.partition("?")[0].rpartition("@")
    place = "..." if "@" in rest and not at else place  # a password that was not encoded may hold a question mark
    return clean(f"{scheme}://{'...@' if user else ''}{place}")
