"""Puts the hook into Claude Code's settings, and takes it out again, without disturbing what else is there."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import holdfast
from holdfast_pipelines.capture import provider
from holdfast_pipelines.capture.events import EVENTS

FOLDER = ".claude"
LAUNCHER = Path(__file__).with_name("launch.py")
_MARKS = ("holdfast_pipelines/capture/launch.py", "holdfast-hook")
_TIMEOUT = 5  # seconds, after which Claude Code stops waiting
UNIT = "holdfast-capture.service"
_WORKER = "holdfast_pipelines.capture.work:app"
PLACES = ("HOLDFAST_CAPTURE_URL", "HOLDFAST_CAPTURE_FOLDER", "XDG_DATA_HOME")


def settings_file(*, user: bool, folder: Path, home: Path) -> Path:
    """Where the settings are: of the user, or of a project."""
    return (home if user else folder) / FOLDER / "settings.json"


def hook_command() -> str:
    """The interpreter by its full path: the hook is called in projects with environments of their own."""
    return shlex.join([sys.executable, "-I", "-S", str(LAUNCHER)])


def install(path: Path) -> bool:
    """Whether anything had to be changed."""
    settings = _read(path)
    before = json.dumps(settings)
    hooks = settings.setdefault("hooks", {})
    wanted = {"type": "command", "command": hook_command(), "timeout": _TIMEOUT}
    for event in EVENTS:
        groups = [group for group in (_without_ours(group) for group in hooks.get(event, [])) if group is not None]
        matcher = {"matcher": "*"} if event == "PostToolUse" else {}
        hooks[event] = [*groups, {**matcher, "hooks": [wanted]}]
    if json.dumps(settings) == before:
        return False
    write_whole(path, settings)
    return True


def uninstall(path: Path) -> bool:
    """Whether there was anything to take out."""
    if not path.exists():
        return False
    settings = _read(path)
    before = json.dumps(settings)
    hooks = settings.get("hooks", {})
    for event in list(hooks):
        groups = [group for group in (_without_ours(group) for group in hooks[event]) if group is not None]
        if groups != hooks[event]:
            hooks[event] = groups
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        settings.pop("hooks", None)
    if json.dumps(settings) == before:
        return False
    write_rest(path, settings)
    return True


def installed(path: Path) -> list[str]:
    """The commands of ours in a settings file."""
    if not path.exists():
        return []
    hooks = _read(path).get("hooks", {})
    return [
        hook["command"]
        for groups in hooks.values()
        for group in groups
        for hook in group.get("hooks", [])
        if _is_ours(hook)
    ]


def service_file(home: Path) -> Path:
    """Where the service of the user's worker is described."""
    return home / ".config" / "systemd" / "user" / UNIT


def remove_service(home: Path) -> list[Path]:
    """Take the service out, and the link that starts it at login; answers what is gone. Others' stay as they are."""
    unit = service_file(home)
    link = unit.parent / "default.target.wants" / UNIT
    if not is_our_service(unit):
        return []
    gone = [link, unit] if link.is_symlink() and link.resolve() == unit.resolve() else [unit]
    for path in gone:
        path.unlink()
    return gone


def is_our_service(unit: Path) -> bool:
    """Whether a file describes the worker as we do."""
    try:
        return any(_WORKER in line for line in unit.read_text(encoding="utf-8").splitlines() if line[:9] == "ExecStart")
    except (OSError, ValueError):
        return False


def write_service(home: Path) -> Path:
    """A user service of systemd for the worker; answers its file."""
    path = service_file(home)
    program = shlex.join([sys.executable, "-P", "-m", "holdfast.cli", "worker", _WORKER])
    places = {name: os.environ[name] for name in PLACES if os.environ.get(name)}
    kept = [f"Environment={name}={value}" for name, value in (places | provider.kept(os.environ)).items()]
    lines = [
        "[Unit]",
        "Description=Holdfast: learn from captured sessions",
        "",
        "[Service]",
        f"ExecStart={program}",
        *kept,
    ]
    lines += ["Restart=on-failure", "Nice=10", "", "[Install]", "WantedBy=default.target", ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _without_ours(group: Any) -> Any:
    """A group of hooks without ours; None if nothing is left of it."""
    if not isinstance(group, dict) or not any(_is_ours(hook) for hook in group.get("hooks", [])):
        return group
    rest = [hook for hook in group["hooks"] if not _is_ours(hook)]
    return {**group, "hooks": rest} if rest else None


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and any(mark in command for mark in _MARKS)


def _read(path: Path) -> dict[str, Any]:
    return read_object(path, "hooks")


def read_object(path: Path, part: str) -> dict[str, Any]:
    """The settings in a file, of which one part must be an object where it is there; none if there is no file."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict) or not isinstance(settings.get(part, {}), dict):
        raise holdfast.BadInput(
            "BAD_OPTION", f"{path} is not what Claude Code writes: mend it first; nothing was changed"
        )
    return settings


def write_rest(path: Path, settings: dict[str, Any]) -> None:
    """What is left when ours is out; where that is nothing, the file goes, and a folder that held it alone."""
    if settings or path.is_symlink():
        write_whole(path, settings)
        return
    path.unlink()
    if path.parent.name == FOLDER and not any(path.parent.iterdir()):
        path.parent.rmdir()


def write_whole(path: Path, settings: dict[str, Any]) -> None:
    """Whole or not at all; a link stays a link, and a file keeps its mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    temporary.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o777)
    temporary.replace(target)
