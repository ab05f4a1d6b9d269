from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.model.errors import BadInput, StoreError
from holdfast.store.sqlite.location import Location, file_system, is_safe

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /srv/net rw - nfs4 server:/x rw
31 30 0:31 / /srv/net/local rw - ext4 /dev/sdb1 rw
32 22 0:32 / /srv/with\\040space rw - cifs //server/x rw
33 22 0:33 / /srv/données rw - nfs server:/y rw
34 22 0:34 / /srv/netting rw - xfs /dev/sdc1 rw
short line
"""


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ("3.6.23", False), ("3.7.0", False), ("3.40.1", False), ("3.43.99", False), ("3.44.0", False), ("3.44.5", False),
        ("3.44.6", True), ("3.44.9", True), ("3.45.0", False), ("3.49.2", False), ("3.50.0", False), ("3.50.6", False),
        ("3.50.7", True), ("3.51.0", False), ("3.51.2", False), ("3.51.3", True), ("3.52.0", True), ("3.100.0", True),
        ("4.0.0", True),
    ],
)  # fmt: skip
def test_only_a_library_free_of_the_wal_reset_bug_is_safe(version, safe):
    assert is_safe(version) is safe


def test_an_unsafe_library_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"3\.40\.1.*allow_unsafe_sqlite=1") as caught:
        Location(f"sqlite:///{tmp_path}/jobs.db").check("3.40.1")
    assert caught.value.code == "UNSAFE_SQLITE"


def test_an_unsafe_library_is_taken_when_the_url_says_so(tmp_path):
    Location(f"sqlite:///{tmp_path}/jobs.db?allow_unsafe_sqlite=1").check("3.40.1")


def test_a_safe_library_is_taken(tmp_path):
    Location(f"sqlite:///{tmp_path}/jobs.db").check("3.51.3")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/jobs.db", "ext4"),
        ("/srv/net/jobs.db", "nfs4"),
        ("/srv/net/deep/er/jobs.db", "nfs4"),
        ("/srv/net/local/jobs.db", "ext4"),
        ("/srv/netting/jobs.db", "xfs"),
        ("/srv/network/jobs.db", "ext4"),
        ("/srv/with space/jobs.db", "cifs"),
        ("/srv/données/jobs.db", "nfs"),
    ],
)
def test_the_nearest_mount_tells_the_kind_of_file_system(tmp_path, path, kind):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS, encoding="utf-8")
    assert file_system(path, str(mounts)) == kind


def test_a_machine_without_a_table_of_mounts_tells_nothing(tmp_path):
    assert file_system("/var/lib/jobs.db", str(tmp_path / "missing")) == ""


def test_a_link_is_followed_to_where_the_file_really_lies(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 1 0:1 / {os.path.realpath(real)} rw - nfs server:/x rw\n")
    assert file_system(str(tmp_path / "link" / "jobs.db"), str(mounts)) == "nfs"


@pytest.fixture
def network_disk(monkeypatch, tmp_path):
    """This test's folder, as if it lay on a network file system."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 1 0:1 / {os.path.realpath(tmp_path)} rw - nfs4 server:/x rw\n")
    monkeypatch.setattr(file_system, "__defaults__", (str(mounts),))


@pytest.mark.usefixtures("network_disk")
def test_a_network_file_system_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"nfs4.*allow_network_fs=1") as caught:
        Location(f"sqlite:///{tmp_path}/jobs.db").check("3.51.3")
    assert caught.value.code == "NETWORK_FILE_SYSTEM"


@pytest.mark.usefixtures("network_disk")
def test_a_network_file_system_is_taken_when_the_url_says_so(tmp_path):
    Location(f"sqlite:///{tmp_path}/jobs.db?allow_network_fs=1").check("3.51.3")


@pytest.mark.parametrize(
    "url",
    ["", "jobs.db", "sqlite://jobs.db", "sqlite:///", "sqlite:///?driver=apsw", "postgres:///x", "sqlite:///a\0b"],
)
def test_an_address_that_is_no_store_is_refused(url):
    with pytest.raises(BadInput, match=r"sqlite:///jobs\.db") as caught:
        Location(url)
    assert caught.value.code == "BAD_URL"


def test_a_store_in_memory_is_refused():
    with pytest.raises(BadInput, match="needs a file"):
        Location("sqlite:///:memory:")


@pytest.mark.parametrize("setting", ["driver=mysql", "synchronous=off", "colour=red", "driver", "allow_network_fs=yes"])
def test_a_setting_nobody_knows_is_refused_with_those_there_are(setting):
    with pytest.raises(BadInput, match=r"driver=apsw\|sqlite3") as caught:
        Location(f"sqlite:///jobs.db?{setting}")
    assert caught.value.code == "BAD_URL"


def test_settings_have_safe_defaults():
    location = Location("sqlite:///jobs.db")
    assert (location.driver, location.synchronous) == ("apsw", "full")
    assert (location.allow_unsafe_sqlite, location.allow_network_fs) == (False, False)


def test_settings_are_read_from_the_url():
    location = Location("sqlite:///jobs.db?driver=sqlite3&&synchronous=normal&allow_unsafe_sqlite=1&allow_network_fs=1")
    assert (location.driver, location.synchronous) == ("sqlite3", "normal")
    assert (location.allow_unsafe_sqlite, location.allow_network_fs) == (True, True)


def test_three_slashes_are_relative_and_four_absolute():
    assert Location("sqlite:///jobs.db").path == str(Path.cwd() / "jobs.db")
    assert Location("sqlite:////var/lib/jobs.db").path == "/var/lib/jobs.db"


def test_a_setting_that_is_given_twice_is_refused():
    with pytest.raises(BadInput, match="'synchronous' is given twice") as caught:
        Location("sqlite:///jobs.db?synchronous=full&synchronous=normal")
    assert caught.value.code == "BAD_URL"


def test_a_file_name_that_is_not_utf8_is_refused_in_words_that_can_be_printed():
    with pytest.raises(BadInput, match="not UTF-8") as caught:
        Location(f"sqlite:///{os.fsdecode(b'j' + bytes([255]) + b'.db')}")
    assert caught.value.code == "BAD_URL"
    str(caught.value).encode()
