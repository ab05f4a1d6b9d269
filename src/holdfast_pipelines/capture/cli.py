"""`holdfast capture ...`: built for the command line of Holdfast, which hands in the shape of its command groups."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast_pipelines.capture import learnings
from holdfast_pipelines.capture.cli_uploads import build_uploads, json_option, where_it_goes
from holdfast_pipelines.capture.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 1


def build(family: Callable[..., click.Group]) -> click.Group:
    """The whole tree below `holdfast capture`."""
    group = family(
        "capture",
        help="Capture coding sessions, and find what they taught.\n\nLocal: no network call unless you switch one on.",
        examples=(
            ("holdfast capture install --user", "capture the sessions of all projects"),
            ("holdfast capture learnings search race condition", "find what was learned"),
        ),
    )
    for add in (_add_hook, _add_install, _add_uninstall, _add_doctor, _add_mcp, _add_sharing):
        add(group)
    group.add_command(_learnings(family))
    group.add_command(build_uploads(family, _asked))
    return group


def _for_user(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--user", is_flag=True, help="For all projects of the user, not for this one.")(function)


def _add_hook(group: click.Group) -> None:
    @group.command(
        "hook", examples=(("holdfast capture hook < event.json", "what Claude Code calls; `holdfast-hook` is quicker"),)
    )
    def hook() -> None:
        """Capture the event on standard input. Always ends well and prints nothing."""
        import os  # noqa: PLC0415

        from holdfast_pipelines.capture.hook import run  # noqa: PLC0415

        run(sys.stdin.buffer, os.environ)


def _add_install(group: click.Group) -> None:
    @group.command(
        "install",
        examples=(
            ("holdfast capture install", "capture the sessions of the project in this folder"),
            ("holdfast capture install --user --service", "of all projects, with a worker that starts at login"),
            ("holdfast capture install --user --mcp", "of all projects, and let sessions ask for learnings"),
        ),
    )
    @_for_user
    @click.option("--service", is_flag=True, help="Write a user service of systemd for the worker, too.")
    @click.option("--mcp", is_flag=True, help="Register the MCP server, which carries a worker, too.")
    @json_option
    def install(*, user: bool, service: bool, mcp: bool, as_json: bool) -> None:
        """Put the hook into Claude Code's settings, beside what is there."""
        from holdfast_pipelines.capture import install as installing  # noqa: PLC0415
        from holdfast_pipelines.capture.mcp import registration  # noqa: PLC0415

        where: dict[str, Any] = {"user": user, "folder": Path.cwd(), "home": Path.home()}
        path, servers = installing.settings_file(**where), registration.servers_file(**where)
        registering = mcp and registration.register(servers)
        changed = installing.install(path)
        unit = installing.write_service(Path.home()) if service else None
        if as_json:
            told = {"file": str(path), "changed": changed, "service": unit and str(unit)}
            click.echo(json.dumps(told | ({"mcp": {"file": str(servers), "changed": registering}} if mcp else {})))
            return
        click.echo(f"{'installed in' if changed else 'already in'} {path}")
        if mcp:
            click.echo(f"{'registered' if registering else 'already'} in {servers}: {registration.NAME}")
        if unit is not None:
            click.echo(f"wrote {unit}; start it with `systemctl --user enable --now {unit.name}`")


def _add_uninstall(group: click.Group) -> None:
    @group.command(
        "uninstall",
        examples=(
            ("holdfast capture uninstall --user", "hook, MCP server and service; what was captured stays"),
            ("holdfast capture uninstall --service", "of this project, and the user's service"),
        ),
    )
    @_for_user
    @click.option("--service", is_flag=True, help="Remove the user service, too; --user does so by itself.")
    @json_option
    def uninstall(*, user: bool, service: bool, as_json: bool) -> None:
        """Take out what `install` made: hook, MCP server and user service. What was captured stays."""
        from holdfast_pipelines.capture import install as installing  # noqa: PLC0415
        from holdfast_pipelines.capture.mcp import registration  # noqa: PLC0415

        where: dict[str, Any] = {"user": user, "folder": Path.cwd(), "home": Path.home()}
        path, servers = installing.settings_file(**where), registration.servers_file(**where)
        changed, unregistered = installing.uninstall(path), registration.unregister(servers)
        gone = installing.remove_service(Path.home()) if user or service else []
        if as_json:
            told = {"file": str(path), "changed": changed, "mcp": {"file": str(servers), "changed": unregistered}}
            click.echo(json.dumps(told | {"service": [str(one) for one in gone]}))
            return
        click.echo(_taken_out(path) if changed else f"not in {path}")
        if unregistered:
            click.echo(f"{_taken_out(servers)}: {registration.NAME}")
        for one in gone:
            click.echo(f"removed {one}")
        if gone:
            click.echo(f"a worker that runs ends with `systemctl --user stop {installing.UNIT}`")
        elif not (user or service) and installing.is_our_service(unit := installing.service_file(Path.home())):
            click.echo(f"left {unit}, which other projects may use: `holdfast capture uninstall --service` removes it")


def _taken_out(path: Path) -> str:
    return f"taken out of {path}" if path.exists() else f"removed {path}, which held nothing else"


def _add_doctor(group: click.Group) -> None:
    @group.command("doctor", examples=(("holdfast capture doctor", "the first thing to try when nothing is learned"),))
    @json_option
    def doctor(*, as_json: bool) -> None:
        """Say what is wrong with the capture, and what to do about it."""
        import os  # noqa: PLC0415

        from holdfast_pipelines.capture import doctor as examining  # noqa: PLC0415
        from holdfast_pipelines.capture.install import settings_file  # noqa: PLC0415
        from holdfast_pipelines.capture.mcp.registration import servers_file  # noqa: PLC0415

        files, servers = (
            list(dict.fromkeys(which(user=user, folder=Path.cwd(), home=Path.home()) for user in (True, False)))
            for which in (settings_file, servers_file)
        )
        found = list(examining.examine(Places(os.environ), files, servers, os.environ))
        if as_json:
            click.echo(json.dumps([{"level": level, "check": check, "text": text} for level, check, text in found]))
        else:
            for level, check, text in found:
                click.echo(f"{level:5}{check:10}{text}")
        if any(level == "bad" for level, *_ in found):
            raise click.exceptions.Exit(FAILED)


def _add_mcp(group: click.Group) -> None:
    @group.command(
        "mcp",
        examples=(
            ("holdfast capture mcp", "as `holdfast capture install --mcp` lets Claude Code start it"),
            ("holdfast capture mcp --http 127.0.0.1:8322", "for clients that speak HTTP"),
        ),
    )
    @click.option("--http", metavar="HOST:PORT", help="Serve over HTTP; the token stands in HOLDFAST_CAPTURE_TOKEN.")
    @click.option("--no-worker", is_flag=True, help="Carry no worker: another one learns from the sessions.")
    def mcp(*, http: str | None, no_worker: bool) -> None:
        """Answer what coding sessions ask, as an MCP server on standard input and output."""
        import os  # noqa: PLC0415

        from holdfast_pipelines.capture.mcp.serve import serve  # noqa: PLC0415

        serve(os.environ, http=http, worker=not no_worker)


def _add_sharing(group: click.Group) -> None:
    @group.command(
        "sharing",
        examples=(
            ("holdfast capture sharing", "whether it is on"),
            ("holdfast capture sharing on", "allow approved learnings to be shared"),
        ),
    )
    @click.argument("turn", type=click.Choice(["on", "off"]), required=False)
    @json_option
    def sharing(turn: str | None, *, as_json: bool) -> None:
        """Show, or set, whether learnings may be shared at all."""
        on = _asked(learnings.sharing, None if turn is None else turn == "on")
        click.echo(json.dumps({"sharing": on}) if as_json else f"sharing is {'on' if on else 'off'}")


def _learnings(family: Callable[..., click.Group]) -> click.Group:
    group = family(
        "learnings",
        help="Find learnings, look at one, and say whether it may be shared.",
        examples=(("holdfast capture learnings search guarded update", "the best matches"),),
    )

    @group.command("search", examples=(("holdfast capture learnings search race condition", "those with both words"),))
    @click.argument("words", nargs=-1, required=True)
    @click.option("--category", help="Of this category alone.")
    @click.option("--limit", type=click.IntRange(1, learnings.MOST), default=10, show_default=True, help="How many.")
    @json_option
    def search(words: tuple[str, ...], category: str | None, limit: int, *, as_json: bool) -> None:
        """Find learnings that hold all of the words, best first."""
        found = _asked(learnings.search, " ".join(words), category=category, limit=limit)
        if as_json:
            click.echo(json.dumps(found))
            return
        for one in found:
            click.echo(f"{one['id']}  {one['confidence']:.2f}  {one['category']:13}  {one['title']}")
        if not found:
            click.echo("nothing found")

    @group.command("show", examples=(("holdfast capture learnings show ID", "all of it"),))
    @click.argument("id")
    @json_option
    def show(id: str, *, as_json: bool) -> None:
        """Show one learning."""
        one = _asked(learnings.show, id)
        if as_json:
            click.echo(json.dumps(one))
            return
        click.echo(f"{one['title']}\n{one['category']}, confidence {one['confidence']:.2f}, {one['upload_status']}\n")
        click.echo(one["content"])

    for name, verb, sentence in (
        ("approve", learnings.approve, "Allow one learning to be shared; sharing must be on."),
        ("revoke", learnings.revoke, "Say that a learning is not to be shared any more; that is recorded."),
    ):
        _add_verdict(group, name, verb, sentence)
    return group


def _add_verdict(group: click.Group, name: str, verb: Callable[..., None], sentence: str) -> None:
    @group.command(name, help=sentence, examples=((f"holdfast capture learnings {name} ID", "by its id"),))
    @click.argument("id")
    @json_option
    def verdict(id: str, *, as_json: bool) -> None:
        _asked(verb, id)
        advice = where_it_goes() if name == "approve" else ""
        if as_json:
            click.echo(json.dumps({"id": id, "done": name} | ({"waits_for": advice} if advice else {})))
            return
        click.echo(f"{id}: {name}d" + (f"; {advice}" if advice else ""))


def _asked(verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    import os  # noqa: PLC0415

    from holdfast_pipelines.capture.opening import opened  # noqa: PLC0415

    places = Places(os.environ)
    Path(places.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    app = opened(places.url)
    try:
        return verb(app, *args, **kwargs)
    finally:
        app.close()
