"""`holdfast batches`: the listing. What acts on one stands in `holdfast batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import age, count
from holdfast.cli.render import Cell, Column, show_list, show_table
from holdfast.cli.tree import Command
from holdfast.cli.verbs import dated
from holdfast.engine import batches as verbs
from holdfast.model import stamp

if TYPE_CHECKING:
    from holdfast.model.batch import Batch

_COLUMNS = (
    Column("ID"),
    Column("TYPE", fixed=False),
    Column("STATE"),
    Column("DONE", right=True),
    Column("FAILED", right=True),
    Column("TOTAL", right=True),
    Column("PERCENT", right=True),
    Column("AGE", right=True),
    Column("ENDED", right=True),
)


@click.command(
    cls=Command,
    examples=(
        ("holdfast batches", "the newest batches, and how far each is"),
        ("holdfast batches --json", "for programs"),
    ),
)
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="How many.")
@click.option("--tenant", help="Only of this tenant.")
@url_option
@json_option
def command(limit: int, tenant: str | None, url: str | None, *, as_json: bool) -> None:
    """List the newest batches, and how far each is."""
    with opened(url) as app:
        now, (found, _) = app.desk.read(dated, verbs.list_batches, limit=limit, tenant=tenant)
    if as_json:
        show_list([batch.as_json() for batch in found])
        return
    show_table(_COLUMNS, [_row(batch, now) for batch in found], empty="no batches: app.map(...) makes one")


def state(batch: Batch) -> Cell:
    """Whether all of its items have ended."""
    return Cell("running", "cyan") if batch.ended_at is None else Cell("ended", "green")


def _row(batch: Batch, now: int) -> list[object]:
    return [
        batch.id,
        batch.type,
        state(batch),
        count(batch.done),
        Cell(count(batch.failed), "red" if batch.failed else ""),
        count(batch.total),
        f"{batch.percent:g}",
        age(stamp.from_text(batch.created_at), now),
        "" if batch.ended_at is None else age(stamp.from_text(batch.ended_at), now),
    ]
