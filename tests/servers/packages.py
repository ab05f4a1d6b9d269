"""Servers of the distribution: found, or installed where that is allowed, or asked for."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path


def program(name: str, *, package: str, setting: str = "", also: str = "/usr/sbin") -> str:
    """The path of a server's program; it is installed if need be."""
    return _found(name, also) or _installed(name, package, setting, also)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _found(name: str, also: str) -> str | None:
    return shutil.which(name) or (str(Path(also) / name) if (Path(also) / name).exists() else None)


def _installed(name: str, package: str, setting: str, also: str) -> str:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        running = f", or name a running one in {setting}," if setting else ""
        raise SystemExit(
            f"No {name} was found. Install it (Debian, Ubuntu: sudo apt-get install {package}){running} and try again."
        )
    print(f"No {name} was found: about to install the package {package} with apt-get", file=sys.stderr)  # noqa: T201
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", package]
    if subprocess.run(install, env=quiet, stdout=sys.stderr, check=False).returncode:
        subprocess.run(["apt-get", "update"], env=quiet, stdout=sys.stderr, check=True)
        subprocess.run(install, env=quiet, stdout=sys.stderr, check=True)
    found = _found(name, also)
    assert found is not None, f"{package} was installed, but {name} was not found"
    return found
