"""Who lives holds a lock on a file of its own name; the kernel lets go of it at death."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from holdfast.signals.presence import Presence, dead_owners

HOLD = """
import sys
from holdfast.signals.presence import Presence
Presence(sys.argv[1], sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


def hold(folder: Path, owner: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), owner], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def dead(folder: Path) -> list[str]:
    return [one.owner for one in dead_owners(str(folder))]


def test_the_living_are_not_taken_for_dead_and_the_killed_are(tmp_path: Path):
    process = hold(tmp_path, "host:1:aa")
    try:
        assert dead(tmp_path) == []
    finally:
        end(process)
    assert dead(tmp_path) == ["host:1:aa"]
    assert dead(tmp_path) == []  # dealt with


def test_who_says_goodbye_is_not_dead(tmp_path: Path):
    presence = Presence(str(tmp_path), "host:1:aa")
    presence.end()
    assert dead(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_dead_are_handed_to_one_caller_alone(tmp_path: Path):
    end(hold(tmp_path, "host:1:aa"))
    first, second = dead_owners(str(tmp_path)), dead_owners(str(tmp_path))
    assert next(first).owner == "host:1:aa"
    assert list(second) == []
    assert list(first) == []


def test_a_caller_that_fails_leaves_the_dead_to_the_next(tmp_path: Path):
    end(hold(tmp_path, "host:1:aa"))
    interrupted = dead_owners(str(tmp_path))
    next(interrupted)
    interrupted.close()
    assert dead(tmp_path) == ["host:1:aa"]


def test_no_folder_means_nobody(tmp_path: Path):
    assert list(dead_owners(str(tmp_path / "gone"))) == []


def test_a_file_that_cannot_be_opened_is_passed_over(tmp_path: Path):
    (tmp_path / "strange.lock").mkdir()
    end(hold(tmp_path, "host:1:aa"))
    assert dead(tmp_path) == ["host:1:aa"]


def test_the_room_of_the_dead_can_be_read_until_they_are_dealt_with(tmp_path: Path):
    end(hold(tmp_path, "host:1:aa"))
    for one in dead_owners(str(tmp_path)):
        assert Path(one.room).is_dir()
    assert list(tmp_path.iterdir()) == []
