"""`holdfast batch`: look at one batch, or cancel it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.batches import state
from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import age, clean, count, json_text
from holdfast.cli.render import Cell, Column, show_fields, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.cli.verbs import dated
from holdfast.engine import batches as verbs
from holdfast.model import stamp

if TYPE_CHECKING:
    from holdfast.model.batch import Batch

_ITEMS = (
    Column("ITEM", right=True),
    Column("STATUS"),
    Column("JOB"),
    Column("RESULT OR ERROR", fixed=False),
)


@click.group(
    cls=Family,
    examples=(
        ("holdfast batch show ID", "how far it is"),
        ("holdfast batch items ID --failed", "what went wrong, item by item"),
    ),
)
def command() -> None:
    """Look at one batch, or cancel it. `app.map(...)` makes batches."""


@command.command(examples=(("holdfast batch show ID --json", "for programs"),))
@click.argument("batch_id", metavar="ID")
@url_option
@json_option
def show(batch_id: str, url: str | None, *, as_json: bool) -> None:
    """Show one batch: how many of its items are done, failed, cancelled, and still to come."""
    with opened(url) as app:
        now, batch = app.desk.read(dated, verbs.get, batch_id)
    if as_json:
        click.echo(json_text(batch.as_json(), indent=2))
    else:
        show_fields(_fields(batch, now))


@command.command(
    examples=(
        ("holdfast batch items ID --failed", "those that failed, and why"),
        ("holdfast batch items ID --after 99 --json", "from item 100 on, for programs"),
    )
)
@click.argument("batch_id", metavar="ID")
@click.option("--failed", is_flag=True, help="Only those that failed or were cancelled.")
@click.option("--after", type=click.IntRange(0), metavar="NUMBER", help="Only items above this number.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=100, show_default=True, help="How many.")
@url_option
@json_option
def items(batch_id: str, after: int | None, limit: int, url: str | None, *, failed: bool, as_json: bool) -> None:
    """List the items of a batch that have ended, with their results or errors."""
    with opened(url) as app:
        found, _ = app.desk.read(verbs.items, batch_id, after=after, limit=limit, failed=failed)
    if as_json:
        show_list(found)
        return
    rows = [
        [
            item["number"],
            Cell(item["status"], "red" if item["status"] == "failed" else ""),
            item["job"],
            json_text(item["result"]) if item["error"] is None else item["error"]["message"],
        ]
        for item in found
    ]
    show_table(_ITEMS, rows, empty="no items have ended so")


@command.command(
    examples=(("holdfast batch cancel ID", "what has not ended counts as cancelled; then the callback runs"),)
)
@click.argument("batch_id", metavar="ID")
@url_option
@json_option
def cancel(batch_id: str, url: str | None, *, as_json: bool) -> None:
    """Cancel what has not ended of a batch."""
    with opened(url) as app:
        jobs = app.batch(batch_id).cancel()
        batch = app.desk.read(verbs.get, batch_id)
    told = f"{count(batch.done)} items done, {count(batch.failed)} failed{_cancelled(batch)}"
    plain = f"batch {clean(batch.id)} has ended: {told}"
    click.echo(json_text(batch.as_json() | {"cancelled_jobs": jobs}, indent=2) if as_json else plain)


def _fields(batch: Batch, now: int) -> list[tuple[str, object]]:
    ended = f"{count(batch.done)} done, {count(batch.failed)} failed{_cancelled(batch)}"
    counted = f"{ended}, {count(batch.running)} to come"
    fields = [
        ("id", batch.id),
        ("type", batch.type),
        ("state", state(batch).value),
        ("items", f"{count(batch.total)}: {counted} ({batch.percent:g} %)"),
        ("queue", batch.queue),
        ("tenant", batch.tenant),
        ("group", batch.group),
        ("key", batch.idempotency_key),
        ("callback", batch.callback_job),
        ("created", _moment(batch.created_at, now)),
        ("ended", "" if batch.ended_at is None else _moment(batch.ended_at, now)),
    ]  # fmt: skip
    return [(name, value) for name, value in fields if value not in (None, "")]


def _cancelled(batch: Batch) -> str:
    return f", {count(batch.cancelled)} cancelled" if batch.cancelled else ""


def _moment(at: str, now: int) -> str:
    return f"{at} ({age(stamp.from_text(at), now)})"
