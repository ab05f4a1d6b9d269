"""How Claude Code learns of the server: beside what is there, out again without a trace, and safe in any project."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

import holdfast
from holdfast_pipelines.capture.mcp import registration
from tests.patience import wait_for
from tests.pipelines.capture.asker import Asker, environment_of
from tests.pipelines.capture.test_install import cli

THEIRS = {"other": 1, "mcpServers": {"files": {"command": "npx", "args": ["files"]}}}


def test_the_server_comes_beside_what_is_there_and_goes_without_a_trace(tmp_path):
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps(THEIRS))
    path.chmod(0o640)
    assert registration.register(path)
    settings = json.loads(path.read_text())
    assert settings["mcpServers"].pop(registration.NAME)["command"] == sys.executable
    assert settings == THEIRS
    assert path.stat().st_mode & 0o777 == 0o640
    assert not registration.register(path)
    assert registration.unregister(path)
    assert json.loads(path.read_text()) == THEIRS
    assert not registration.unregister(path)


def test_a_new_interpreter_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / ".mcp.json"
    registration.register(path)
    path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))
    assert registration.registered(path) == ["/nowhere/python"]
    assert registration.register(path)
    assert registration.registered(path) == [sys.executable]


@pytest.mark.parametrize("text", ["{half", "[]", '{"mcpServers": []}'])
def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path, text):
    path = tmp_path / ".mcp.json"
    path.write_text(text)
    for verb in (registration.register, registration.unregister):
        with pytest.raises(holdfast.BadInput, match="nothing was changed"):
            verb(path)
    assert path.read_text() == text


def test_another_server_of_that_name_is_left_alone(tmp_path):
    path = tmp_path / ".mcp.json"
    path.write_text(text := json.dumps({"mcpServers": {registration.NAME: {"command": "somebody", "args": ["else"]}}}))
    with pytest.raises(holdfast.Conflict, match="rename it first"):
        registration.register(path)
    assert not registration.unregister(path)
    assert path.read_text() == text


@pytest.mark.parametrize("scope", ["project", "user"])
def test_install_registers_it_and_uninstall_takes_it_out(home, scope):
    user = ["--user"] if scope == "user" else []
    path = Path(home.environment["HOME"]) / ".claude.json" if user else home.project / ".mcp.json"
    told = json.loads(cli(home, "install", "--mcp", "--json", *user).stdout)
    assert told["mcp"] == {"file": str(path), "changed": True}
    entry = json.loads(path.read_text())["mcpServers"][registration.NAME]
    assert entry["env"] == {"HOLDFAST_CAPTURE_FOLDER": str(home.folder)}
    assert "already in" in cli(home, "install", "--mcp", *user).stdout
    told = cli(home, "uninstall", *user).stdout
    assert f"removed {path}, which held nothing else: {registration.NAME}" in told
    assert not path.exists()


def test_without_being_asked_install_registers_nothing(home):
    assert "mcp" not in json.loads(cli(home, "install", "--json").stdout)
    assert not (home.project / ".mcp.json").exists()


def test_the_doctor_tells_of_a_server_whose_interpreter_is_gone(home):
    cli(home, "install", "--mcp")
    assert "registered in" in cli(home, "doctor").stdout
    path = home.project / ".mcp.json"
    path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))
    told = cli(home, "doctor")
    assert told.returncode == 1
    assert "names an interpreter that is gone: `holdfast capture install --mcp` again" in told.stdout


@pytest.mark.slow
def test_what_is_registered_works_in_a_project_that_means_harm(home):
    cli(home, "install", "--mcp")
    harm = home.project / "harm"
    for name in ("json", "click", "mcp", "apsw", "holdfast"):
        (home.project / f"{name}.py").write_text(f"open({str(harm)!r}, 'w').close()\n")
    (home.project / "holdfast.toml").write_text('url = "sqlite:////nowhere/else.db"\n')
    entry = json.loads((home.project / ".mcp.json").read_text())["mcpServers"][registration.NAME]
    home.event("UserPromptSubmit", prompt="hello")
    del entry["type"]
    environment = {**entry.pop("env"), "PYTHONPATH": environment_of(home)["PYTHONPATH"]}
    server = stdio_client(StdioServerParameters(**entry, env=environment, cwd=home.project))
    with Asker(home, transport=server) as asker:
        assert asker.data("search_learnings", query="x")["results"] == []
        wait_for(lambda: home.rows("select ai_validated from messages") == [(1,)] or harm.exists(), "the worker works")
    assert not harm.exists()


@pytest.mark.parametrize("command", [["capture", "mcp"], ["capture", "install", "--mcp"]])
def test_without_the_extra_it_says_what_to_install(home, command):
    program = f"import sys; sys.modules['mcp'] = None; from holdfast.cli import main; sys.exit(main({command}))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment_of(home), cwd=home.project, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        'mcp is not installed: install the extra mcp, for example by pip install "/path/to/the/clone[mcp]"'
        in done.stderr
    )
    assert list(home.project.iterdir()) == []
