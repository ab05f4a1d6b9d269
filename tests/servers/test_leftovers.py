"""What a machine that went away left of the tests' own servers does not stand in the way of the next run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.servers.postgres import OwnServer

LEAVE = "import pathlib, sys, time; from tests.servers.postgres import FAST, OwnServer; "
LEAVE += "server = OwnServer(FAST, pathlib.Path(sys.argv[1])); print(server.folder, flush=True); time.sleep(600)"


pytestmark = pytest.mark.slow


@pytest.fixture
def base():
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)  # the server's own user passes through
        yield Path(folder)


def test_a_server_that_died_with_its_process_is_swept(base):
    process = subprocess.Popen([sys.executable, "-c", LEAVE, str(base)], stdout=subprocess.PIPE, text=True)
    left = Path(process.stdout.readline().strip())
    postmaster = int((left / "data" / "postmaster.pid").read_text().split()[0])
    process.kill()
    process.communicate()
    os.kill(postmaster, signal.SIGKILL)
    while Path(f"/proc/{postmaster}").exists():
        time.sleep(0.01)
    fresh = OwnServer(base=base)
    try:
        assert not left.exists()
        assert fresh.database()
    finally:
        fresh.remove(os.getpid())
