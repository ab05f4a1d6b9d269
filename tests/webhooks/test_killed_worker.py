"""A worker that is killed in the middle of a delivery: another one delivers, under the same id."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import holdfast
from holdfast.webhooks import new_secret, verify
from tests.webhooks.receiver import OK, receiving

MODULE = """
import os
import holdfast

app = holdfast.App()
app.webhooks.allow(http=True, private=["127.0.0.1/32"], ports=[int(os.environ["PORT"])])
app.webhooks.add("here", f"http://127.0.0.1:{os.environ['PORT']}/", secrets=["env:HOOK_SECRET"], timeout=60)
"""


@contextmanager
def working(folder: Path, **environment: str):
    """`holdfast worker` in a process group of its own, killed at the end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST")}
    paths = os.pathsep.join([str(Path(holdfast.__file__).parents[1]), str(folder), kept.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", "worker", "hooks:app"],
        cwd=folder,
        env=kept | environment | {"PYTHONPATH": paths},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
def test_a_delivery_survives_the_death_of_its_worker(tmp_path):
    (tmp_path / "hooks.py").write_text(MODULE)
    secret, arrived = new_secret(), threading.Event()

    def never(connection: socket.socket) -> None:
        arrived.set()
        connection.recv(1)  # until the worker is dead

    with receiving(never, OK) as receiver, holdfast.App(f"sqlite:///{tmp_path}/jobs.db") as app:
        environment = {"PORT": str(receiver.port), "HOOK_SECRET": secret, "HOLDFAST_URL": app.url}
        app.webhooks.find(lambda _name, _tenant: None)
        handle = app.webhooks.deliver("here", "ping", {"n": 1})
        with working(tmp_path, **environment):
            assert arrived.wait(30)
        with working(tmp_path, **environment):
            result = handle.result(timeout=60)
        job = handle.job()

    assert (job.status, job.crashed, result["status"]) == ("completed", 1, 200)
    first, second = receiver.requests
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
    assert verify(second.body, second.headers, secrets=secret).id == result["id"]
