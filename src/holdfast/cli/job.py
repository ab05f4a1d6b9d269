"""`holdfast job`: look at one job, or act on it."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.ending import FAILED, tell
from holdfast.cli.enqueue import from_stdin, json_object
from holdfast.cli.numbers import Finite
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import age, clean, json_text, many
from holdfast.cli.render import Block, Column, instant, job_note, show_fields, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.cli.verbs import dated
from holdfast.engine import jobs
from holdfast.model import stamp
from holdfast.model.errors import ResultError, ResultTimeout
from holdfast.model.job import Job
from holdfast.model.status import TERMINAL

_HISTORY = (
    Column("AT", right=True),
    Column("FROM"),
    Column("TO"),
    Column("WHY"),
    Column("RUN", right=True),
    Column("WHO", fixed=False),
    Column("ERROR", fixed=False),
)


@click.group(
    cls=Family,
    examples=(
        ("holdfast job show ID --wait 60", "wait for the end, then see it"),
        ("holdfast job explain ID", "why does it not run?"),
    ),
)
def command() -> None:
    """Look at one job, or act on it."""


@command.command(
    examples=(
        ("holdfast job show ID", "all of it"),
        ("holdfast job show ID --wait 60 --json", "wait up to a minute for its end; exit code 1 if it has not ended"),
    )
)
@click.argument("job_id", metavar="ID")
@click.option("--wait", type=Finite(min=0), metavar="SECONDS", help="Wait so long for the job to end.")
@url_option
@json_option
def show(job_id: str, wait: float | None, url: str | None, *, as_json: bool) -> None:
    """Show one job: status, counters, times, payload, result, error."""
    in_time = True
    with opened(url) as app:
        if wait is not None:
            try:
                app.handle(job_id).result(timeout=wait)
            except ResultTimeout:
                in_time = False
            except ResultError:
                pass  # it ended, badly: the job itself tells
        now, (job, family) = app.desk.read(dated, jobs.get_with_family, job_id)
    if as_json:
        click.echo(json_text(job.as_json() | family, indent=2))
    else:
        show_fields(_fields(job, now) + _relatives(job, family))
    if not in_time:
        tell("RESULT_TIMEOUT", f"it has not ended within {wait:g} s; `holdfast job explain {job_id}` tells why")
        raise click.exceptions.Exit(FAILED)


@command.command(examples=(("holdfast job retry ID", "send a failed or dead-lettered job round again"),))
@click.argument("job_id", metavar="ID")
@url_option
@json_option
def retry(job_id: str, url: str | None, *, as_json: bool) -> None:
    """Send a failed or dead-lettered job round again, its counters at zero."""
    with opened(url) as app:
        job = app.retry(job_id, actor=person())
    click.echo(json_text(job.as_json(), indent=2) if as_json else f"job {clean(job.id)} is {job.status.value} again")


@command.command(
    examples=(
        ("holdfast job cancel ID", "now: a run is stopped, and what it sends is refused"),
        ("holdfast job cancel ID --mode graceful", "let a run that has begun complete"),
    )
)
@click.argument("job_id", metavar="ID")
@click.option(
    "--mode",
    type=click.Choice(["immediate", "graceful", "full"]),
    default="immediate",
    show_default=True,
    help="Whether a run that has begun is stopped, or may complete; `full` also waits until its handler has stopped.",
)
@url_option
@json_option
def cancel(job_id: str, mode: str, url: str | None, *, as_json: bool) -> None:
    """Cancel a job. One that has ended stays as it is, and the exit code is 1."""
    with opened(url) as app:
        answer = app.cancel(job_id, mode=mode, actor=person())
    if as_json:
        click.echo(json_text(answer))
    elif answer["changed"]:
        click.echo(_cancelled(answer))
    else:
        tell("WRONG_STATUS", f"job {job_id} is {answer['status']}: there is nothing to cancel")
    if not answer["changed"]:
        raise click.exceptions.Exit(FAILED)


@command.command(
    examples=(
        ("holdfast job resume ID", "a person has done what a parked job waited for"),
        ("holdfast job resume --key example.org", "all that wait for the same"),
        ("ask-for-code | holdfast job resume ID --data -", "give its handler an answer, which is kept encrypted"),
    )
)
@click.argument("job_id", metavar="[ID]", required=False)
@click.option("--key", help="All parked jobs that wait for this key.")
@click.option("--group", help="All parked jobs of this group.")
@click.option("--tenant", help="Of this tenant; of none if not given.")
@click.option("--data", metavar="JSON", help="An object for the handler alone; - reads it from standard input.")
@url_option
@json_option
def resume(job_id: str | None, data: str | None, url: str | None, *, as_json: bool, **which: str | None) -> None:
    """Let parked jobs go on: one by ID, those that wait for a key, or those of a group."""
    if sum(one is not None for one in (job_id, which["key"], which["group"])) != 1:
        raise click.UsageError("say which: an ID, or --key KEY, or --group GROUP")
    answer = None if data is None else json_object("data", from_stdin() if data == "-" else data)
    with opened(url) as app:
        resumed = app.resume(job_id, data=answer, actor=person(), **which)
    if as_json:
        click.echo(json_text({"count": len(resumed), "ids": resumed}))
    else:
        click.echo(f"{many(len(resumed), 'job')} resumed")


@command.command(examples=(("holdfast job explain ID", "no worker? paused? not due? behind others?"),))
@click.argument("job_id", metavar="ID")
@url_option
@json_option
def explain(job_id: str, url: str | None, *, as_json: bool) -> None:
    """Tell why a job does not run now."""
    with opened(url) as app:
        answer = app.explain(job_id)
    if as_json:
        click.echo(json_text(answer, indent=2))
        return
    click.echo(f"job {clean(answer['id'])} is {answer['status']}")
    for reason in answer["reasons"]:
        click.echo(f"  {reason['code']}: {clean(reason['text'])}")


@command.command(examples=(("holdfast job history ID", "retries, crashes, cancels, and who did what"),))
@click.argument("job_id", metavar="ID")
@url_option
@json_option
def history(job_id: str, url: str | None, *, as_json: bool) -> None:
    """Show what happened to a job: retries, crashes, releases, acts of a person."""
    with opened(url) as app:
        now, lines = app.desk.read(dated, jobs.history, job_id)
    if as_json:
        show_list(lines)
        return
    rows = [
        [
            age(stamp.from_text(line["at"]), now), line["from_status"], line["to_status"], line["why"], line["attempt"],
            line["actor"] or line["worker"] or "", line["error_class"] or "",
        ]
        for line in lines
    ]  # fmt: skip
    show_table(_HISTORY, rows, empty="nothing beyond its normal life; `holdfast job show` tells that")


def _cancelled(answer: dict[str, object]) -> str:
    if answer["status"] == "in_progress":
        return f"job {clean(answer['id'])} was asked to stop; its run may still complete"
    more = "; its handler has not stopped yet" if answer.get("still_running") else ""
    return f"job {clean(answer['id'])} is {answer['status']}; it was {answer['left']}{more}"


def _fields(job: Job, now: int) -> list[tuple[str, object]]:
    counters = f"{job.failed} failed, {job.crashed} crashed, {job.interrupted} interrupted"
    fields: list[tuple[str, object]] = [
        ("id", job.id),
        ("type", job.type),
        ("status", job.status.value),
        ("note", job_note(job, now)),
        ("queue", job.queue),
        ("priority", job.priority),
        ("attempts", f"{job.attempts} of {job.max_attempts} ({counters})"),
        ("tenant", job.tenant),
        ("group", job.group),
        ("key", job.idempotency_key),
        ("batch", job.batch if job.item is None else f"{job.batch}, item {job.item}"),
        ("worker", job.lease_owner),
        ("parked until", _moment(instant(job.auth_until), now)),
        ("created", _moment(instant(job.created_at), now)),
        ("due", _moment(instant(job.scheduled_at), now)),
        ("started", _moment(instant(job.started_at), now)),
        ("ended", _moment(instant(job.completed_at), now)),
    ]
    for name in ("context", "payload", "progress", "result", "error"):
        value = getattr(job, name)
        if value:
            fields.append((name, Block(json_text(value, indent=2))))
    return [(name, value) for name, value in fields if value not in (None, "")]


def _relatives(job: Job, family: dict[str, list[dict[str, Any]]]) -> list[tuple[str, object]]:
    """The jobs before it and behind it; each line says whether it still waits."""
    over = job.status in TERMINAL
    lines = [("waits for" if one["waits"] and not over else "waited for", one) for one in family.get("parents", [])] + [
        ("was awaited by" if over else "awaited by", one) for one in family.get("children", [])
    ]
    return [(name, f"{one['id']} {one['type']} ({one['status']})") for name, one in lines]


def _moment(at: int | None, now: int) -> str:
    return "" if at is None else f"{stamp.to_text(at)} ({age(at, now)})"
