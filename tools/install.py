"""Install a locked list of packages, and this package, into the virtual environment of the Python that runs this.

python tools/install.py requirements/run.txt "about 120 MB"

It says what is about to happen, how far it is (on a terminal) and how long it took. If pip fails, it says all that pip
said. Needs nothing but pip: it runs before anything else is there.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
OURS = ["--no-deps", "--no-build-isolation", "-e", str(Path(__file__).resolve().parent.parent)]
ERASE = "\r\x1b[K"


def main(arguments: list[str]) -> int:
    """Install, and tell about it."""
    if len(arguments) != 2:  # noqa: PLR2004
        print(__doc__, file=sys.stderr)
        return 2
    lock, size = arguments
    packages = count(Path(lock).read_text(encoding="utf-8").splitlines())
    print(f"Installing {packages} packages into {sys.prefix}, {size}. This is done once.", flush=True)
    began = time.monotonic()
    code = install(["--require-hashes", "-r", lock], packages) or install(OURS, 0)
    if code == 0:
        print(f"Installed in {time.monotonic() - began:.0f} s.", flush=True)
    return code


def install(what: list[str], packages: int) -> int:
    """Run pip; its exit code."""
    pip = subprocess.Popen([*PIP, *what], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
    assert pip.stdout is not None, "it was asked for"
    said: list[str] = []
    for told in progress(keep(pip.stdout, said), packages):
        if sys.stdout.isatty():
            print(f"{ERASE}  {told}", end="", flush=True)
    if sys.stdout.isatty():
        print(ERASE, end="", flush=True)
    if pip.wait() != 0:
        print("".join(said), file=sys.stderr)
        print("Nothing can run before this is installed: see pip's words above. Is there a network?", file=sys.stderr)
    return pip.returncode


def count(lock: Iterable[str]) -> int:
    """How many packages a lock file names."""
    return sum(1 for line in lock if line[:1].isalnum() and "==" in line)


def keep(lines: Iterable[str], said: list[str]) -> Iterator[str]:
    """The same lines, remembered."""
    for line in lines:
        said.append(line)
        yield line


def progress(lines: Iterable[str], packages: int) -> Iterator[str]:
    """What pip does, one step after the other: `17 of 49: click`."""
    seen = 0
    for line in lines:
        words = line.split()
        if line.startswith("Ignoring "):  # it is for another system
            packages -= 1
        elif line.startswith(("Collecting ", "Requirement already satisfied: ")) and packages:
            seen += 1
            name = words[1 if words[0] == "Collecting" else 3].partition("==")[0]
            yield f"{min(seen, packages)} of {packages}: {name}"
        elif line.startswith("Installing collected packages"):
            yield "unpacking"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted: the same command goes on where this left off.")
