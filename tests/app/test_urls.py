"""Where an application keeps its jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOLDFAST_URL", raising=False)


def files_after_one_job(*args):
    with holdfast.App(*args) as app:
        app.enqueue("mail")
        return sorted(path.name for path in Path().rglob("*.db"))


def test_without_a_url_jobs_are_kept_in_the_working_folder():
    assert files_after_one_job() == ["holdfast.db"]


def test_the_environment_names_the_store(monkeypatch):
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///from-environment.db")
    assert files_after_one_job() == ["from-environment.db"]


def test_a_given_url_beats_the_environment(monkeypatch):
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///from-environment.db")
    assert files_after_one_job("sqlite:///given.db") == ["given.db"]


def test_an_empty_environment_counts_as_none(monkeypatch):
    monkeypatch.setenv("HOLDFAST_URL", "")
    assert files_after_one_job() == ["holdfast.db"]


def test_three_slashes_are_a_path_from_the_working_folder(tmp_path):
    (tmp_path / "deep").mkdir()
    with holdfast.App("sqlite:///deep/jobs.db") as app:
        app.enqueue("mail")
    assert (tmp_path / "deep" / "jobs.db").is_file()


def test_four_slashes_are_an_absolute_path(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db") as app:
        app.enqueue("mail")
    assert (tmp_path / "jobs.db").is_file()
    assert list(elsewhere.iterdir()) == []


def test_the_working_folder_is_that_of_the_moment_the_application_was_made(tmp_path, monkeypatch):
    app = holdfast.App("sqlite:///jobs.db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    app.enqueue("mail")
    app.close()
    assert (tmp_path / "jobs.db").is_file()


def test_nothing_is_opened_until_it_is_first_used(tmp_path):
    holdfast.App("sqlite:///jobs.db").close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "jobs.db",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://jobs.db",
        "sqlite:///:memory:",
        "sqlite:///a\x00b.db",
        "mysql://localhost/jobs",
        "redis://localhost",
        "sqlite:///jobs.db?synchronous=off",
        "sqlite:///jobs.db?colour=red",
        "sqlite:///jobs.db?driver",
        "sqlite:///jobs.db?driver=pysqlite",
    ],
)
def test_an_address_that_cannot_be_understood_is_refused_at_once(url):
    with pytest.raises(holdfast.BadInput) as caught:
        holdfast.App(url)
    assert caught.value.code == "BAD_URL"


def test_the_standard_library_s_old_sqlite_is_refused_unless_it_is_allowed(monkeypatch):
    from holdfast.store.sqlite import location

    monkeypatch.setattr(location, "SAFE_SQLITE", (99, 0, 0))
    monkeypatch.setattr(location, "SAFE_LINES", {})
    with holdfast.App("sqlite:///jobs.db?driver=sqlite3") as app, pytest.raises(holdfast.StoreError) as caught:
        app.enqueue("mail")
    assert caught.value.code == "UNSAFE_SQLITE"
    with holdfast.App("sqlite:///jobs.db?driver=sqlite3&allow_unsafe_sqlite=1") as app:
        assert app.enqueue("mail").created


@pytest.mark.parametrize("code", ["STORE_CANNOT_OPEN"])
def test_a_folder_that_is_not_there_is_told_when_the_store_is_first_used(code):
    with holdfast.App("sqlite:///nowhere/jobs.db") as app, pytest.raises(holdfast.StoreError) as caught:
        app.enqueue("mail")
    assert caught.value.code == code


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear reader, " * 100)
    with holdfast.App("sqlite:///letter.txt") as app, pytest.raises(holdfast.StoreError) as caught:
        app.enqueue("mail")
    assert caught.value.code == "NOT_A_DATABASE"
    assert (tmp_path / "letter.txt").read_text() == "Dear reader, " * 100
