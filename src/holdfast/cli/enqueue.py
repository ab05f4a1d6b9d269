"""`holdfast enqueue`."""

from __future__ import annotations

import sys

import click

from holdfast.cli.ending import note
from holdfast.cli.opening import json_option, opened, url_option
from holdfast.cli.plain import clean, json_text
from holdfast.cli.tree import Command
from holdfast.model.errors import BadInput, HoldfastError
from holdfast.model.payload import SIZE_LIMIT, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.app import App

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Seconds(click.ParamType[float]):
    """A duration: `90`, `90s`, `5m`, `2h`, `1d`; the engine gets seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        unit = _UNITS.get(text[-1:])
        try:
            return float(text if unit is None else text[:-1]) * (unit or 1)
        except ValueError:
            self.fail(f"{text[:50]!a} is no duration: write 90, 90s, 5m, 2h or 1d", param, ctx)


_TOLD = {
    "duplicate": "the key was taken: this is the job that has it",
    "replaced": "a job with this coalesce key was waiting: it has this payload now",
    "discarded": "a request with this number, or a newer one, is known: this is its job",
}


@click.command(
    cls=Command,
    surplus="""the payload goes into --payload '{"to": "a"}'""",
    examples=(
        (
            'holdfast enqueue thumbnail --queue images --payload \'{"path": "a.png"}\'',
            "a job to run as soon as a worker is free",
        ),
        ("holdfast enqueue report --delay 2h --key report-2025-01-16", "later, and only once"),
        ("holdfast enqueue index --coalesce-key doc-7 --debounce 2s", "the newest of several requests, once they stop"),
        ("make-payload | holdfast enqueue import --payload - --json", "a payload from standard input"),
    ),
)
@click.argument("type")
@click.option(
    "--payload",
    metavar="JSON",
    default="{}",
    help="The handler's arguments, an object; - reads them from standard input.",
)
@click.option("--priority", type=int, help="1 (first) to 10; 5 if not given.")
@click.option("--delay", type=Seconds(), metavar="DURATION", help="Run no earlier than this from now: 90, 5m, 2h.")
@click.option("--scheduled-at", metavar="TIME", help="Run no earlier than this: 2025-01-16T12:00:00Z.")
@click.option("--key", help="Idempotency key: a second enqueue with it answers with the first job.")
@click.option("--coalesce-key", help="Newest wins: a later enqueue with it takes the place of a job that waits.")
@click.option("--force", is_flag=True, default=None, help="Let a request in whose --sequence is known already.")
@click.option("--sequence", type=int, help="The request's number under its coalesce key: an older one is discarded.")
@click.option("--debounce", type=Seconds(), metavar="DURATION", help="Run this long after the last such enqueue.")
@click.option("--max-wait", type=Seconds(), metavar="DURATION", help="But no later than this after the first one.")
@click.option("--group", help="A key of yours for jobs that belong together.")
@click.option("--tenant", help="Whose job it is.")
@click.option("--depends-on", metavar="ID", multiple=True, help="Run after this job has completed; may be repeated.")
@click.option(
    "--on-parent", type=click.Choice(["cancel", "run"]), help="When such a job ends badly; cancel if not given."
)
@click.option("--limits", metavar="KEY", multiple=True, help="Count against this limit; may be repeated, up to four.")
@click.option("--queue", help="The queue it waits in; `default` if not given.")
@click.option("--max-attempts", type=int, help="The most runs, the first included; 3 if not given.")
@click.option("--timeout", type=Seconds(), metavar="DURATION", help="The longest one run may take.")
@click.option("--context", metavar="JSON", help="Who asks: user_id, user_role, correlation_id, trace_id, traceparent.")
@url_option
@json_option
def command(type: str, payload: str, context: str | None, url: str | None, *, as_json: bool, **options: Any) -> None:
    """Store a job of TYPE for a worker to run.

    Prints the job's id. The payload is checked against the handler before the run; a key that is taken by another
    request is refused.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value not in (None, ())}
    if context is not None:
        given["context"] = json_object("context", context)
    arguments = json_object("payload", from_stdin() if payload == "-" else payload)
    with opened(url, looking=False) as app:
        handle = app.enqueue(type, arguments, **given)
        if not as_json:
            click.echo(clean(handle.id))
            if handle.outcome in _TOLD:
                click.echo(_TOLD[handle.outcome], err=True)
        else:
            answer = {"id": handle.id, "status": handle.status().value, "created": handle.created}
            click.echo(json_text(answer | {"outcome": handle.outcome}))
        if handle.created:
            _warn(app, type, given)


def _warn(app: App, kind: str, given: dict[str, Any]) -> None:
    """Tell of what is most often a slip: a queue that nobody takes the type from, or a type that nobody knows."""
    from holdfast.cli.verbs import taken  # noqa: PLC0415  # after the id, which nobody should wait for

    try:
        lanes = app.desk.read(taken)
    except HoldfastError:
        return  # the job is stored, whether or not this role may see the workers
    queue = given.get("queue", "default")
    queues = sorted({name for name, known in lanes if known == kind})
    if not queues:
        _warn_of_unknown(kind, {known for _, known in lanes}, given)
    elif queue not in queues:
        advice = queues[0] if len(queues) == 1 else "with one of them"
        note(f"nobody takes {kind} from {queue}: its workers take it from {', '.join(queues)}; add --queue {advice}")


def _warn_of_unknown(kind: str, known: set[str], given: dict[str, Any]) -> None:
    """A handler's own queue and attempts are known where it is registered, and that is not here."""
    from holdfast.model.spelling import nearest  # noqa: PLC0415

    if known:
        near = nearest(kind, known)
        note(f"no live worker knows {kind}" + (f": was {near} meant?" if near else ""))
    assumed = {"queue": "queue default", "max_attempts": "3 attempts"}
    missing = [name for name in assumed if name not in given]
    if missing:
        what = " and ".join(assumed[name] for name in missing)
        options = " and ".join(f"--{name.replace('_', '-')}" for name in missing)
        says = "says" if len(missing) == 1 else "say"
        note(f"{kind} is not known here, so {what} were assumed: {options} {says} otherwise")


def json_object(what: str, text: str) -> dict[str, Any]:
    """An object from its JSON text."""
    value = decode(text, what=what)
    if not isinstance(value, dict):
        raise BadInput("PAYLOAD_INVALID", f'{what} must be a JSON object, such as {{"path": "a.png"}}')
    return value


def from_stdin() -> str:
    """All of standard input."""
    content = sys.stdin.buffer.read(SIZE_LIMIT + 1)  # a byte more than may be is enough to be refused
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BadInput("PAYLOAD_NOT_JSON", "the payload on standard input is not UTF-8 text") from None
