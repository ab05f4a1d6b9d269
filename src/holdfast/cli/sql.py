"""`holdfast sql`."""

from __future__ import annotations

from importlib.resources import files

import click

from holdfast.cli.tree import Command

# The stamp of a migration that a person applied, from the database's own clock.
_NOW = {"sqlite": "strftime('%Y-%m-%dT%H:%M:%fZ')", "postgres": "date_trunc('milliseconds', clock_timestamp())"}
_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@click.command(
    cls=Command,
    examples=(
        ("holdfast sql > schema.sql", "read it, review it, keep it with your own migrations"),
        ("holdfast sql | sqlite3 jobs.db", "make the tables without Holdfast, in an empty file"),
        ("holdfast sql --store postgres | psql -1 jobs", "the same in an empty database"),
        ("holdfast sql --roles | psql -1 jobs", "roles that migrate, work, read, or see one tenant"),
    ),
)
@click.option(
    "--store",
    type=click.Choice(tuple(_NAMES)),
    default="sqlite",
    show_default=True,
    help="The database it is for.",
)
@click.option("--roles", is_flag=True, help="PostgreSQL's roles with their grants and policies, instead of the tables.")
def command(store: str, *, roles: bool) -> None:
    """Print the schema as plain SQL.

    Records each migration as `holdfast migrate` would, so Holdfast knows the tables as its own.
    """
    click.echo(roles_text() if roles else schema_text(store), nl=False)


def roles_text() -> str:
    """What an administrator of PostgreSQL runs after the migrations."""
    return (files("holdfast.store.postgres") / "roles.sql").read_text(encoding="utf-8")


def schema_text(store: str) -> str:
    """Every migration from the first, with the record of each."""
    folder = files(f"holdfast.store.{store}")
    table = (folder / "sql" / "schema_table.sql").read_text(encoding="utf-8")
    applied = (folder / "sql" / "schema_applied.sql").read_text(encoding="utf-8")
    migrations = sorted(one.name for one in (folder / "migrations").iterdir())
    parts = [f"-- Holdfast's tables for {_NAMES[store]}, schema {len(migrations)}.\n", f"{table.strip()};\n"]
    for number, name in enumerate(migrations, start=1):
        values = {":version": str(number), ":name": f"'{name.removesuffix('.sql')}'", ":now": _NOW[store]}
        record = applied
        for placeholder, value in values.items():
            record = record.replace(placeholder, value)
        migration = (folder / "migrations" / name).read_text(encoding="utf-8")
        parts += [f"{migration.strip()}\n", f"{record.strip()};\n"]
    return "\n".join(parts)
