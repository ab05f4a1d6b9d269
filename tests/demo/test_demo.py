"""The demo as a person meets it: how it begins, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast import App
from holdfast.engine.queues import pause, resume
from tests.patience import PATIENCE
from tests.servers.postgres import server

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "demo"]


def environment(folder: Path, port: str = "0", url: str = "") -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST")}
    return kept | {"HOLDFAST_URL": url or f"sqlite:///{folder}/demo.db", "HOLDFAST_DEMO_PORT": port}


def finished(folder: Path, port: str, url: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, "finish"], cwd=ROOT, env=environment(folder, port, url), capture_output=True, check=False, text=True,
        timeout=120,
    )  # fmt: skip


def commands_with(text: str) -> list[bytes]:
    """The command lines of this machine that hold a text."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            found.append(file.read_bytes())
    return [command for command in found if text.encode() in command]


@pytest.mark.parametrize("port", ["web", "-1", "70000", "", "8321 "])
def test_a_port_that_is_none_is_told(tmp_path, port):
    run = finished(tmp_path, port)
    assert run.returncode == 1
    assert "HOLDFAST_DEMO_PORT is a number from 0 to 65535" in run.stderr
    assert not (tmp_path / "demo.db").exists()


def test_a_database_without_tables_is_told_in_one_line(tmp_path):
    bare = server().database()
    try:
        run = finished(tmp_path, "0", bare)
    finally:
        server().drop(bare)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("error SCHEMA_MISSING: ")
    assert run.stderr.endswith("run `holdfast migrate` first\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_paused_queue_is_told_and_the_demo_goes_on_when_it_is_resumed(tmp_path):
    with App(environment(tmp_path)["HOLDFAST_URL"]) as app:
        app.desk.write(pause, "web", "test")
        app.desk.write(pause, "of others", "test")
        demo = subprocess.Popen(
            [*PROGRAM, "finish"], cwd=ROOT, env=environment(tmp_path), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert demo.stdout is not None
        told = next((line for line in demo.stdout if "paused" in line), "")
        app.desk.write(resume, "web")
        rest, _ = demo.communicate(timeout=PATIENCE)
    assert told == "nothing has ended for 5 s: queue web is paused; .venv/bin/holdfast queues resume web\n"
    assert "paused" not in rest
    assert demo.returncode == 0


@pytest.mark.slow
def test_a_port_that_is_taken_is_told_by_the_name_that_the_demo_has_for_it(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = finished(tmp_path, str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert run.stderr.startswith("error CANNOT_LISTEN: ")
    assert run.stderr.endswith("choose another with HOLDFAST_DEMO_PORT\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_demo_ends_when_its_worker_does(tmp_path):
    demo = subprocess.Popen(
        [*PROGRAM, "run"], cwd=ROOT, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert demo.stderr is not None
    assert any("http://127.0.0.1:" in line for line in demo.stderr)
    worker, *_ = Path(f"/proc/{demo.pid}/task/{demo.pid}/children").read_text().split()
    os.kill(int(worker), signal.SIGTERM)
    told, _ = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 1
    assert "the worker has ended with code 0: the demo ends, too" in told


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
    assert commands_with(f"{tmp_path}/demo.db") == [], "an address may hold a password, and everyone reads these"
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
