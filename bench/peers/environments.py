"""A virtual environment for each peer, made when first needed and kept in bench/.envs.

A peer that needs a newer Python than this one gets BENCH_PYTHON, or one that is found by name.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".envs"
NAMES = ("python3.12", "python3.13", "python3.14")


class NotInstalled(Exception):
    """The peer cannot be installed here; the message says why."""


def python_for(peer: str) -> str:
    """The interpreter of the peer's environment."""
    requirements = HERE / "requirements" / f"{peer}.txt"
    if not requirements.exists():
        return sys.executable
    text = requirements.read_text(encoding="utf-8")
    base = _base(text)
    mark = hashlib.sha256(f"{base}\n{text}".encode()).hexdigest()[:12]
    folder = ENVIRONMENTS / f"{peer}-{mark}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _install(base, folder, requirements)
        (folder / "ready").touch()
    return str(python)


def _install(base: str, folder: Path, requirements: Path) -> None:
    subprocess.run([base, "-m", "venv", str(folder)], check=True, capture_output=True)
    # Wheels alone: what must be compiled first would be measured with somebody else's flags, or not at all.
    command = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary",
        ":all:",
        "-r",
        requirements,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise NotInstalled(f"not installed: no wheel for this platform ({requirements.read_text().split()[0]})")


def _base(requirements: str) -> str:
    needed = re.search(r"# python>=(\d+)\.(\d+)", requirements)
    if needed is None:
        return sys.executable
    least = int(needed[1]), int(needed[2])
    for name in filter(None, (os.environ.get("BENCH_PYTHON"), sys.executable, *NAMES)):
        if _version(name) >= least:
            return name
    raise NotInstalled(f"needs Python {needed[1]}.{needed[2]}: set BENCH_PYTHON to one")


def _version(name: str) -> tuple[int, int]:
    say = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([name, "-c", say], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return 0, 0
    major, minor = done.stdout.split()
    return int(major), int(minor)
