"""`holdfast capture uploads ...`: what was shared, and how far the rest is."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from holdfast_pipelines.capture import uploads

if TYPE_CHECKING:
    from collections.abc import Callable


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`, as every command has it."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def where_it_goes() -> str:
    """What is missing before an approved learning can go out; nothing if all is set."""
    from holdfast_pipelines.capture.upload_settings import UploadSettings  # noqa: PLC0415

    settings = UploadSettings(os.environ)
    return settings.advice() if settings.wrong else ""


def build_uploads(family: Callable[..., click.Group], asked: Callable[..., Any]) -> click.Group:
    """The commands; `asked` calls a verb with the application."""
    group = family(
        "uploads",
        help="Look at learnings that are shared, and try one again.",
        examples=(("holdfast capture uploads list", "how far each is, and what it waits for"),),
    )

    @group.command("list", examples=(("holdfast capture uploads list --status failed", "those that need a look"),))
    @click.option("--status", type=click.Choice(uploads.STATUSES), help="In this status alone.")
    @click.option("--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="How many.")
    @json_option
    def listing(status: str | None, limit: int, *, as_json: bool) -> None:
        """List uploads, newest first."""
        found = asked(uploads.listing, status, limit)
        if as_json:
            click.echo(json.dumps(found))
            return
        for one in found:
            click.echo(f"{one['learning_id']}  {one['status']:13}  {one['waits_for'] or one['cid'] or ''}")
        if not found:
            click.echo("no uploads")

    @group.command("show", examples=(("holdfast capture uploads show ID", "by the id of the learning"),))
    @click.argument("id")
    @json_option
    def show(id: str, *, as_json: bool) -> None:
        """Show one upload, and the document that goes out."""
        one = asked(uploads.show, id)
        if as_json:
            click.echo(json.dumps(one))
            return
        for name, value in one.items():
            if value is not None and name != "document":
                click.echo(f"{name:13}{value}")
        click.echo(json.dumps(one["document"], indent=2))

    @group.command("retry", examples=(("holdfast capture uploads retry ID", "go on now, or after a failure"),))
    @click.argument("id")
    @json_option
    def retry(id: str, *, as_json: bool) -> None:
        """Try an upload again now: one that has failed, or that waits."""
        one = asked(uploads.retry, id)
        click.echo(json.dumps(one) if as_json else f"{id}: tried again; it was {one['status']}")

    return group
