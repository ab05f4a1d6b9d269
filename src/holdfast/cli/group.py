"""`holdfast group`: how far a group of jobs is; cancel, pause and resume it."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.ending import FAILED, note, tell
from holdfast.cli.numbers import Finite
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import clean, count, json_text, many
from holdfast.cli.render import show_fields
from holdfast.cli.tree import Family
from holdfast.engine import groups
from holdfast.model.errors import ResultTimeout

_LONGEST_WAIT = 3600

tenant_option = click.option("--tenant", default="", metavar="NAME", help="Whose group it is.")


@click.group(
    cls=Family,
    examples=(
        ("holdfast group show import-42", "how many of its jobs are done"),
        ("holdfast group cancel import-42 --mode graceful", "stop it; runs that have begun may complete"),
    ),
)
def command() -> None:
    """Look at a group of jobs, or act on all of it."""


@command.command(
    examples=(
        ("holdfast group show import-42", "its jobs by status, and why some failed"),
        ("holdfast group show import-42 --wait 60 --json", "once all have ended, for programs"),
    )
)
@click.argument("key")
@tenant_option
@click.option(
    "--wait", type=Finite(0, _LONGEST_WAIT), default=0.0, metavar="SECONDS", help="Wait so long until all have ended."
)
@url_option
@json_option
def show(key: str, tenant: str, wait: float, url: str | None, *, as_json: bool) -> None:
    """Show how far a group is. With --wait, the exit code is 1 if it is not done in time."""
    late = None
    with opened(url) as app:
        if wait:
            try:
                app.group(key, tenant=tenant).wait(wait)
            except ResultTimeout as error:
                late = error
        seen = app.desk.read(groups.found, key, tenant)
    if as_json:
        click.echo(json_text(seen, indent=2))
    else:
        show_fields(_fields(seen))
    if late is not None:
        tell(late.code, str(late))
        raise click.exceptions.Exit(FAILED)


@command.command(
    examples=(
        ("holdfast group cancel import-42", "now: runs are stopped, and what they send is refused"),
        ("holdfast group cancel import-42 --mode graceful --wait 10", "let runs that have begun complete"),
        ("holdfast group cancel import-42 --type thumbnail", "jobs of one type only"),
    )
)
@click.argument("key")
@click.option(
    "--mode",
    type=click.Choice(["immediate", "graceful", "full"]),
    default="immediate",
    show_default=True,
    help="Whether runs that have begun are stopped, or may complete; `full` also waits until handlers have stopped.",
)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only jobs of this type; may be given again.")
@click.option(
    "--wait",
    type=Finite(0, 30),
    default=0.0,
    metavar="SECONDS",
    help="With graceful: wait so long for runs to complete.",
)
@tenant_option
@url_option
@json_option
def cancel(
    key: str, mode: str, types: tuple[str, ...], url: str | None, *, wait: float, tenant: str, as_json: bool
) -> None:
    """Cancel every job of a group that has not ended."""
    with opened(url) as app:
        group = app.group(key, tenant=tenant)
        answer = group.cancel(mode=mode, types=types or None, wait=wait, actor=person())
        unknown = not group.progress()["total"]
    if as_json:
        click.echo(json_text(answer, indent=2))
        return
    click.echo(f"group {clean(key)}: {many(answer['cancelled'], 'job')} cancelled" + _more(answer))
    for kind, left in answer["by_type"].items():
        click.echo(f"  {clean(kind)}: {', '.join(f'{number} were {status}' for status, number in left.items())}")
    for kind, number in answer["left_alone"].items():
        click.echo(f"  {clean(kind)}: {number} left alone")
    if unknown:
        note("no job of this group is known: is its key spelt right?")


@command.command(examples=(("holdfast group pause import-42", "none of its jobs begins until `resume`"),))
@click.argument("key")
@tenant_option
@url_option
@json_option
def pause(key: str, tenant: str, url: str | None, *, as_json: bool) -> None:
    """Let no job of the group begin. Runs go on, and jobs can still be enqueued."""
    with opened(url, looking=False) as app:
        group = app.group(key, tenant=tenant)
        tell_switched(group.pause(person()), as_json=as_json)
        if not group.progress()["total"]:
            note("no job of this group is known yet: the pause holds for those to come")


@command.command(examples=(("holdfast group resume import-42", "its jobs begin again"),))
@click.argument("key")
@tenant_option
@url_option
@json_option
def resume(key: str, tenant: str, url: str | None, *, as_json: bool) -> None:
    """Let jobs of the group begin again, unless their queue or their tenant is paused."""
    with opened(url, looking=False) as app:
        tell_switched(app.group(key, tenant=tenant).resume(), as_json=as_json)


def tell_switched(answer: dict[str, Any], *, as_json: bool) -> None:
    """What a pause or resume did."""
    if as_json:
        click.echo(json_text(answer))
        return
    state, what = ("paused", "held") if answer["paused"] else ("open", "let go")
    click.echo(f"{answer['scope']} {clean(answer['name'])} is {state}: {many(answer['jobs'], 'job')} {what}")
    if not answer["changed"]:
        note("it was so before")


def _fields(seen: dict[str, Any]) -> list[tuple[str, object]]:
    counts = {status: number for status, number in seen["counts"].items() if number}
    return [
        ("group", seen["key"]),
        *([("tenant", seen["tenant"])] if seen["tenant"] else []),
        ("done", f"{count(seen['done'])} of {count(seen['total'])} ({seen['percent']:g} %)"),
        *((status, count(number)) for status, number in counts.items()),
        *(("paused", f"{one['scope']}, by {one['by']} at {one['since']}") for one in seen["paused"]),
        *(("error", f"{one['id']} {one['type']}: {one['code']}: {one['message']}") for one in seen["errors"]),
    ]


def _more(answer: dict[str, Any]) -> str:
    asked = f", {many(answer['asked'], 'run')} asked to stop" if answer["asked"] else ""
    return asked + (f", {answer['still_running']} still running" if answer["still_running"] else "")
