"""`holdfast schedule`: look at one schedule, make one, or act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import note
from holdfast.cli.enqueue import Seconds, json_object
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import age, clean, json_text
from holdfast.cli.render import Block, Column, show_fields, show_list, show_table
from holdfast.cli.schedules import list_schedules, state
from holdfast.cli.tree import Family
from holdfast.cli.verbs import dated
from holdfast.engine import schedules as verbs
from holdfast.model import stamp
from holdfast.model.cron import on_the_wall
from holdfast.model.errors import NotFound
from holdfast.model.schedule import CATCH_UP, OVERLAP, UPCOMING
from holdfast.model.spelling import nearest
from holdfast.schedules import plan_for

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.model.schedule import Schedule

_TICKS = (Column("ON THE CLOCK"), Column("UTC"), Column("IN", right=True))
_MOST_TICKS = 1_000


@click.group(
    cls=Family,
    examples=(
        (
            'holdfast schedule add nightly report --cron "0 3 * * *" --tz Europe/Vienna',
            "every night, on Vienna's clocks",
        ),
        ("holdfast schedule pause nightly", "until `resume`"),
        ("holdfast schedule trigger nightly", "its job, now"),
    ),
)
def command() -> None:
    """Look at one schedule, make one, or act on it.

    A schedule makes one job for each of its ticks in the whole cluster. The code declares schedules with
    app.schedule(...); what is changed here stays in force over restarts, until `reset`.
    """


@command.command("list", examples=(("holdfast schedule list", "the same as `holdfast schedules`"),))
@url_option
@json_option
def list_all(url: str | None, *, as_json: bool) -> None:
    """List the schedules."""
    list_schedules(url, as_json=as_json)


@command.command(examples=(("holdfast schedule show nightly", "when, what, by whom, and the next ticks"),))
@click.argument("name")
@url_option
@json_option
def show(name: str, url: str | None, *, as_json: bool) -> None:
    """Show one schedule: when it runs, what it makes, what became of its ticks."""
    with opened(url) as app:
        now, schedule = app.desk.read(dated, verbs.get, name)
    _tell(schedule, now, as_json=as_json)


@command.command(
    "next",
    examples=(
        ("holdfast schedule next nightly", "the next five ticks of a schedule"),
        ('holdfast schedule next --cron "30 2 * * *" --tz Europe/Vienna', "try an expression, without a store"),
    ),
)
@click.argument("name", required=False)
@click.option("--cron", metavar="EXPRESSION", help="An expression to try, instead of a schedule's name.")
@click.option("--tz", default="UTC", show_default=True, metavar="ZONE", help="Its time zone.")
@click.option("--count", "number", type=click.IntRange(1, _MOST_TICKS), default=UPCOMING, show_default=True,
              help="How many ticks.")  # fmt: skip
@url_option
@json_option
def show_next(name: str | None, cron: str | None, tz: str, number: int, url: str | None, *, as_json: bool) -> None:
    """Show the next ticks of the schedule NAME, or of an expression.

    A time that the clock skips runs right after the gap; one that it shows twice runs once.
    """
    if (name is None) == (cron is None):
        raise click.UsageError("give the name of a schedule, or --cron")
    if cron is not None:
        from time import time_ns  # noqa: PLC0415

        from holdfast.model.request import NewJob  # noqa: PLC0415
        from holdfast.model.schedule import plan_of  # noqa: PLC0415

        now, plan = time_ns() // 1_000_000, plan_of(NewJob("any", "{}"), cron=cron, tz=tz)
    else:
        with opened(url) as app:
            now, schedule = app.desk.read(dated, verbs.get, name)
        plan = schedule.plan
        if schedule.idle:
            note(f"it makes no jobs now: it is {state(schedule).value}")
    ticks = plan.upcoming(now, number)
    if as_json:
        show_list([stamp.to_text(at) for at in ticks])
        return
    click.echo(clean(plan.words()))
    rows = [[on_the_wall(at, plan.tz), stamp.to_text(at), age(at, now).removeprefix("in ")] for at in ticks]
    show_table(_TICKS, rows, empty="it never comes")


@command.command(
    examples=(
        ('holdfast schedule add nightly report --cron "0 3 * * *" --tz Europe/Vienna', "every night at three"),
        ('holdfast schedule add poll fetch --every 30s --payload \'{"feed": "a"}\'', "every half minute"),
        ('holdfast schedule add nightly report --cron "0 4 * * *"', "an hour later, until `reset`"),
    )
)
@click.argument("name")
@click.argument("type")
@click.option("--cron", metavar="EXPRESSION", help='Five fields: "0 3 * * *", or @daily, @hourly and so on.')
@click.option("--every", type=Seconds(), metavar="DURATION", help="By elapsed time instead: 30s, 5m, 2h.")
@click.option("--tz", metavar="ZONE", help="Whose clocks cron goes by: Europe/Vienna; UTC if not given.")
@click.option("--catch-up", type=click.Choice(CATCH_UP), help="Ticks that nobody was there for; `last` if not given.")
@click.option("--overlap", type=click.Choice(OVERLAP), help="While the job before has not ended; `skip` if not given.")
@click.option("--payload", metavar="JSON", default="{}", help="The handler's arguments, an object.")
@click.option("--priority", type=int, help="1 (first) to 10; 5 if not given.")
@click.option("--group", help="A key of yours for jobs that belong together.")
@click.option("--tenant", help="Whose jobs they are.")
@click.option("--queue", help="The queue they wait in; `default` if not given.")
@click.option("--max-attempts", type=int, help="The most runs of a job, the first included; 3 if not given.")
@click.option("--timeout", type=Seconds(), metavar="DURATION", help="The longest one run may take.")
@url_option
@json_option
def add(name: str, type: str, payload: str, url: str | None, *, as_json: bool, **when: Any) -> None:
    """Make the schedule NAME, which makes jobs of TYPE; or change it, until `reset`."""
    given = {option: value for option, value in when.items() if value is not None}
    with opened(url, looking=False) as app:
        plan = plan_for(app, type, json_object("payload", payload), given)
        now, (schedule, _) = app.desk.write(dated, verbs.add, name, plan, by=person())
    _tell(schedule, now, as_json=as_json)


@command.command(examples=(("holdfast schedule pause nightly", "no tick makes a job until `resume`"),))
@click.argument("name")
@url_option
@json_option
def pause(name: str, url: str | None, *, as_json: bool) -> None:
    """Let no tick of NAME make a job. Jobs that were made go on."""
    _switch(verbs.pause, name, url, as_json=as_json)


@command.command(examples=(("holdfast schedule resume nightly", "from its next tick on"),))
@click.argument("name")
@url_option
@json_option
def resume(name: str, url: str | None, *, as_json: bool) -> None:
    """Let ticks of NAME make jobs again, from the next one on."""
    _switch(verbs.resume, name, url, as_json=as_json)


@command.command(examples=(("holdfast schedule trigger nightly", "prints the id of the job"),))
@click.argument("name")
@url_option
@json_option
def trigger(name: str, url: str | None, *, as_json: bool) -> None:
    """Make the job of NAME now, beside its ticks. Works while it is paused, too."""
    with opened(url) as app:
        try:
            job_id = app.desk.write(verbs.trigger, name)
        except NotFound as error:
            raise _with_nearest(error, name, app) from None
    click.echo(json_text({"name": name, "id": job_id}) if as_json else job_id)


@command.command(examples=(("holdfast schedule remove nightly", "one that the code has stays away until `reset`"),))
@click.argument("name")
@url_option
@json_option
def remove(name: str, url: str | None, *, as_json: bool) -> None:
    """Let NAME make no more jobs, even if the code has it."""
    with opened(url) as app:
        now, schedule = app.desk.write(dated, verbs.remove, name, by=person())
    if as_json:
        click.echo(json_text(schedule.as_json(now), indent=2))
        return
    click.echo(f"schedule {clean(name)} is removed")
    if schedule.code is not None:
        note("the code has it: `holdfast schedule reset` brings it back")


@command.command(examples=(("holdfast schedule reset nightly", "forget what was changed at run time"),))
@click.argument("name")
@url_option
@json_option
def reset(name: str, url: str | None, *, as_json: bool) -> None:
    """Go back to what the code says of NAME: its times, its payload; not paused, not removed."""
    with opened(url) as app:
        now, schedule = app.desk.write(dated, verbs.reset, name, by=person())
    _tell(schedule, now, as_json=as_json)


def _with_nearest(error: NotFound, name: str, app: App) -> NotFound:
    near = nearest(name, [schedule.name for schedule in app.desk.read(verbs.schedules)])
    return NotFound(error.code, f"{error}; did you mean {clean(near)}?") if near else error


def _switch(verb: Any, name: str, url: str | None, *, as_json: bool) -> None:
    with opened(url) as app:
        now, (schedule, changed) = app.desk.write(dated, verb, name, by=person())
    if as_json:
        click.echo(json_text(schedule.as_json(now), indent=2))
        return
    click.echo(f"schedule {clean(name)} is {state(schedule).value}")
    if not changed:
        note("it was so before")


def _tell(schedule: Schedule, now: int, *, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(schedule.as_json(now), indent=2))
        return
    plan, shown = schedule.plan, schedule.as_json(now)
    options = ", ".join(f"{option} {value}" for option, value in shown["options"].items())
    following = [] if schedule.idle else [on_the_wall(at, plan.tz) for at in plan.upcoming(now)]
    fields: list[tuple[str, object]] = [
        ("name", schedule.name),
        ("when", plan.words()),
        ("cron", plan.cron),
        ("makes", f"{plan.type} ({options})"),
        ("state", _state_in_words(schedule)),
        ("from", f"{schedule.source}{', changed from what the code says' if shown['changed'] else ''}"),
        ("catch up", plan.catch_up),
        ("overlap", plan.overlap),
        ("ticks", f"{schedule.fired} fired, {schedule.skipped} skipped, {schedule.missed} missed"),
        ("note", schedule.note),
        ("last tick", "" if schedule.last_tick is None else f"{shown['last_tick']} ({age(schedule.last_tick, now)})"),
        ("last job", schedule.last_job),
        ("payload", Block(json_text(shown["payload"], indent=2)) if shown["payload"] else None),
        ("next", Block("\n".join(f"  {line}" for line in following)) if following else None),
    ]
    show_fields([(field, value) for field, value in fields if value not in (None, "")])


def _state_in_words(schedule: Schedule) -> str:
    if schedule.paused_at is not None and not schedule.removed:
        return f"paused by {schedule.paused_by} at {schedule.paused_at}"
    return str(state(schedule).value)
