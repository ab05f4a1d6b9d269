"""`holdfast sql`."""

from __future__ import annotations

from importlib.resources import files

import click

from holdfast.cli.tree import Command

# Each store's own clock in the form it keeps: on SQLite the one form of a stamp.
_NOW = {"sqlite": "strftime('%Y-%m-%dT%H:%M:%fZ')", "postgres": "date_trunc('milliseconds', clock_timestamp())"}
_TITLES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@click.command(
    cls=Command,
    examples=(
        ("holdfast sql > schema.sql", "read it, review it, keep it with your own migrations"),
        ("holdfast sql | sqlite3 jobs.db", "make the tables without Holdfast, in an empty file"),
        ("holdfast sql --store postgres | psql --single-transaction jobs", "the same on PostgreSQL"),
    ),
)
@click.option("--store", type=click.Choice(list(_NOW)), default="sqlite", help="Whose SQL; sqlite unless given.")
def command(store: str) -> None:
    """Print the schema as plain SQL.

    Records each migration as `holdfast migrate` would, so Holdfast knows the tables as its own.
    """
    click.echo(schema_text(store), nl=False)


def schema_text(store: str = "sqlite") -> str:
    """Every migration from the first, with the record of each."""
    folder = files(f"holdfast.store.{store}")
    table = (folder / "sql" / "schema_table.sql").read_text(encoding="utf-8")
    applied = (folder / "sql" / "schema_applied.sql").read_text(encoding="utf-8")
    migrations = sorted(path.name.removesuffix(".sql") for path in (folder / "migrations").iterdir())
    parts = [f"-- Holdfast's tables for {_TITLES[store]}, schema {len(migrations)}.\n", f"{table.strip()};\n"]
    for number, name in enumerate(migrations, start=1):
        record = applied.replace(":version", str(number)).replace(":name", f"'{name}'").replace(":now", _NOW[store])
        migration = (folder / "migrations" / f"{name}.sql").read_text(encoding="utf-8")
        parts += [f"{migration.strip()}\n", f"{record.strip()};\n"]
    return "\n".join(parts)
