"""Flag beats environment beats file beats default."""

from __future__ import annotations

import signal
import subprocess

import pytest

from holdfast.cli.opening import chosen_signal, opened
from holdfast.model.errors import BadInput
from holdfast.model.settings import SETTINGS, check_settings
from holdfast.signals.folder import FolderSignal
from holdfast.signals.silent import SilentSignal
from holdfast.worker.loading import load_app
from tests.cli.given import PROGRAM, clean_environment


@pytest.fixture
def stored_in(bare, tmp_path):
    """Enqueue with these arguments, and tell which file the job went to."""

    def call(*arguments: str) -> set[str]:
        before = {path: path.stat().st_size for path in tmp_path.rglob("*.db")}
        answer = bare(*arguments)
        assert answer.code == 0, answer.err
        return {path.name for path in tmp_path.rglob("*.db") if path not in before}

    return call


def test_the_default_is_a_file_in_the_working_folder(stored_in, tmp_path):
    assert stored_in("enqueue", "tick") == {"holdfast.db"}
    assert (tmp_path / "here" / "holdfast.db").exists()


def test_a_file_beats_the_default(stored_in, tmp_path):
    (tmp_path / "here" / "holdfast.toml").write_text('url = "sqlite:///file.db"')
    assert stored_in("enqueue", "tick") == {"file.db"}


def test_the_environment_beats_a_file(stored_in, tmp_path, monkeypatch):
    (tmp_path / "here" / "holdfast.toml").write_text('url = "sqlite:///file.db"')
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///environment.db")
    assert stored_in("enqueue", "tick") == {"environment.db"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["enqueue", "tick", "--url", "sqlite:///flag.db"],
        ["--url", "sqlite:///flag.db", "enqueue", "tick"],
        ["--url", "sqlite:///other.db", "enqueue", "tick", "--url", "sqlite:///flag.db"],
    ],
)
def test_a_flag_beats_the_environment(stored_in, tmp_path, monkeypatch, arguments):
    (tmp_path / "here" / "holdfast.toml").write_text('url = "sqlite:///file.db"')
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///environment.db")
    assert stored_in(*arguments) == {"flag.db"}


def test_a_file_is_looked_for_upwards_and_its_path_is_its_own(stored_in, tmp_path, monkeypatch):
    (tmp_path / "here" / "holdfast.toml").write_text('url = "sqlite:///file.db?synchronous=normal"')
    deep = tmp_path / "here" / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert stored_in("enqueue", "tick") == {"file.db"}
    assert (tmp_path / "here" / "file.db").exists()


def test_an_absolute_path_in_a_file_stays_as_it_is(stored_in, tmp_path):
    (tmp_path / "here" / "holdfast.toml").write_text(f'url = "sqlite:///{tmp_path}/absolute.db"')
    assert stored_in("enqueue", "tick") == {"absolute.db"}
    assert (tmp_path / "absolute.db").exists()


def test_a_project_file_serves_too(stored_in, tmp_path):
    (tmp_path / "here" / "pyproject.toml").write_text('[tool.holdfast]\nurl = "sqlite:///project.db"')
    assert stored_in("enqueue", "tick") == {"project.db"}


@pytest.mark.parametrize(
    "text", ["[project]\nname = 'x'", "# holdfast\n[tool.other]\nurl = 1", "tool = 'holdfast'", "not toml ["]
)
def test_a_project_file_without_our_table_is_passed_over(stored_in, tmp_path, text):
    (tmp_path / "here" / "pyproject.toml").write_text(text)
    (tmp_path / "holdfast.toml").write_text('url = "sqlite:///above.db"')
    assert stored_in("enqueue", "tick") == {"above.db"}


def test_our_own_file_beats_the_project_file_beside_it(stored_in, tmp_path):
    (tmp_path / "here" / "pyproject.toml").write_text('[tool.holdfast]\nurl = "sqlite:///project.db"')
    (tmp_path / "here" / "holdfast.toml").write_text('url = "sqlite:///own.db"')
    assert stored_in("enqueue", "tick") == {"own.db"}


def test_a_nearer_project_file_beats_our_own_further_up(stored_in, tmp_path):
    (tmp_path / "here" / "pyproject.toml").write_text('[tool.holdfast]\nurl = "sqlite:///project.db"')
    (tmp_path / "holdfast.toml").write_text('url = "sqlite:///above.db"')
    assert stored_in("enqueue", "tick") == {"project.db"}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("holdfast.toml", "ulr = 'sqlite:///x.db'", "unknown setting 'ulr'; there are: signal, url"),
        ("holdfast.toml", "url = 3", "url must be text, not a number"),
        ("holdfast.toml", "url = true", "url must be text, not true or false"),
        ("holdfast.toml", "url = ['x']", "url must be text, not a list"),
        ("holdfast.toml", "[url]\nx = 1", "url must be text, not a table"),
        ("holdfast.toml", "url = 2025-01-01", "url must be text, not date"),
        ("holdfast.toml", "url = ''", "url is empty"),
        ("holdfast.toml", "url = ", "is not TOML: "),
        ("holdfast.toml", "signal = true", "signal must be text, not true or false"),
        ("holdfast.toml", "signal = ''", "signal is empty"),
        (
            "holdfast.toml",
            "signal = 'pigeon://ann:secret@loft'",
            "no signal speaks 'pigeon': write store, off, postgresql://",
        ),
        ("pyproject.toml", "[tool.holdfast]\nurl = 3", "url must be text, not a number"),
        ("pyproject.toml", "[tool]\nholdfast = 3", "the settings must be a table, not a number"),
        ("pyproject.toml", "[tool.holdfast", "is not TOML: "),
    ],
)
def test_a_wrong_setting_is_told_with_its_file(bare, tmp_path, name, text, told):
    path = tmp_path / "here" / name
    path.write_text(text)
    answer = bare("enqueue", "tick")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error BAD_OPTION: {path}")
    assert told in answer.err
    assert "secret" not in answer.err


def test_a_file_names_the_signal_and_the_environment_beats_it(bare, tmp_path, monkeypatch):
    monkeypatch.delenv("HOLDFAST_SIGNAL", raising=False)
    assert chosen_signal() is None
    (tmp_path / "here" / "holdfast.toml").write_text('signal = "off"')
    assert chosen_signal() == "off"
    with opened(None, looking=False) as app:
        assert isinstance(app.signal, SilentSignal)
    monkeypatch.setenv("HOLDFAST_SIGNAL", "store")
    with opened(None, looking=False) as app:
        assert isinstance(app.signal, FolderSignal)


@pytest.mark.parametrize(("named", "kind"), [(None, SilentSignal), ("store", FolderSignal)])
def test_an_application_keeps_the_signal_that_it_names(tmp_path, monkeypatch, named, kind):
    module = f"named_{named or 'none'}"
    (tmp_path / f"{module}.py").write_text(
        f"import holdfast\napp = holdfast.App('sqlite:///{tmp_path}/jobs.db', signal={named!r})\n"
    )
    monkeypatch.delenv("HOLDFAST_SIGNAL", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    app = load_app(module, None, None, "off")
    assert isinstance(app.signal, kind)
    assert app.url == f"sqlite:///{tmp_path}/jobs.db"


@pytest.mark.slow
def test_a_worker_and_its_children_use_the_signal_of_the_file(tmp_path):
    (tmp_path / "shop.py").write_text("import holdfast\napp = holdfast.App()\napp.job(type='tick')(lambda: None)\n")
    (tmp_path / "holdfast.toml").write_text('url = "sqlite:///jobs.db"\nsignal = "redis://:secret@127.0.0.1:1/0"\n')
    with subprocess.Popen(
        [*PROGRAM, "worker", "shop:app"], cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stderr is not None
        told = 0
        for line in worker.stderr:
            assert "secret" not in line
            told += "polling instead" in line
            if told == 2:
                break
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=30)
    assert (told, worker.returncode) == (2, 0)


def test_a_file_that_is_no_text_is_told(bare, tmp_path):
    (tmp_path / "here" / "holdfast.toml").write_bytes(b"url = '\xff'")
    assert "is not TOML" in bare("jobs").err


def test_every_setting_has_a_sentence():
    assert [name for name, text in SETTINGS.items() if not text.endswith(".")] == []


def test_settings_that_are_right_are_answered():
    assert check_settings({"url": "sqlite:///x.db"}, "here") == {"url": "sqlite:///x.db"}
    with pytest.raises(BadInput, match="here: "):
        check_settings([], "here")
