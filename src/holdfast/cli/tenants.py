"""`holdfast tenants`: list, pause and resume."""

from __future__ import annotations

import click

from holdfast.cli.group import tell_switched
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.render import Column, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.engine import pauses

_COLUMNS = (Column("TENANT", fixed=False), Column("PAUSED AT"), Column("BY", fixed=False))


@click.group(
    cls=Family,
    invoke_without_command=True,
    examples=(
        ("holdfast tenants", "which tenants are paused"),
        ("holdfast tenants pause acme", "none of its jobs begins; what runs goes on"),
    ),
)
@url_option
@json_option
@click.pass_context
def command(ctx: click.Context, url: str | None, *, as_json: bool) -> None:
    """List, pause and resume tenants."""
    if ctx.invoked_subcommand is None:
        _list(url, as_json=as_json)


@command.command("list", examples=(("holdfast tenants list --json", "for programs"),))
@url_option
@json_option
def list_tenants(url: str | None, *, as_json: bool) -> None:
    """List the tenants that are paused, since when and by whom."""
    _list(url, as_json=as_json)


@command.command(examples=(("holdfast tenants pause acme", "none of its jobs begins until `resume`"),))
@click.argument("name")
@url_option
@json_option
def pause(name: str, url: str | None, *, as_json: bool) -> None:
    """Let no job of tenant NAME begin. Runs go on, and jobs can still be enqueued."""
    with opened(url, looking=False) as app:
        tell_switched(app.tenant(name).pause(person()), as_json=as_json)


@command.command(examples=(("holdfast tenants resume acme", "its jobs begin again"),))
@click.argument("name")
@url_option
@json_option
def resume(name: str, url: str | None, *, as_json: bool) -> None:
    """Let jobs of tenant NAME begin again, unless their queue or their group is paused."""
    with opened(url, looking=False) as app:
        tell_switched(app.tenant(name).resume(), as_json=as_json)


def _list(url: str | None, *, as_json: bool) -> None:
    with opened(url) as app:
        found = [one for one in app.desk.read(pauses.pauses) if one["scope"] == "tenant"]
    if as_json:
        show_list(found)
        return
    show_table(_COLUMNS, [[one["name"], one["since"], one["by"]] for one in found], empty="no tenant is paused")
