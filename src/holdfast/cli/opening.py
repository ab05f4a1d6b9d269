"""From the options of a command to an open application."""

from __future__ import annotations

import os
from contextlib import contextmanager

import click

from holdfast.app import App
from holdfast.cli.ending import note
from holdfast.model.errors import NotFound, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Function = Callable[..., Any]


def url_option(function: Function) -> Function:
    """`--url`, on every command that needs a store."""
    text = "The store; else HOLDFAST_URL, else the nearest holdfast.toml or [tool.holdfast], else ./holdfast.db."
    return click.option("--url", metavar="URL", help=text)(function)


def signal_required_option(function: Function) -> Function:
    """`--require-signal`, on every command that serves."""
    text = "Be ready (/v1/health/ready) only while signals between processes get through."
    return click.option("--require-signal", is_flag=True, help=text)(function)


def json_option(function: Function) -> Function:
    """`--json`, on every command that shows something."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def report_option(function: Function) -> Function:
    """`--json FILE`, on every command that proves something."""
    return click.option(
        "--json", "report_file", metavar="FILE", type=click.Path(dir_okay=False, writable=True),
        callback=_in_a_folder, help="Write the report as JSON; - for standard output.",
    )(function)  # fmt: skip


def flagged_url(flag: str | None) -> str | None:
    """The address of the flag, whichever side of the command it stands on."""
    context = click.get_current_context(silent=True)
    while context is not None and not flag:
        flag = context.params.get("url")
        context = context.parent
    return flag


def chosen_url(flag: str | None) -> str | None:
    """The store's address: flag, then environment, then file; None leaves the default."""
    given = flagged_url(flag) or os.environ.get("HOLDFAST_URL")
    if given:
        return given
    from holdfast.settings_file import settings_near  # noqa: PLC0415  # not needed where the address was given

    url: str | None = settings_near(os.getcwd()).get("url")  # noqa: PTH109
    return url


def chosen_signal() -> str | None:
    """How processes wake each other by the settings file; None where the environment says so, or nobody does."""
    if os.environ.get("HOLDFAST_SIGNAL"):
        return None
    from holdfast.settings_file import settings_near  # noqa: PLC0415

    signal: str | None = settings_near(os.getcwd()).get("signal")  # noqa: PTH109
    return signal


@contextmanager
def opened(flag: str | None, *, looking: bool = True) -> Iterator[App]:
    """The application at the chosen address. Who only looks makes nothing where there is nothing to look at; who acts
    is told of the file that this makes, which may not be the one that was meant.
    """
    app = App(chosen_url(flag), signal=chosen_signal())
    try:
        path = file_of(app)
        if looking:
            _check_there(app)
        new = path is not None and not os.path.exists(path)  # noqa: PTH110
        yield app
        if new and os.path.exists(str(path)):  # noqa: PTH110
            note(f"a new database was made: {path}")
    except NotFound as error:  # most often it was looked for in the wrong place
        raise NotFound(error.code, f"{error} (looked in {shown_url(app)})") from error
    finally:
        app.close()


def _check_there(app: App) -> None:
    path = file_of(app)
    if path is None:
        return
    advice = "`holdfast migrate` makes one, and so does the first enqueue; another store: --url"
    folder = os.path.dirname(path) or "."  # noqa: PTH120
    if not os.path.isdir(folder):  # noqa: PTH112
        raise StoreError("STORE_MISSING", f"there is no folder {folder}: make it first, or name another store by --url")
    if not os.path.exists(path):  # noqa: PTH110
        raise StoreError("STORE_MISSING", f"there is no database at {path}: {advice}")
    from holdfast.store.sqlite.schema import has_schema  # noqa: PLC0415

    if not has_schema(app.desk.store.location):  # type: ignore[attr-defined]
        raise StoreError(
            "SCHEMA_MISSING", f"{path} has no tables of Holdfast: `holdfast migrate` makes them; another store: --url"
        )


def file_of(app: App) -> str | None:
    """The file of a store that is one."""
    location: Any = getattr(app.desk.store, "location", None)
    return str(location.path) if app.desk.store.url.startswith("sqlite:") else None


def shown_url(app: App) -> str:
    """The address of the store for people: without user, password and settings, of which one may be a password, too."""
    location: Any = app.desk.store.location  # type: ignore[attr-defined]
    path = file_of(app)
    return location.shown if path is None else f"sqlite:///{path}"


def person() -> str:
    """Who acts, for the history of a job."""
    import pwd  # noqa: PLC0415

    try:
        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:  # a container may run under a number that has no name
        return f"cli:{os.getuid()}"


def _in_a_folder(_: click.Context, parameter: click.Parameter, file: str | None) -> str | None:
    """Said before the work, not after it."""
    folder = os.path.dirname(os.path.abspath(file or "-"))  # noqa: PTH100, PTH120
    if not os.path.isdir(folder):  # noqa: PTH112
        raise click.BadParameter(f"the folder {folder} does not exist: make it first", param=parameter)
    return file
