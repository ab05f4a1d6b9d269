"""`holdfast sql`."""

from __future__ import annotations

from importlib.resources import files

import click

from holdfast.cli.tree import Command
from holdfast.store.sqlite.schema import MIGRATIONS

_NOW = "strftime('%Y-%m-%dT%H:%M:%fZ')"  # the one form of a stamp, from SQLite's own clock


@click.command(
    cls=Command,
    examples=(
        ("holdfast sql > schema.sql", "read it, review it, keep it with your own migrations"),
        ("holdfast sql | sqlite3 jobs.db", "make the tables without Holdfast, in an empty file"),
    ),
)
def command() -> None:
    """Print the schema as plain SQL.

    For SQLite. Records each migration as `holdfast migrate` would, so Holdfast knows the tables as its own.
    """
    click.echo(schema_text(), nl=False)


def schema_text() -> str:
    """Every migration from the first, with the record of each."""
    folder = files("holdfast.store.sqlite")
    table = (folder / "sql" / "schema_table.sql").read_text(encoding="utf-8")
    applied = (folder / "sql" / "schema_applied.sql").read_text(encoding="utf-8")
    parts = [f"-- Holdfast's tables for SQLite, schema {len(MIGRATIONS)}.\n", f"{table.strip()};\n"]
    for number, name in enumerate(MIGRATIONS, start=1):
        record = applied.replace(":version", str(number)).replace(":name", f"'{name}'").replace(":now", _NOW)
        migration = (folder / "migrations" / f"{name}.sql").read_text(encoding="utf-8")
        parts += [f"{migration.strip()}\n", f"{record.strip()};\n"]
    return "\n".join(parts)
