"""The demo as a person meets it: how it begins, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "demo"]


def environment(folder: Path, port: str = "0") -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST")}
    return kept | {"HOLDFAST_URL": f"sqlite:///{folder}/demo.db", "HOLDFAST_DEMO_PORT": port}


def finished(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, "finish"], cwd=ROOT, env=environment(folder, port), capture_output=True, check=False, text=True,
        timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("port", ["web", "-1", "70000", "", "8321 "])
def test_a_port_that_is_none_is_told(tmp_path, port):
    run = finished(tmp_path, port)
    assert run.returncode == 1
    assert "HOLDFAST_DEMO_PORT is a number from 0 to 65535" in run.stderr
    assert not (tmp_path / "demo.db").exists()


@pytest.mark.slow
def test_the_demo_ends_when_its_worker_does(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = finished(tmp_path, str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert "the worker has ended with code 1: the demo ends, too" in run.stdout
    assert "CANNOT_LISTEN" in run.stderr
    assert "HOLDFAST_DEMO_PORT" in run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_demo_in_good_order(tmp_path, number):
    demo = subprocess.Popen(
        [*PROGRAM, "run"],
        cwd=ROOT,
        env=environment(tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stderr is not None
    assert any("http://127.0.0.1:" in line for line in demo.stderr)
    demo.send_signal(number)
    _, rest = demo.communicate(timeout=60)
    assert demo.returncode == 0
    assert "Traceback" not in rest


@pytest.mark.slow
def test_the_next_session_finds_over_mcp_what_the_session_of_the_demo_taught(tmp_path):
    program = (
        "from demo.app import app; from demo.session import Question, tell; from holdfast.testing import drain;"
        "question = Question(app.url); question.start(); tell(app); drain(app); print(question.answer(60))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(tmp_path), capture_output=True, check=False, text=True,
        timeout=120,
    )  # fmt: skip
    assert "race" in run.stdout
    assert (run.returncode, run.stderr) == (0, "")
