"""`holdfast webhook`: deliveries to receivers of others."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.ending import FAILED, note
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import age, clean, json_text
from holdfast.cli.render import STATUS_STYLE, Block, Cell, Column, instant, show_fields, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.cli.verbs import dated
from holdfast.deliveries import TYPE, attempts_of
from holdfast.engine import jobs
from holdfast.model import stamp
from holdfast.model.errors import BadInput
from holdfast.model.job import Job
from holdfast.model.status import TERMINAL, Status
from holdfast.model.subscription import Subscription
from holdfast.webhooks.signing import new_secret

_DELIVERIES = (
    Column("ID"),
    Column("ENDPOINT", fixed=False),
    Column("EVENT", fixed=False),
    Column("STATUS"),
    Column("RUNS", right=True),
    Column("CREATED", right=True),
    Column("ANSWER", fixed=False),
)
_SUBSCRIPTIONS = (Column("NAME"), Column("ENDPOINT", fixed=False), Column("HEARS OF", fixed=False))
_ATTEMPTS = (Column("RUN", right=True), Column("AT", right=True), Column("ANSWER"), Column("BYTES", right=True),
             Column("SECONDS", right=True))  # fmt: skip


@click.group(
    cls=Family,
    examples=(
        ("holdfast webhook list --status failed", "what receivers did not take"),
        ("holdfast webhook show ID", "every attempt: when, what was answered, how long it took"),
        ("holdfast webhook replay ID", "the receiver is mended: deliver it once more"),
    ),
)
def command() -> None:
    """Look at deliveries of webhooks, send them again, and say who hears of ends."""


@command.command("list", examples=(("holdfast webhook list --status dead_letter --json", "for programs"),))
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Only those of this status.")
@click.option("--tenant", help="Only those of this tenant.")
@click.option("--group", help="Only those of this group.")
@click.option(
    "--limit", type=click.IntRange(1, jobs.MOST_LISTED), default=20, show_default=True, help="At most so many."
)
@click.option("--before", metavar="ID", help="Go on below this delivery: the older ones.")
@url_option
@json_option
def list_deliveries(url: str | None, limit: int, *, as_json: bool, **where: str | None) -> None:
    """List deliveries, newest first, with the last answer of the receiver."""
    with opened(url) as app:
        now, (found, before) = app.desk.read(dated, jobs.list_jobs, limit=limit, type=TYPE, **where)
    if as_json:
        show_list([job.as_json() for job in found])
        return
    show_table(_DELIVERIES, [_row(job, now) for job in found], empty="no deliveries")
    if before is not None:
        note(f"more: --before {before}")


@command.command(examples=(("holdfast webhook show ID", "every attempt, and the body that is sent"),))
@click.argument("job_id", metavar="ID")
@url_option
@json_option
def show(job_id: str, url: str | None, *, as_json: bool) -> None:
    """Show one delivery and its attempts.

    ID is the job's, as `holdfast webhook list` shows it. Of an answer only its status and size are kept.
    """
    with opened(url) as app:
        now, job = app.desk.read(dated, jobs.get, job_id)
    if job.type != TYPE:
        raise BadInput(
            "BAD_OPTION", f"job {job_id} is of type {job.type!r:.50}, not a delivery: use `holdfast job show`"
        )
    if as_json:
        click.echo(json_text(job.as_json(), indent=2))
        return
    show_fields(_fields(job, now))
    rows = [
        [one.get("attempt"), age(stamp.from_text(one["at"]), now), _answer(one), one.get("bytes", ""), one["seconds"]]
        for one in attempts_of(job)
    ]
    show_table(_ATTEMPTS, rows, empty="no attempt has ended yet; `holdfast job explain` tells why")


@command.command(
    examples=(
        (
            "holdfast webhook subscribe ops --endpoint pager --end dead_letter",
            "tell the endpoint `pager` of dead letters",
        ),
        ("holdfast webhook subscribe bills --endpoint books --end completed --type charge --result", "and of results"),
    )
)
@click.argument("name")
@click.option("--endpoint", required=True, help="The endpoint's name, as the workers know it.")
@click.option(
    "--end",
    "ends",
    multiple=True,
    required=True,
    type=click.Choice(sorted(status.value for status in TERMINAL)),
    help="An end to hear of; may be given several times.",
)
@click.option("--type", "types", multiple=True, help="Only jobs of this type; may be given several times.")
@click.option("--queue", "queues", multiple=True, help="Only jobs of this queue; may be given several times.")
@click.option("--group", "groups", multiple=True, help="Only jobs of this group; may be given several times.")
@click.option("--tenant", help="Only jobs of this tenant.")
@click.option("--result", "with_result", is_flag=True, help="Tell the job's result, too.")
@url_option
@json_option
def subscribe(name: str, endpoint: str, url: str | None, *, as_json: bool, **which: Any) -> None:
    """Tell an endpoint when jobs end. A subscription of the same name is changed."""
    with opened(url, looking=False) as app:
        one = app.webhooks.subscribe(name, endpoint, actor=person(), **which)
    if as_json:
        click.echo(json_text(one.as_json()))
    else:
        click.echo(f"endpoint {clean(endpoint)} hears of: {clean(_wanted(one))}; in force within 5 s")


@command.command(examples=(("holdfast webhook unsubscribe ops", "what is under way is still delivered"),))
@click.argument("name")
@url_option
@json_option
def unsubscribe(name: str, url: str | None, *, as_json: bool) -> None:
    """Tell an endpoint no more of ends. The exit code is 1 if there was no such subscription."""
    with opened(url) as app:
        known = app.webhooks.unsubscribe(name)
    if as_json:
        click.echo(json_text({"name": name, "changed": known}))
    elif known:
        click.echo(f"subscription {clean(name)} is gone")
    else:
        note(f"there is no subscription {clean(name)}; `holdfast webhook subscriptions` lists them")
    if not known:
        raise click.exceptions.Exit(FAILED)


@command.command(examples=(("holdfast webhook subscriptions --json", "for programs"),))
@url_option
@json_option
def subscriptions(url: str | None, *, as_json: bool) -> None:
    """List who hears of the ends of which jobs."""
    with opened(url) as app:
        found = app.webhooks.subscriptions()
    if as_json:
        show_list([one.as_json() for one in found])
        return
    rows = [[one.name, one.endpoint, _wanted(one)] for one in found]
    show_table(_SUBSCRIPTIONS, rows, empty="no subscriptions; `holdfast webhook subscribe` makes one")


@command.command(
    examples=(("holdfast webhook replay ID", "the same id and body, a fresh signature, all attempts anew"),)
)
@click.argument("job_id", metavar="ID")
@url_option
@json_option
def replay(job_id: str, url: str | None, *, as_json: bool) -> None:
    """Deliver once more what an ended delivery held, as a new job.

    The webhook-id stays the same, so a receiver that took it before can tell.
    """
    with opened(url) as app:
        handle = app.webhooks.replay(job_id)
    click.echo(json_text({"id": handle.id, "replay_of": job_id}) if as_json else clean(handle.id))


@command.command(examples=(("holdfast webhook secret", "for the environment of the workers, and for the receiver"),))
@json_option
def secret(*, as_json: bool) -> None:
    """Make a secret to share with one receiver. It is printed once and stored nowhere.

    To change a secret, put the new one before the old one, with a space between: both sign until you take the old
    one away.
    """
    made = new_secret()
    click.echo(json_text({"secret": made}) if as_json else made)


def _row(job: Job, now: int) -> list[object]:
    made = attempts_of(job)
    return [
        job.id,
        *_names(job),
        Cell(job.status.value, STATUS_STYLE[job.status]),
        f"{job.attempts}/{job.max_attempts}",
        age(instant(job.created_at), now),
        Cell(_answer(made[-1]) if made else "", "dim"),
    ]


def _names(job: Job) -> tuple[object, object]:
    payload: dict[str, Any] = job.payload if isinstance(job.payload, dict) else {}
    return payload.get("endpoint", ""), payload.get("event", "")


def _answer(record: dict[str, Any]) -> object:
    return record.get("status") or record.get("error", "")


def _fields(job: Job, now: int) -> list[tuple[str, object]]:
    payload: dict[str, Any] = job.payload if isinstance(job.payload, dict) else {}
    due = instant(job.scheduled_at)
    fields: list[tuple[str, object]] = [
        ("job", job.id),
        ("webhook-id", payload.get("id")),
        ("endpoint", payload.get("endpoint")),
        ("event", payload.get("event")),
        ("status", job.status.value),
        ("attempts", f"{job.attempts} of {job.max_attempts}"),
        ("created", age(instant(job.created_at), now)),
        ("next", age(due, now) if job.status == Status.QUEUED and due is not None and due > now else None),
        ("error", None if job.error is None else f"{job.error.get('code')}: {job.error.get('message')}"),
        ("body", Block(json_text(payload.get("body"), indent=2))),
    ]
    return [(name, value) for name, value in fields if value is not None]


def _wanted(one: Subscription) -> str:
    parts = [", ".join(one.ends)]
    for what, names in (("type", one.types), ("queue", one.queues), ("group", one.groups)):
        parts += [f"{what} {' or '.join(names)}"] if names else []
    parts += [f"tenant {one.tenant}"] if one.tenant is not None else []
    parts += ["with the result"] if one.with_result else []
    return "; ".join(parts)
