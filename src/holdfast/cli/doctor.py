"""`holdfast doctor`."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast.app import App
from holdfast.cli import surroundings
from holdfast.cli.checks import Finding, house, signal
from holdfast.cli.ending import FAILED, colour
from holdfast.cli.opening import chosen_signal, chosen_url, file_of, json_option, url_option
from holdfast.cli.plain import clean
from holdfast.cli.render import show_list
from holdfast.cli.tree import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}


@click.command(
    cls=Command,
    examples=(
        ("holdfast doctor", "the first thing to try when something seems wrong"),
        (
            "holdfast doctor --json | jq '.[] | select(.level != \"ok\")'",
            "for monitoring; exit code 1 if something is bad",
        ),
    ),
)
@url_option
@json_option
def command(url: str | None, *, as_json: bool) -> None:
    """Check the store and its surroundings, and say what to do next.

    Looks at libraries, file, disk, clock, schema, leases, workers, dead letters and signals. Makes no file where
    there is none.
    """
    with _without_log():  # what it would say there stands in a finding
        findings = list(_findings(url))
    if as_json:
        show_list([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            _show(finding)
    if any(finding.level == "bad" for finding in findings):
        raise click.exceptions.Exit(FAILED)


def _findings(url: str | None) -> Iterator[Finding]:
    with App(chosen_url(url), signal=chosen_signal()) as app:
        path = file_of(app)
        yield from surroundings.versions("psycopg" if path is None else "apsw")
        if path is not None:
            yield from surroundings.library(app)
            yield from surroundings.place(path)
            if not surroundings.exists(path):
                return
        yield surroundings.clock()
        yield from house(app)
        yield from signal(app)


@contextmanager
def _without_log() -> Iterator[None]:
    log, nobody = logging.getLogger("holdfast"), logging.NullHandler()
    log.addHandler(nobody)
    try:
        yield
    finally:
        log.removeHandler(nobody)


def _show(finding: Finding) -> None:
    mark = click.style(f"{finding.level:<4}", fg=_COLOURS[finding.level], bold=finding.level != "ok")
    click.echo(f"{mark}  {finding.check:<13} {clean(finding.text)}", color=colour())
    if finding.advice:
        click.echo(f"{'':<20}-> {clean(finding.advice)}")
