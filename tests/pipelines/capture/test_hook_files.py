"""What lies where the hook keeps things, and is not as the hook made it: others' databases, loose modes, half a key."""

from __future__ import annotations

import apsw
import pytest

import holdfast
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.capture.marks import keyed_digest
from tests.pipelines.capture.test_install import cli


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_somebody_else_is_left_as_it_is(home, journal):
    home.folder.mkdir(mode=0o700)
    other = apsw.Connection(str(home.database))
    other.execute(f"pragma journal_mode={journal}")
    other.execute("create table notes (text)")
    other.close()
    home.database.chmod(0o644)
    before = home.database.read_bytes()
    home.event("UserPromptSubmit", prompt="first")
    for arguments in (("learnings", "search", "x"), ("doctor",)):
        told = cli(home, *arguments)
        assert told.returncode == 1
        assert "is a database that Holdfast did not make: move it" in told.stdout + told.stderr
    with pytest.raises(holdfast.StoreError, match="move it"):
        application(home.environment)
    assert (home.database.read_bytes(), home.database.stat().st_mode & 0o777) == (before, 0o644)
    (line,) = [entry.split(" ", 1)[1] for entry in home.log()]
    assert line == (
        "spooled: FOREIGN_TABLES: the database there is not of Holdfast: move it away, or set HOLDFAST_CAPTURE_URL"
    )
    home.database.rename(home.project / "theirs.db")
    home.event("UserPromptSubmit", prompt="second")
    assert len(home.texts()) == 2


def made_readable(home) -> None:
    """A database of ours, open in another process, that others can read."""
    home.event("UserPromptSubmit", prompt="first")
    for path in home.folder.glob("capture.db*"):
        path.chmod(0o644)


def test_a_database_that_others_can_read_is_taken_from_them(home):
    made_readable(home)
    home.event("UserPromptSubmit", prompt="second")
    home.event("UserPromptSubmit", prompt="third")
    modes = {path.name: path.stat().st_mode & 0o777 for path in home.folder.glob("capture.db*")}
    assert modes == {"capture.db": 0o600, "capture.db-wal": 0o600, "capture.db-shm": 0o600}
    assert [entry.split(" ", 1)[1] for entry in home.log()] == [
        "others could read the database: now it is for its owner alone, mode 0600"
    ]


def test_the_doctor_takes_the_database_from_others_too(home):
    made_readable(home)
    assert "others could read" in cli(home, "doctor").stdout
    assert "others could read" not in cli(home, "doctor").stdout
    assert {path.stat().st_mode & 0o777 for path in home.folder.glob("capture.db*")} == {0o600}


def test_who_may_read_a_database_of_an_application_is_not_ours_to_say(home):
    home.environment["HOLDFAST_URL"] = f"sqlite:///{home.database}"
    made_readable(home)
    home.event("UserPromptSubmit", prompt="second")
    assert home.log() == []
    assert "which HOLDFAST_URL names: chmod 600" in cli(home, "doctor").stdout
    assert home.database.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("size", [0, 7, 31, 33, 5_000])
def test_a_key_of_another_size_is_put_aside_and_the_event_kept(home, size):
    home.event("UserPromptSubmit", prompt="first")
    key = home.folder / "capture.key"
    key.write_bytes(b"k" * size)
    told = cli(home, "doctor")
    assert "is no key of 32 bytes, and is not used: put a backup back" in told.stdout
    home.event("UserPromptSubmit", prompt="second")
    home.event("UserPromptSubmit", prompt="third")
    assert home.texts() == ["first", "second", "third"]
    (line,) = [entry.split(" ", 1)[1] for entry in home.log()]
    assert line.startswith(f"capture.key had {size if size < 33 else 'more than 32'} bytes, not 32: ")
    assert (home.folder / "capture.key.unusable").read_bytes() == b"k" * size
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    marks = [raw for (raw,) in home.rows("select raw_hash from messages order by sequence")]
    assert marks[1:] == [keyed_digest(key.read_bytes(), text) for text in ("second", "third")]


def test_a_key_that_cannot_be_read_costs_no_event(home):
    home.folder.mkdir(mode=0o700)
    (home.folder / "capture.key").mkdir()
    home.event("UserPromptSubmit", prompt="first")
    assert home.texts() == ["first"]
    (line,) = [entry.split(" ", 1)[1] for entry in home.log()]
    assert line.startswith("capture.key cannot be used: remove it")
    assert "is no key of 32 bytes" in cli(home, "doctor").stdout
