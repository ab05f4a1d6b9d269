"""`holdfast limits`: what limits the jobs; say it anew, or take it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import note
from holdfast.cli.enqueue import Seconds
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import clean, json_text
from holdfast.cli.render import Cell, Column, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.engine import limits as verbs
from holdfast.model.errors import BadInput
from holdfast.model.limit import exclusive, fair, limit_of

if TYPE_CHECKING:
    from holdfast.model.limit import Limit

_COLUMNS = (
    Column("NAME", fixed=False),
    Column("ALLOWS", fixed=False),
    Column("QUEUES", fixed=False),
    Column("STATE"),
    Column("FROM"),
)


@click.group(
    cls=Family,
    invoke_without_command=True,
    examples=(
        ("holdfast limits", "what limits the jobs"),
        ("holdfast limits set domain --concurrency 1", "one job at a time for each key domain:..."),
        ("holdfast limits set api --rate 100 --per 1s", "a hundred starts in a second"),
    ),
)
@url_option
@json_option
@click.pass_context
def command(ctx: click.Context, url: str | None, *, as_json: bool) -> None:
    """List what limits the jobs; say it anew, or take it back.

    A job with the key domain:example.org counts against the limit of that name, else against `domain`. The code
    declares limits with app.limit(...); what is changed here stays in force over restarts, until `reset`.
    """
    if ctx.invoked_subcommand is None:
        list_limits(url, as_json=as_json)


@command.command("list", examples=(("holdfast limits list", "the same as `holdfast limits`"),))
@url_option
@json_option
def list_all(url: str | None, *, as_json: bool) -> None:
    """List the limits."""
    list_limits(url, as_json=as_json)


@command.command(
    "set",
    examples=(
        ("holdfast limits set domain --concurrency 1", "one at a time for each key domain:..."),
        ("holdfast limits set domain:example.org --concurrency 4", "but four for this one"),
        ("holdfast limits set gpu --concurrency 1 --scope host", "one on each machine"),
        ("holdfast limits set api --rate 100 --per 1m", "a hundred starts a minute"),
    ),
)
@click.argument("name")
@click.option("--concurrency", type=int, metavar="N", help="How many run at once; 0: none.")
@click.option("--scope", type=click.Choice(("cluster", "host")), help="At once in the whole cluster, or on each host.")
@click.option("--rate", type=float, metavar="N", help="How many start in a time.")
@click.option("--per", type=Seconds(), metavar="DURATION", help="The time that a rate is for; 1s if not given.")
@click.option("--burst", type=float, metavar="N", help="How many starts may come together after a pause.")
@url_option
@json_option
def set_limit(name: str, url: str | None, *, as_json: bool, **says: Any) -> None:
    """Say what the limit NAME allows from now on; it beats the code until `reset`."""
    limit = limit_of(name, **{option: value for option, value in says.items() if value is not None})
    _act(verbs.set_limit, limit, url=url, as_json=as_json, by=person())


@command.command(
    "fair", examples=(("holdfast limits fair images --weight acme=2", "tenants take turns, acme counts double"),)
)
@click.argument("queue")
@click.option("--weight", "weights", metavar="TENANT=N", multiple=True, help="A tenant's weight; 1 if not given.")
@url_option
@json_option
def share(queue: str, weights: tuple[str, ...], url: str | None, *, as_json: bool) -> None:
    """Let the tenants of QUEUE take turns from now on. `drop fair:QUEUE` ends it."""
    _act(verbs.set_limit, fair(queue, dict(map(_weight, weights))), url=url, as_json=as_json, by=person())


@command.command("exclusive", examples=(("holdfast limits exclusive gpu browser", "of their jobs one runs at a time"),))
@click.argument("queues", nargs=-1, required=True)
@url_option
@json_option
def exclude(queues: tuple[str, ...], url: str | None, *, as_json: bool) -> None:
    """Of the jobs of QUEUES one runs at a time from now on."""
    _act(verbs.set_limit, exclusive(*queues), url=url, as_json=as_json, by=person())


@command.command(examples=(("holdfast limits drop domain", "one that the code has stays away until `reset`"),))
@click.argument("name")
@url_option
@json_option
def drop(name: str, url: str | None, *, as_json: bool) -> None:
    """Limit no more by NAME, even if the code does."""
    limit = _act(verbs.drop, name, url=url, as_json=as_json, by=person())
    if limit.code is not None and not as_json:
        note("the code has it: `holdfast limits reset` brings it back")


@command.command(examples=(("holdfast limits reset domain", "forget what was changed at run time"),))
@click.argument("name")
@url_option
@json_option
def reset(name: str, url: str | None, *, as_json: bool) -> None:
    """Go back to what the code says of NAME."""
    _act(verbs.reset, name, url=url, as_json=as_json)


def list_limits(url: str | None, *, as_json: bool) -> None:
    """Print every limit."""
    with opened(url) as app:
        found = app.desk.read(verbs.limits)
    if as_json:
        show_list([limit.as_json() for limit in found])
        return
    show_table(
        _COLUMNS,
        [
            [limit.name, limit.words(), ", ".join(limit.queues), _state(limit), limit.source]
            for limit in found
        ],
        empty="no limits: app.limit(...) in the code, or `holdfast limits set`, makes one",
    )  # fmt: skip


def _act(verb: Any, what: Any, *, url: str | None, as_json: bool, **more: Any) -> Limit:
    with opened(url, looking=False) as app:
        limit: Limit = app.desk.write(verb, what, **more)
    if as_json:
        click.echo(json_text(limit.as_json(), indent=2))
    else:
        click.echo(f"{clean(limit.name)}: {'no limit any more' if limit.removed else clean(limit.words())}")
    return limit


def _state(limit: Limit) -> Cell:
    return Cell("removed", "dim") if limit.removed else Cell("on", "green")


def _weight(text: str) -> tuple[str, int]:
    tenant, _, number = text.rpartition("=")
    if not tenant or not number.isdecimal():
        raise BadInput("BAD_LIMIT", f"a weight is written as tenant=2, not {text[:50]!a}")
    return tenant, int(number)
