"""Makes the server known to Claude Code, and takes it out again, without disturbing what else is there.

A project's servers stand in its `.mcp.json`, those of a user in `.claude.json` in the home folder.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast_pipelines.capture.install import PLACES, read_object, write_rest, write_whole

if TYPE_CHECKING:
    from pathlib import Path

NAME = "holdfast-learnings"
_PROGRAM = ["-m", "holdfast.cli", "capture", "mcp"]


def servers_file(*, user: bool, folder: Path, home: Path) -> Path:
    """Where the servers are listed: of the user, or of a project."""
    return home / ".claude.json" if user else folder / ".mcp.json"


def entry() -> dict[str, Any]:
    """How the server is started. `-P`: it stands in the project's folder, whose modules are none of ours."""
    kept = {name: os.environ[name] for name in PLACES if os.environ.get(name)}
    return {"type": "stdio", "command": sys.executable, "args": ["-P", *_PROGRAM], "env": kept}


def register(path: Path) -> bool:
    """Whether anything had to be changed."""
    if find_spec("mcp") is None:
        raise holdfast.BadInput(
            "BAD_OPTION",
            'mcp is not installed: install the extra mcp, for example by pip install "/path/to/the/clone[mcp]"',
        )
    settings = _read(path)
    servers = settings.setdefault("mcpServers", {})
    if NAME in servers and not is_ours(servers[NAME]):
        raise holdfast.Conflict(
            "WRONG_STATUS", f"{path} names another server {NAME}: rename it first; nothing was changed"
        )
    if servers.get(NAME) == entry():
        return False
    servers[NAME] = entry()
    write_whole(path, settings)
    return True


def unregister(path: Path) -> bool:
    """Whether there was anything to take out."""
    if not path.exists():
        return False
    settings = _read(path)
    servers = settings.get("mcpServers", {})
    ours = [name for name, server in servers.items() if is_ours(server)]
    for name in ours:
        del servers[name]
    if not ours:
        return False
    if not servers:
        del settings["mcpServers"]
    write_rest(path, settings)
    return True


def registered(path: Path) -> list[str]:
    """The interpreters that ours are started with."""
    servers = _read(path).get("mcpServers", {}) if path.exists() else {}
    return [str(server.get("command")) for server in servers.values() if is_ours(server)]


def is_ours(server: Any) -> bool:
    """Whether an entry starts this server, with whichever interpreter and options."""
    arguments = server.get("args") if isinstance(server, dict) else None
    if not isinstance(arguments, list):
        return False
    return any(arguments[at : at + len(_PROGRAM)] == _PROGRAM for at in range(len(arguments)))


def _read(path: Path) -> dict[str, Any]:
    return read_object(path, "mcpServers")
