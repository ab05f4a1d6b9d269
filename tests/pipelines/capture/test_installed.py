"""The hook of a real installation: a wheel in an environment of its own, and the command that `install` writes there."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import apsw
import pytest

from tests.pipelines.capture.hooks import Home, files_with
from tests.pipelines.capture.test_hook import KEY, MAIL, SECRETS

ROOT = Path(__file__).parents[3]
HEAVY = {
    "site",
    "collections",
    "operator",
    "re",
    "json",
    "enum",
    "functools",
    "typing",
    "datetime",
    "pathlib",
    "logging",
    "hashlib",
    "random",
}


def run(command: list[str], **given) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **given)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder of scripts of a new environment that has the wheel of this tree. Nothing is fetched: what Holdfast
    needs is lent by the environment of the tests, the library of the hook as a link, so that it is found without `site`.
    """
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    quiet = ["--quiet", "--no-deps", "--no-index"]
    built = run([*pip, "wheel", *quiet, "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)])
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", symlinks=True)
    put = run([*pip, "--python", str(folder / "env" / "bin" / "python"), "install", *quiet, str(wheel)])
    assert put.returncode == 0, put.stderr
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    lent = Path(apsw.__file__).parent
    (packages / "apsw").symlink_to(lent)
    (packages / "lent.pth").write_text(f"{lent.parent}\n")
    return folder / "env" / "bin"


def command_of(home: Home, installed: Path) -> str:
    done = run([str(installed / "holdfast"), "capture", "install"], env=home.environment, cwd=home.project)
    assert done.returncode == 0, done.stderr
    settings = json.loads((home.project / ".claude" / "settings.json").read_text())
    (command,) = {
        hook["command"] for groups in settings["hooks"].values() for group in groups for hook in group["hooks"]
    }
    return command


@pytest.mark.slow
def test_the_command_in_the_settings_captures_a_session(home, installed):
    command = command_of(home, installed)
    assert shlex.split(command)[0] == str(installed / "python")
    assert Path(shlex.split(command)[-1]).is_relative_to(installed.parent)
    said = f"my key is {KEY}, mail {MAIL}, password=hunter2x9"
    for event in (
        home.given("UserPromptSubmit", prompt=said),
        home.given("PostToolUse", tool_name="Bash", tool_input={"n": 1}, tool_response={"stdout": said}),
        home.given("Stop", last_assistant_message="Use the vault."),
        home.given("SessionEnd", reason="exit"),
    ):
        done = run(["sh", "-c", command], input=json.dumps(event), env=home.environment, cwd=home.project)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    clean = "my key is [REDACTED_ANTHROPIC_KEY], mail [REDACTED_EMAIL], password=[REDACTED_SECRET]"
    assert home.texts() == [clean, f"Bash\nn: 1\nstdout: {clean}", "Use the vault."]
    assert home.rows("select completed_at is not null from conversations") == [(1,)]
    assert files_with(home.folder, *SECRETS) == []
    assert home.log() == []
    assert (
        run([str(installed / "holdfast"), "capture", "doctor"], env=home.environment, cwd=home.project).returncode == 0
    )


@pytest.mark.slow
def test_the_script_does_the_same(home, installed):
    event = json.dumps(home.given("UserPromptSubmit", prompt=f"write to {MAIL}"))
    done = run([str(installed / "holdfast-hook")], input=event, env=home.environment, cwd=home.project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert home.texts() == ["write to [REDACTED_EMAIL]"]


@pytest.mark.slow
def test_the_command_loads_nothing_heavy(home, installed):
    """Not even when the tools of an environment run code at the start of every interpreter."""
    python, *arguments = shlex.split(command_of(home, installed))
    event = json.dumps(home.given("UserPromptSubmit", prompt=f"write to {MAIL} at 10.1.2.3"))
    given = {"input": event, "env": home.environment, "cwd": home.project}
    assert run([python, *arguments], **given).stderr == ""  # keeps the patterns
    told = run([python, "-X", "importtime", *arguments], **given).stderr
    loaded = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    assert {"apsw", "holdfast.app", "holdfast_pipelines.capture.hook"} <= loaded
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("holdfast.store")} <= STORE


STORE = {f"holdfast.store{name}" for name in ("", ".asking", ".sql")} | {
    f"holdfast.store.sqlite{name}" for name in ("", ".asking", ".connection", ".location", ".schema", ".store")
}


@pytest.mark.slow
def test_where_the_library_is_elsewhere_it_is_looked_for_as_usual(home, installed):
    command = command_of(home, installed)
    (packages,) = (installed.parent / "lib").glob("python*/site-packages")
    (packages / "apsw").rename(packages / "aside")
    try:
        event = json.dumps(home.given("UserPromptSubmit", prompt="hello"))
        done = run(["sh", "-c", command], input=event, env=home.environment, cwd=home.project)
    finally:
        (packages / "aside").rename(packages / "apsw")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert home.texts() == ["hello"]
