"""What can be set from outside, and what a settings file may hold. Pure: files and environment are a door's to read."""

from __future__ import annotations

from holdfast.model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# name -> one sentence; the reference page is made from it.
SETTINGS: dict[str, str] = {
    "url": (
        "The store: `sqlite:///jobs.db`, with four slashes for an absolute path. Flag `--url`, environment "
        "`HOLDFAST_URL`; in a file, a relative path begins at the file's folder. Default: `sqlite:///holdfast.db`."
    ),
    "signal": (
        "How processes wake each other: `store`, `off`, `redis://host/0` or `amqp://user:password@host`. Environment "
        "`HOLDFAST_SIGNAL`; an application that names one by `App(signal=...)` keeps it. Default: `store`."
    ),
}

# What stands before a signal's first colon.
SIGNALS = ("store", "off", "postgresql", "postgres", "redis", "rediss", "amqp", "amqps")
_KINDS: dict[str, tuple[type, str]] = {"url": (str, "text"), "signal": (str, "text")}


def check_settings(table: object, where: str) -> dict[str, object]:
    """The settings of a file, each known and of its kind. `where` names the file in the error."""
    if not isinstance(table, dict):
        raise BadInput("BAD_OPTION", f"{where}: the settings must be a table, not {_kind_of(table)}")
    for name, value in table.items():
        _check(name, value, where)
    return table


def _check(name: str, value: object, where: str) -> None:
    if name not in SETTINGS:
        raise BadInput(
            "BAD_OPTION", f"{where}: unknown setting {name[:50]!a}; there are: {', '.join(sorted(SETTINGS))}"
        )
    kind, wanted = _KINDS[name]
    if type(value) is not kind:
        raise BadInput("BAD_OPTION", f"{where}: {name} must be {wanted}, not {_kind_of(value)}")
    if not value:
        raise BadInput("BAD_OPTION", f"{where}: {name} is empty: give a value, or leave the line out")
    if name == "signal":
        check_signal(str(value), f"{where}: ")


def check_signal(value: str, where: str = "") -> str:
    """What stands before the first colon of a signal that exists. The rest may be a secret: it is not repeated."""
    scheme = value.partition(":")[0]
    if scheme not in SIGNALS:
        raise BadInput(
            "BAD_OPTION",
            f"{where}no signal speaks {scheme[:30]!a}: write store, off, "
            "postgresql://host/database, redis://host/0 or amqp://user:password@host",
        )
    return scheme


def _kind_of(value: object) -> str:
    names: Mapping[type, str] = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "a table" if isinstance(value, dict) else type(value).__name__)
