"""`holdfast queues`: list, pause and resume."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli import verbs
from holdfast.cli.ending import note
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import clean, count, json_text, span
from holdfast.cli.render import Cell, Column, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.engine import queues as house
from holdfast.engine.figures import CAP

_COLUMNS = (
    Column("QUEUE", fixed=False),
    Column("STATE"),
    Column("WAITING", right=True),
    Column("OLDEST", right=True),
    Column("RUNNING", right=True),
    Column("DEAD", right=True),
    Column("DONE 1H", right=True),
    Column("BAD 1H", right=True),
)


@click.group(
    cls=Family,
    invoke_without_command=True,
    examples=(
        ("holdfast queues", "every queue that holds something"),
        ("holdfast queues pause images", "stop claims; what runs goes on"),
    ),
)
@url_option
@json_option
@click.pass_context
def command(ctx: click.Context, url: str | None, *, as_json: bool) -> None:
    """List, pause and resume queues."""
    if ctx.invoked_subcommand is None:
        _list(url, as_json=as_json)


@command.command("list", examples=(("holdfast queues list --json", "for programs"),))
@url_option
@json_option
def list_queues(url: str | None, *, as_json: bool) -> None:
    """List every queue that holds jobs, had some in the last hour, or is paused."""
    _list(url, as_json=as_json)


@command.command(examples=(("holdfast queues pause images", "no worker claims from it until `resume`"),))
@click.argument("queue")
@url_option
@json_option
def pause(queue: str, url: str | None, *, as_json: bool) -> None:
    """Stop claims from QUEUE. Runs go on, and jobs can still be enqueued."""
    with opened(url, looking=False) as app:
        answer = app.desk.write(house.pause, queue, person())
        _tell(answer, as_json=as_json)
        if answer["changed"] and not app.desk.read(verbs.queue_is_known, queue):
            note("no job and no worker of this queue is known: the pause holds for those to come, if it is spelt right")


@command.command(examples=(("holdfast queues resume images", "workers claim from it again"),))
@click.argument("queue")
@url_option
@json_option
def resume(queue: str, url: str | None, *, as_json: bool) -> None:
    """Let claims from QUEUE go on."""
    with opened(url, looking=False) as app:
        _tell(app.desk.write(house.resume, queue), as_json=as_json)


def _list(url: str | None, *, as_json: bool) -> None:
    with opened(url) as app:
        found = app.desk.read(house.queues)
    if as_json:
        show_list(found)
        return
    rows = [
        [
            queue["name"],
            Cell("paused", "bold yellow") if queue["paused"] else Cell("open", "green"),
            count(queue["waiting"], CAP),
            span(queue["oldest_s"]) if queue["oldest_s"] > 0 else "",
            count(queue["running"]),
            Cell(count(queue["dead"], CAP), "bold red" if queue["dead"] else ""),
            count(queue["completed_1h"]),
            count(queue["ended_badly_1h"]),
        ]
        for queue in found
    ]
    show_table(_COLUMNS, rows, empty="no queue holds anything")


def _tell(answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(answer))
        return
    click.echo(f"queue {clean(answer['name'])} is {'paused' if answer['paused'] else 'open'}")
    if not answer["changed"]:
        note("it was so before")
