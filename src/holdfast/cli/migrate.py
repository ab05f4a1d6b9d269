"""`holdfast migrate`."""

from __future__ import annotations

import click

from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import json_text, many
from holdfast.cli.tree import Command


@click.command(
    cls=Command,
    examples=(
        ("holdfast migrate", "safe to call at every deploy, and twice"),
        ("holdfast migrate --url sqlite:////var/lib/app/jobs.db", "a store by its address"),
        ("holdfast migrate --url postgresql://owner@db/jobs", "with the role that owns the tables"),
    ),
)
@url_option
@json_option
def command(url: str | None, *, as_json: bool) -> None:
    """Make the tables, or bring them up to date.

    Forward only: a store of a newer Holdfast is refused and left as it is. SQLite also does this at first use;
    PostgreSQL waits for this command.
    """
    with opened(url, looking=False) as app:
        applied = app.desk.store.migrate()
    if as_json:
        click.echo(json_text({"applied": applied}))
    else:
        click.echo(f"{many(applied, 'migration')} applied" if applied else "the tables are up to date")
