"""Which store a worker works on, and whose modules it loads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

ROOT = Path(__file__).parents[2]
JOBS = "import holdfast\n\napp = holdfast.App({})\n\n\n@app.job\ndef tick() -> None:\n    pass\n"


def first_line(folder: Path, *arguments: str, **environment: str) -> str:
    """What a worker says of itself at its start; then it is stopped."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    command = [sys.executable, "-P", "-m", "holdfast.cli", "worker", "jobs:app", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, env=given | {"PYTHONPATH": str(ROOT / "src")} | environment
    ) as worker:
        assert worker.stderr is not None
        line = worker.stderr.readline().decode()
        worker.send_signal(signal.SIGINT)
        worker.communicate(timeout=30)
    return line.strip()


@pytest.mark.parametrize(
    ("code", "flag", "chosen"),
    [
        ("'sqlite:///code.db'", "", "code.db"),
        ("'sqlite:///code.db'", "sqlite:///flag.db", "flag.db"),
        ("", "", "env.db"),
    ],
)
def test_the_store_of_the_code_beats_the_environment_and_only_a_flag_beats_the_code(tmp_path, code, flag, chosen):
    (tmp_path / "jobs.py").write_text(JOBS.format(code))
    (tmp_path / "holdfast.toml").write_text('url = "sqlite:///file.db"')
    arguments = ["--url", flag] if flag else []
    assert first_line(tmp_path, *arguments, HOLDFAST_URL="sqlite:///env.db").endswith(f"sqlite:///{chosen}")


def test_a_settings_file_holds_where_the_code_names_no_store(tmp_path):
    (tmp_path / "jobs.py").write_text(JOBS.format(""))
    (tmp_path / "holdfast.toml").write_text('url = "sqlite:///file.db"')
    assert first_line(tmp_path).endswith("file.db")


def test_an_app_without_an_address_has_the_store_and_signal_of_the_settings_file(tmp_path, monkeypatch):
    monkeypatch.delenv("HOLDFAST_URL", raising=False)
    monkeypatch.delenv("HOLDFAST_SIGNAL", raising=False)
    (tmp_path / "holdfast.toml").write_text('url = "sqlite:///file.db"\nsignal = "off"')
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    app = holdfast.App()
    assert (app.url, app.signal_by) == (f"sqlite:///{tmp_path}/file.db", "off")
    assert holdfast.App(signal="store").signal_by == "store"
    named = holdfast.App("sqlite:///mine.db")
    assert (named.url, named.signal_by) == ("sqlite:///mine.db", None), "who names a store is not told how to signal"
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///env.db")
    assert holdfast.App().url == "sqlite:///env.db"


def test_a_module_of_the_working_folder_does_not_take_our_place(tmp_path):
    (tmp_path / "jobs.py").write_text(JOBS.format("'sqlite:///code.db'"))
    (tmp_path / "holdfast.py").write_text("open('taken', 'w')")
    (tmp_path / "psycopg.py").write_text("open('taken', 'w')")
    assert "1 process" in first_line(tmp_path)
    assert not (tmp_path / "taken").exists()
