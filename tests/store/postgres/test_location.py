from __future__ import annotations

import os
from traceback import format_exception

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from holdfast.model.errors import BadInput, StoreError
from holdfast.store.postgres.connection import Connection
from holdfast.store.postgres.location import Location


def test_an_address_is_shown_without_its_user_and_password():
    location = Location("postgresql://ann:secret@db.example:6432/jobs?sslmode=require")
    assert location.shown == "postgresql://db.example:6432/jobs"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("ann:secret@/jobs?host=/run/postgresql&sslmode=disable", "/jobs?host=/run/postgresql"),
        ("/jobs?host=%2Frun%2Fa%26b&port=6432&password=secret&user=ann", "/jobs?host=/run/a%26b&port=6432"),
        ("ann:secret@%2FRun%2FPg:6432/jobs", "%2FRun%2FPg:6432/jobs"),
        ("/jobs?host=@abstract", "/jobs?host=%40abstract"),
        ("?host=/run/postgresql&dbname=jobs", "?host=/run/postgresql&dbname=jobs"),
        ("/jobs?host=db.example", "db.example/jobs"),
        ("/jobs?host=db1,db2&port=5432,6432", "/jobs?host=db1,db2&port=5432,6432"),
        ("db.example/jobs?port=6432", "db.example/jobs?port=6432"),
        ("/jobs?hostaddr=::1", "/jobs?hostaddr=%3A%3A1"),
        ("/jobs?host=::1", "/jobs?host=%3A%3A1"),
    ],
)
def test_an_address_is_shown_so_that_it_leads_to_the_same_place(given, shown):
    location = Location(f"postgresql://{given}")
    assert location.shown == f"postgresql://{shown}"
    assert Location(location.shown).shown == location.shown
    assert _place(location.shown) == _place(location.conninfo) == _place(f"postgresql://{given}")


def _place(url: str) -> dict[str, object]:
    """Where the driver goes with it."""
    read = conninfo_to_dict(url)
    return {name: read.get(name) for name in ("host", "hostaddr", "port", "dbname")}


def test_an_address_that_was_shown_can_be_opened_by_who_may(bare):
    given = conninfo_to_dict(bare)
    who = {name: given[name] for name in ("user", "password") if name in given}
    with psycopg.connect(Location(bare).shown, **who) as connection:
        assert connection.info.dbname == given["dbname"]


def test_several_hosts_are_a_primary_and_its_standbys():
    location = Location("postgresql://ann:secret@db1.example:5432,DB2.example:6432/jobs?deadline=5")
    assert location.shown == "postgresql://db1.example:5432,db2.example:6432/jobs"
    assert location.conninfo.endswith("@db1.example:5432,DB2.example:6432/jobs?target_session_attrs=read-write")


def test_several_sockets_are_a_primary_and_its_standbys():
    location = Location("postgresql:///jobs?host=/run/one,/run/two")
    assert location.shown == "postgresql:///jobs?host=/run/one,/run/two"
    assert location.conninfo.endswith("&target_session_attrs=read-write")


def test_which_of_several_hosts_is_wanted_may_be_said():
    location = Location("postgresql://h1,h2/jobs?target_session_attrs=primary")
    assert location.conninfo == "postgresql://h1,h2/jobs?target_session_attrs=primary"
    assert "target_session_attrs" not in Location("postgresql://h1/jobs").conninfo


def test_our_settings_stay_here_and_the_others_go_to_the_driver():
    location = Location("postgresql://h/jobs?deadline=5&prepare=3&sslmode=require&connect_timeout=4")
    assert (location.deadline, location.prepare_after) == (5, 3)
    assert location.conninfo == "postgresql://h/jobs?sslmode=require&connect_timeout=4"
    assert "connect_timeout" not in location.options()
    assert location.options()["tcp_user_timeout"] == 5000


def test_a_tenant_in_the_address_stays_here():
    location = Location("postgresql://h/jobs?tenant=acme%20%26%20co&sslmode=require")
    assert location.tenant == "acme & co"
    assert location.conninfo == "postgresql://h/jobs?sslmode=require"
    assert Location("postgresql://h/jobs").tenant == Location("postgresql://h/jobs?tenant=").tenant == ""


def test_no_statement_is_prepared_by_its_count_unless_asked_for():
    assert Location("postgresql://h/jobs").prepare_after is None
    assert Location("postgresql://h/jobs?prepare=off").prepare_after is None


@pytest.mark.parametrize(("setting", "told"), [("", True), ("?prepare=auto", True), ("?prepare=off", False)])
def test_the_lone_enqueue_may_be_prepared_unless_that_is_off(setting, told):
    assert Location(f"postgresql://h/jobs{setting}").prepare_repeated is told


@pytest.mark.parametrize(
    "url",
    [
        "mysql://h/jobs",
        "postgresql://h:port/jobs",
        "postgresql://h1:5432,h2:port/jobs",
        "postgresql://[h/jobs",
        "postgresql://h/jobs?deadline=0",
        "postgresql://h/jobs?deadline=soon",
        "postgresql://h/jobs?prepare=1001",
        "postgresql://h/jo\x00bs",
        "postgresql://h/jobs?tenant=a%0Ab",
    ],
)
def test_an_address_that_cannot_be_is_refused(url):
    with pytest.raises(BadInput) as caught:
        Location(url)
    assert caught.value.code == "BAD_URL"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://ann:secret@h:port/jobs", "'h:port'"),
        ("postgresql://ann@h:port/jobs?password=secret", "'h:port'"),
        ("postgresql://ann@h:port?password=secret", "'h:port'"),
        ("postgresql://ann@h:port#secret", "'h:port'"),
        ("postgresql://h:port/jobs?password=secret", "'postgresql'"),
        ("postgresql://ann:secret", "'postgresql'"),
        ("postgresql://ann:not@secret@h:port/jobs", "'postgresql'"),
        ("postgresql://h:port/jobs?password=not@secret", "'postgresql'"),
        ("postgresql://ann:not?secret@h/jobs", "'postgresql'"),
    ],
)
def test_a_refusal_does_not_repeat_the_password(url, told):
    with pytest.raises(BadInput) as caught:
        Location(url)
    assert str(caught.value).startswith(f"{told} is no store")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("password", ["%zzsecret", "not secret"])
def test_an_address_that_the_driver_cannot_read_is_told_without_the_password(password):
    with pytest.raises(StoreError) as caught:
        Connection.open(Location(f"postgresql://ann:{password}@127.0.0.1:1/jobs"))
    assert caught.value.code == "STORE_UNAVAILABLE"
    assert str(caught.value).startswith("postgresql://127.0.0.1:1/jobs: the driver cannot read the whole address")
    assert "secret" not in "".join(format_exception(caught.value))


def test_the_processes_of_a_host_meet_in_one_folder_for_each_database(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first, again = Location("postgresql://ann@h/jobs"), Location("postgresql://bob@h/jobs?deadline=5")
    assert first.path == again.path != Location("postgresql://h/other").path
    assert first.path.startswith(f"{tmp_path}/holdfast/")
    assert (tmp_path / "holdfast").stat().st_mode & 0o777 == 0o700


def test_without_a_folder_of_the_session_the_meeting_place_is_a_private_one_among_the_temporary(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert Location("postgresql://h/jobs").path.startswith(f"{tmp_path}/holdfast-{os.getuid()}/")


def test_a_meeting_place_that_belongs_to_someone_else_is_refused(monkeypatch, tmp_path):
    (tmp_path / "holdfast").symlink_to("/")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(BadInput, match="another"):
        _ = Location("postgresql://h/jobs").path


def test_another_channel_is_another_queue_of_the_same_database(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    plain, other = Location("postgresql://db/jobs"), Location("postgresql://db/jobs?channel=second_queue")
    assert (plain.channel, other.channel) == ("holdfast", "second_queue")
    assert plain.path != other.path
    assert Location("postgresql://db/jobs?channel=holdfast").path == plain.path
    assert "channel" not in other.conninfo


@pytest.mark.parametrize("name", ["", "Upper", "a b", "x;drop", "1st", "ü", "a" * 64])
def test_a_channel_that_is_no_plain_name_is_refused(name):
    with pytest.raises(BadInput, match="channel is a name"):
        Location(f"postgresql://db/jobs?channel={name}")
