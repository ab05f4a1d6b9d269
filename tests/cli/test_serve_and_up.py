"""The commands that serve the page: what they print, when they refuse, and how they end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from holdfast.http.address import LIBRARIES
from tests.cli.given import PROGRAM, clean_environment, process

APPLICATION = """
import holdfast

app = holdfast.App("sqlite:///jobs.db?synchronous=normal")


@app.job
def tick() -> None: ...
"""
WITHOUT_UVICORN = """
import sys
sys.modules["uvicorn"] = None
from holdfast.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and the address it printed."""
    server = subprocess.Popen(
        [*PROGRAM, *arguments], cwd=folder, env=clean_environment(), stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        for line in server.stderr:
            if found := re.search(r"http://\S+", line):
                yield server, found[0]
                break
        else:
            pytest.fail("it ended without an address")
    finally:
        if server.poll() is None:
            server.terminate()
        server.communicate(timeout=30)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_good_order(tmp_path, number):
    with serving(tmp_path, "serve", "--port", "0") as (server, _):
        server.send_signal(number)
        assert server.wait(20) == 0


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_address_is_printed_when_it_can_be_used(tmp_path, host):
    with serving(tmp_path, "serve", "--host", host, "--port", "0") as (_, address):
        name = f"[{host}]" if ":" in host else host
        found = re.fullmatch(rf"http://{re.escape(name)}:([1-9]\d+)/", address)
        assert found, address
        connection = HTTPConnection(host, int(found[1]), timeout=10)
        connection.request("GET", "/v1/health/live")
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.parametrize("arguments", [["serve"], ["up", "mine:app"]])
def test_a_port_that_is_taken_is_told_and_nothing_is_started(tmp_path, taken, arguments):
    (tmp_path / "mine.py").write_text(APPLICATION)
    answer = process(*arguments, "--port", str(taken), cwd=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"error CANNOT_LISTEN: port {taken} of 127.0.0.1: ")
    assert answer.err.endswith("choose another with --port\n")
    assert "http://" not in answer.err
    assert not (tmp_path / "jobs.db").exists()


@pytest.mark.parametrize("arguments", [["serve"], ["up", "mine:app"]])
def test_without_the_libraries_the_commands_say_what_to_install(tmp_path, arguments):
    (tmp_path / "mine.py").write_text(APPLICATION)
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_UVICORN, *arguments, "--port", "0"],
        cwd=tmp_path, env=clean_environment(), capture_output=True, check=False, text=True, timeout=30,
    )  # fmt: skip
    assert run.returncode == 2
    assert (
        'the HTTP door needs uvicorn: install the extra http, for example by pip install "/path/to/the/clone[http]"'
        in run.stderr
    )


def test_the_libraries_are_those_of_the_extra():
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    extra = tomllib.loads(project.read_text())["project"]["optional-dependencies"]["http"]
    assert {re.split(r"[^\w-]", name)[0].replace("-", "_") for name in extra} == set(LIBRARIES)


@pytest.mark.slow
def test_up_serves_its_page_and_ends_in_good_order(tmp_path):
    (tmp_path / "mine.py").write_text(APPLICATION)
    with serving(tmp_path, "up", "mine:app", "--port", "0") as (server, address):
        port = int(address.rstrip("/").rpartition(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/v1/health/ready")
        assert connection.getresponse().status == 200
        connection.close()
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


@pytest.mark.slow
def test_the_log_of_the_page_has_the_form_of_the_worker_s(tmp_path):
    (tmp_path / "mine.py").write_text(APPLICATION)
    started = subprocess.Popen(
        [*PROGRAM, "up", "mine:app", "--port", "0", "--log-level", "INFO"],
        cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stderr is not None
    told = []
    while not told or "(API" not in told[-1]:
        told.append(started.stderr.readline())
        assert told[-1], "it ended without an address"
    started.terminate()
    told += started.communicate(timeout=60)[1].splitlines()
    served = [line for line in told if "uvicorn" in line]
    assert served
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO uvicorn", line) for line in served)
    assert any(" (API described at /openapi.json, metrics at /metrics)" in line for line in told)
