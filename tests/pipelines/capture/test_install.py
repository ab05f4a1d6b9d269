"""The command line of the pipeline: what it puts into the settings of Claude Code, and what it says is wrong."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast_pipelines.capture import install
from tests.pipelines.capture.hooks import Home

THEIRS = {
    "model": "x",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
    },
}


def cli(home: Home, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = home.environment | {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli", "capture", *arguments],
        cwd=home.project, env=environment, input=stdin, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_the_hook_comes_beside_what_is_there_and_goes_without_a_trace(tmp_path):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps(THEIRS))
    path.chmod(0o640)
    assert install.install(path)
    settings = json.loads(path.read_text())
    assert settings["model"] == "x"
    assert settings["hooks"]["PreToolUse"] == THEIRS["hooks"]["PreToolUse"]
    assert settings["hooks"]["Stop"][0] == THEIRS["hooks"]["Stop"][0]
    assert set(settings["hooks"]) == {"Stop", "PreToolUse", "UserPromptSubmit", "PostToolUse", "SessionEnd"}
    assert path.stat().st_mode & 0o777 == 0o640
    assert not install.install(path)
    assert install.uninstall(path)
    assert json.loads(path.read_text()) == THEIRS
    assert not install.uninstall(path)


def test_a_new_interpreter_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "settings.json"
    install.install(path)
    path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))
    assert install.install(path)
    assert {shlex.split(command)[0] for command in install.installed(path)} == {sys.executable}
    assert len(install.installed(path)) == 4


@pytest.mark.parametrize("text", ["{half", "[]", '{"hooks": []}'])
def test_settings_that_cannot_be_read_are_left_as_they_are(tmp_path, text):
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(install.holdfast.BadInput, match="nothing was changed"):
        install.install(path)
    assert path.read_text() == text


def test_what_is_installed_works(home):
    assert cli(home, "install").returncode == 0
    settings = json.loads((home.project / ".claude" / "settings.json").read_text())
    (command,) = {
        hook["command"] for groups in settings["hooks"].values() for group in groups for hook in group["hooks"]
    }
    event = json.dumps(home.given("UserPromptSubmit", prompt="hello"))
    done = subprocess.run(
        ["sh", "-c", command],
        input=event,
        env=home.environment,
        cwd=home.project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert home.texts() == ["hello"]


def test_the_slow_way_into_the_hook_does_the_same(home):
    done = cli(home, "hook", stdin=json.dumps(home.given("UserPromptSubmit", prompt="hello")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert home.texts() == ["hello"]


def test_the_doctor_names_what_is_wrong(home):
    missing = cli(home, "doctor", "--json")
    assert missing.returncode == 1
    assert {"level": "bad", "check": "hook", "text": "not installed: `holdfast capture install`"} in json.loads(
        missing.stdout
    )
    cli(home, "install")
    home.event("UserPromptSubmit", prompt="hello")
    assert cli(home, "doctor").returncode == 0
    with_old = home.rows("update job_queue set scheduled_at = '2020-01-01T00:00:00.000Z' returning 1")
    assert with_old == [(1,)]
    old = cli(home, "doctor")
    assert old.returncode == 1
    assert "1 have waited for more than 10 minutes" in old.stdout
    assert "0 from 0 conversations" in old.stdout


@pytest.mark.parametrize("broken", ['{"hooks": ', "[" * 100_000, None], ids=["half", "deep", "a folder"])
def test_the_doctor_looks_at_the_rest_where_settings_are_broken(home, broken):
    path = home.project / ".claude" / "settings.json"
    path.parent.mkdir()
    path.mkdir() if broken is None else path.write_text(broken)
    for arguments in (("doctor",), ("install",)):
        told = cli(home, *arguments)
        assert told.returncode in {1, 2}
        assert "is not what Claude Code writes" in told.stdout + told.stderr
    assert "spool" in cli(home, "doctor").stdout


def test_a_service_is_written_for_the_worker(home):
    assert cli(home, "install", "--user", "--service").returncode == 0
    unit = Path(home.environment["HOME"]) / ".config" / "systemd" / "user" / install.UNIT
    assert (
        f"ExecStart={sys.executable} -P -m holdfast.cli worker holdfast_pipelines.capture.work:app" in unit.read_text()
    )
    assert f"HOLDFAST_CAPTURE_FOLDER={home.folder}" in unit.read_text()


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def enabled(unit: Path) -> Path:
    """The link that `systemctl --user enable` makes."""
    link = unit.parent / "default.target.wants" / unit.name
    link.parent.mkdir(parents=True)
    link.symlink_to(unit)
    return link


@pytest.mark.parametrize("scope", ["project", "user"])
def test_uninstall_removes_what_install_made_and_says_so(home, scope):
    folder = Path(home.environment["HOME"])
    before = everything(folder)
    arguments = ["--user"] if scope == "user" else ["--service"]
    cli(home, "install", "--service", "--mcp", *arguments[: scope == "user"])
    unit = folder / ".config" / "systemd" / "user" / install.UNIT
    link, own = enabled(unit), unit.parent / f"{install.UNIT}.d"
    own.mkdir()
    told = cli(home, "uninstall", *arguments).stdout
    assert everything(folder) - before == {
        str(path.relative_to(folder)) for path in [*own.parents[:3], own, link.parent]
    }
    assert [line.split(" ")[0] for line in told.splitlines()] == ["removed"] * 4 + ["a"]
    assert f"removed {unit}\n" in told
    assert "systemctl --user stop" in told
    again = cli(home, "uninstall", *arguments).stdout
    assert (again.startswith("not in "), "removed" in again) == (True, False)


def test_uninstall_leaves_what_install_did_not_make(home):
    folder = Path(home.environment["HOME"])
    cli(home, "install", "--service")
    unit = folder / ".config" / "systemd" / "user" / install.UNIT
    told = cli(home, "uninstall")
    assert f"left {unit}, which other projects may use: `holdfast capture uninstall --service`" in told.stdout
    unit.write_text("[Service]\nExecStart=/usr/bin/other\n# holdfast_pipelines.capture.work:app\n")
    (home.project / ".claude").mkdir()
    settings, real = home.project / ".claude" / "settings.json", home.project / "settings-of-mine.json"
    real.write_text("{}")
    settings.symlink_to(real)
    (home.project / ".mcp.json").write_text("{}")
    cli(home, "install")
    assert f"taken out of {settings}" in cli(home, "uninstall", "--service").stdout
    assert unit.exists()
    assert settings.is_symlink()
    assert json.loads(real.read_text()) == {}
    assert (home.project / ".mcp.json").read_text() == "{}"


def test_learnings_are_asked_for_by_word_and_by_id(home):
    assert cli(home, "learnings", "search", "nothing", "--json").stdout == "[]\n"
    missing = cli(home, "learnings", "show", "x", "--json")
    assert (missing.returncode, json.loads(missing.stdout)["error"]["code"]) == (1, "LEARNING_NOT_FOUND")
    assert cli(home, "sharing", "on").stdout == "sharing is on\n"
    assert json.loads(cli(home, "sharing", "--json").stdout) == {"sharing": True}
