"""Find and read the settings file: the nearest `holdfast.toml`, or `[tool.holdfast]` in a `pyproject.toml`."""

# pathlib would cost every enqueue milliseconds:
# ruff: noqa: PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import os

from holdfast.model.errors import BadInput
from holdfast.model.settings import check_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SCHEME = "sqlite:///"


def settings_near(folder: str) -> dict[str, Any]:
    """The settings of the nearest file, from a folder upwards; nothing where there is none."""
    while True:
        for name, read in (("holdfast.toml", _own_file), ("pyproject.toml", _project_file)):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (table := read(path)) is not None:
                return _placed(check_settings(table, path), folder)
        above = os.path.dirname(folder)
        if above == folder:
            return {}
        folder = above


def _own_file(path: str) -> Any:
    return _parsed(path, _content(path))


def _project_file(path: str) -> Any:
    content = _content(path)
    if b"holdfast" not in content:  # most projects' files: not worth a parser
        return None
    tool = _parsed(path, content).get("tool", {})
    return tool.get("holdfast") if isinstance(tool, dict) else None


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BadInput("BAD_OPTION", f"{path} cannot be read: {error.strerror}") from None


def _parsed(path: str, content: bytes) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  # only where there is a file

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:  # bad TOML, or not UTF-8
        raise BadInput("BAD_OPTION", f"{path} is not TOML: {error}") from None


def _placed(settings: dict[str, Any], folder: str) -> dict[str, Any]:
    """A relative path is the file's, not the caller's: one project has one store, from whatever folder it is used."""
    url = settings.get("url", "")
    if not url.startswith(_SCHEME) or url.startswith(_SCHEME + "/"):
        return settings
    return settings | {"url": _SCHEME + os.path.join(folder, url.removeprefix(_SCHEME))}
