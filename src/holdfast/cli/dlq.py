"""`holdfast dlq`: dead letters."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import verbs
from holdfast.cli.ending import FAILED, note
from holdfast.cli.opening import json_option, opened, person, url_option
from holdfast.cli.plain import clean, count, json_text, many
from holdfast.cli.render import JOB_COLUMNS, job_row, show_list, show_table
from holdfast.cli.tree import Family
from holdfast.engine import jobs
from holdfast.engine.figures import CAP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.app import App


@click.group(
    cls=Family,
    examples=(
        ("holdfast dlq list", "what waits for a person"),
        ("holdfast dlq retry --type thumbnail", "the cause is mended: send them round again"),
    ),
)
def command() -> None:
    """Deal with dead letters: jobs that used up their attempts."""


def status_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--status`: jobs that were given up at once are no dead letters, and are mended in the same way."""
    return click.option(
        "--status", type=click.Choice(["dead_letter", "failed"]), default="dead_letter", show_default=True,
        help="Dead letters, or jobs that failed without using up their attempts.",
    )(function)  # fmt: skip


@command.command("list", examples=(("holdfast dlq list --type thumbnail --json", "for programs"),))
@status_option
@click.option("--type", help="Only jobs of this type.")
@click.option("--tenant", help="Only jobs of this tenant.")
@click.option(
    "--limit", type=click.IntRange(1, jobs.MOST_LISTED), default=20, show_default=True, help="At most so many."
)
@click.option("--before", metavar="ID", help="Go on below this job: the older ones.")
@url_option
@json_option
def list_dead(url: str | None, limit: int, *, as_json: bool, **where: str | None) -> None:
    """List dead letters, newest first, with the error of the last run."""
    with opened(url) as app:
        now, found = app.desk.read(verbs.dated, jobs.dead_letters, limit=limit, **where)
    if as_json:
        show_list([job.as_json() for job in found])
        return
    show_table(JOB_COLUMNS, [job_row(job, now) for job in found], empty=_none(where))
    if len(found) == limit:
        note(f"more: --before {found[-1].id}")


@command.command(
    examples=(
        ("holdfast dlq retry ID", "one job"),
        ("holdfast dlq retry --type thumbnail", "every dead letter of a type"),
        ("holdfast dlq retry --all", "every dead letter"),
        ("holdfast dlq retry --status failed --type thumbnail", "those that failed without using up their attempts"),
    )
)
@click.argument("job_id", metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Every dead letter.")
@click.option("--type", help="Every dead letter of this type.")
@click.option("--tenant", help="Only jobs of this tenant.")
@status_option
@url_option
@json_option
def retry(job_id: str | None, url: str | None, *, every: bool, as_json: bool, **where: Any) -> None:
    """Send dead letters round again, their counters at zero: one by ID, those of a type, or all."""
    if sum((job_id is not None, every, where["type"] is not None)) != 1:
        raise click.UsageError("say which: an ID, or --type TYPE, or --all")
    failed = 0
    with opened(url) as app:
        if job_id is not None:
            app.desk.write(jobs.retry, job_id, tenant=where["tenant"], actor=person())
            done = 1
        else:
            done = _page_by_page(app, verbs.retry_page, "retrying", actor=person(), **where)
            if not done and where["status"] == "dead_letter":
                failed = len(app.desk.read(jobs.dead_letters, limit=verbs.PAGE, **where | {"status": "failed"}))
    click.echo(json_text({"retried": done}) if as_json else f"{count(done)} sent round again")
    if failed:
        are, them = ("is", "it") if failed == 1 else ("are", "them")
        told = count(failed, verbs.PAGE)
        note(f"{told} {are} failed, which is no dead letter: add --status failed to retry {them}")


@command.command(
    examples=(
        ("holdfast dlq purge --type thumbnail", "delete the dead letters of a type; asks first"),
        ("holdfast dlq purge --all --yes", "delete all of them, unasked"),
    )
)
@click.argument("job_id", metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Every dead letter.")
@click.option("--type", help="Every dead letter of this type.")
@click.option("--tenant", help="Only jobs of this tenant.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@url_option
@json_option
def purge(
    job_id: str | None, type: str | None, tenant: str | None, url: str | None, *, every: bool, yes: bool, as_json: bool
) -> None:
    """Delete dead letters for good: one by ID, those of a type, or all. Asks for confirmation.

    `holdfast audit` tells afterwards who deleted which.
    """
    if sum((job_id is not None, every, type is not None)) != 1:
        raise click.UsageError("say which: an ID, or --type TYPE, or --all")
    with opened(url) as app:
        if job_id is None and not app.desk.read(jobs.dead_letters, limit=1, type=type, tenant=tenant):
            click.echo(json_text({"purged": 0}) if as_json else "nothing to purge")
            return
        if not yes and not _confirmed(app, job_id, type, tenant):
            note("nothing was deleted; --yes answers without being asked")
            raise click.exceptions.Exit(FAILED)
        if job_id is not None:
            app.desk.write(verbs.purge_dead_letter, job_id, tenant, actor=person())
            done = 1
        else:
            done = _page_by_page(app, verbs.purge_page, "deleting", actor=person(), type=type, tenant=tenant)
    click.echo(json_text({"purged": done}) if as_json else f"{count(done)} deleted")


def _none(where: dict[str, str | None]) -> str:
    failed = where["status"] == "failed"
    given = [f"--{name}" for name, value in where.items() if value is not None and name != "status"]
    if given:
        return f"no {'failed job' if failed else 'dead letter'} matches {' '.join(given)}"
    return "no failed jobs" if failed else "no dead letters"


def _confirmed(app: App, job_id: str | None, kind: str | None, tenant: str | None) -> bool:
    if job_id is not None:
        what = f"job {clean(job_id)}"
    else:
        letters = many(app.desk.read(verbs.dead_count, CAP, kind), "dead letter", CAP)
        what = f"{'up to ' if tenant else ''}{letters}" + (f" of type {clean(kind)}" if kind else "")
    click.echo(f"Delete {what} for good? [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _page_by_page(app: App, verb: Callable[..., verbs.Page], label: str, **where: Any) -> int:
    """Work through every page, each in a commit of its own, so that workers get their turn in between."""
    done, before, more = 0, None, True
    with _progress(app, label, where) as advance:
        while more:
            page = app.desk.write(verb, before, **where)
            done, before, more = done + page.done, page.before, page.before is not None
            advance(page.done)
    return done


@contextmanager
def _progress(app: App, label: str, where: dict[str, Any]) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, beside the output; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True, markup=False), transient=True) as bar:
        work = bar.add_task(
            label, total=app.desk.read(verbs.dead_count, CAP, where["type"], where.get("status", "dead_letter"))
        )
        yield lambda steps: bar.advance(work, steps)
