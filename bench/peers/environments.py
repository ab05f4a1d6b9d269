"""A virtual environment for each peer, made when first needed and kept in bench/.envs.

All sides run on one interpreter, ours included: another version of Python would be measured along with the queue. It is
the first that is new enough for every peer: BENCH_PYTHON, this one, those on the path, those of pyenv.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = HERE.parent / ".envs"
OURS = {"ours": (), "ours_postgres": ("postgres",)}  # with which of our extras
LONGEST = 600  # seconds of one installation

Version = tuple[int, int]


class Environment(NamedTuple):
    """The interpreter of a side, or why there is none."""

    python: str
    fault: str = ""


class Interpreter(NamedTuple):
    path: str
    version: Version
    words: str  # its full version


def prepare(peers: list[str], told: Callable[[str], None]) -> tuple[dict[str, Environment], Interpreter]:
    """An environment for each peer, all on one interpreter. `told` hears of each before it is made."""
    # New enough for all peers, not only for these: two runs with other peers can then be compared.
    base = chosen([needed(file.stem) for file in (HERE / "requirements").glob("*.txt")])
    made = {}
    for peer in peers:
        told(f"environment of {peer}")
        made[peer] = _environment(peer, base)
    return made, base


def chosen(versions: list[Version]) -> Interpreter:
    """The first interpreter that is new enough for all; if none is, this one."""
    least = max(versions, default=(0, 0))
    wished = os.environ.get("BENCH_PYTHON")
    if wished and _asked(wished) is None:
        sys.exit(f"BENCH_PYTHON={wished} cannot be run: give the path of a Python")
    for name in candidates():
        found = _asked(name)
        if found is not None and found.version >= least:
            return found
    found = _asked(sys.executable)
    assert found is not None
    return found


def candidates() -> Iterator[str]:
    """Where an interpreter may be, the one that was asked for first."""
    yield from filter(None, [os.environ.get("BENCH_PYTHON")])
    yield sys.executable
    names = [f"python3.{minor}" for minor in range(11, 16)]
    yield from filter(None, map(shutil.which, names))
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in names:
        yield from map(str, sorted(versions.glob(f"*/bin/{name}")))


def needed(peer: str) -> Version:
    """The least version of Python that the peer says it needs."""
    found = re.search(r"# python>=(\d+)\.(\d+)", _text(peer))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def requirements(peer: str) -> list[str]:
    """What is installed for it: ours are the libraries of this environment, in the same versions."""
    if peer not in OURS:
        return [line.partition("#")[0].strip() for line in _text(peer).splitlines()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in OURS[peer]:
        lines += project["optional-dependencies"][extra]
    names = [re.split(r"[<>=~! ]", line)[0] for line in lines]
    return [f"{name}=={version(_name(name))}" for name in names]


def from_source(peer: str) -> list[str]:
    """What has no wheels anywhere, and may be compiled: nothing that a job's way leads through."""
    return re.findall(r"^([\w-]+)==.*# from source", _text(peer), re.MULTILINE)


def _environment(peer: str, base: Interpreter) -> Environment:
    if base.version < needed(peer):
        wanted = ".".join(map(str, needed(peer)))
        return Environment("", f"not installed: needs Python {wanted}; set BENCH_PYTHON to one")
    if peer in OURS and base.path == sys.executable:
        return Environment(sys.executable)
    wanted = requirements(peer)
    mark = hashlib.sha256(repr((base, wanted)).encode()).hexdigest()[:12]
    folder = ENVIRONMENTS / f"{peer}-{mark}"
    if (folder / "ready").exists():
        return Environment(str(folder / "bin" / "python"))
    fault = _installed(base, folder, wanted, from_source(peer))
    if fault:
        shutil.rmtree(folder, ignore_errors=True)
        return Environment("", f"not installed: {fault}")
    (folder / "ready").touch()
    return Environment(str(folder / "bin" / "python"))


def _installed(base: Interpreter, folder: Path, wanted: list[str], compiled: list[str]) -> str:
    """Why it could not be; empty if it was."""
    # Wheels alone: what must be compiled first would be measured with somebody else's flags, or not at all.
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    for name in compiled:
        options += ["--no-binary", name]
    python = str(folder / "bin" / "python")
    shutil.rmtree(folder, ignore_errors=True)
    for command in ([base.path, "-m", "venv", str(folder)], [python, "-m", "pip", "install", *options, *wanted]):
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONGEST)
        except (OSError, subprocess.TimeoutExpired) as error:
            return type(error).__name__
        if done.returncode:
            return _reason(done.stderr, wanted)
    return ""


def _reason(said: str, wanted: list[str]) -> str:
    missing = re.search(r"No matching distribution found for (\S+)", said)
    if missing and _name(missing[1]) == _name(wanted[0]):
        return f"no wheel of {wanted[0]} for this platform and Python"
    if missing:
        return f"no wheel of {missing[1]} for this platform and Python, and {wanted[0]} needs it"
    lines = [line for line in said.splitlines() if line.strip()]
    return (lines[-1] if lines else "the installer said nothing")[:120]


def _name(requirement: str) -> str:
    """Of the package alone."""
    return re.split(r"[<>=~! \[]", requirement)[0]


def _asked(name: str) -> Interpreter | None:
    say = "import sys; print(sys.executable, *sys.version_info[:2], sys.version.split()[0], sep='\\n')"
    try:
        done = subprocess.run([name, "-c", say], check=True, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    path, major, minor, words = done.stdout.splitlines()
    return Interpreter(path, (int(major), int(minor)), words)


def _text(peer: str) -> str:
    file = HERE / "requirements" / f"{peer}.txt"
    return file.read_text(encoding="utf-8") if file.exists() else ""
