"""Signals through a private folder: hints that may be lost, forged or many, and never do harm."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.news import News
from holdfast.signals.folder import Listener, Teller, _Short, folder_of, make_folder


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "jobs.db")


def news(*queues: str, jobs: tuple[str, ...] = ()) -> News:
    one = News()
    one.queues.update(queues)
    one.jobs.extend(jobs)
    return one


def listen(request: Any, database: str, name: str = "one") -> Listener:
    listener = Listener(database, name)
    request.addfinalizer(listener.close)
    return listener


def names(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


def send(database: str, name: str, *messages: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        for message in messages:
            with _Short(f"{folder_of(database)}/{name}.socket") as short:
                stranger.sendto(message, short)


def test_every_listener_hears_of_a_change(request, database: str):
    listeners = [listen(request, database, name) for name in ("one", "two")]
    Teller(database)(news("images", jobs=("J1",)))
    for listener in listeners:
        heard = listener.receive()
        assert (heard.queues, heard.jobs) == ({"images"}, ["J1"])


def test_nobody_listens_and_telling_is_no_error(database: str):
    teller = Teller(database)
    teller(news("images"))
    make_folder(database)
    teller(news("images"))


def test_several_changes_are_heard_in_one_go(request, database: str):
    listener = listen(request, database)
    teller = Teller(database)
    for queue in ("a", "b", "c"):
        teller(news(queue))
    assert listener.receive().queues == {"a", "b", "c"}
    assert not listener.receive()


def test_many_jobs_become_a_hint_that_all_may_have_changed(request, database: str):
    listener = listen(request, database)
    Teller(database)(news(jobs=tuple(f"J{number}" for number in range(100))))
    assert listener.receive().jobs == ["*"]


def test_the_folder_is_for_its_owner_alone(database: str):
    assert stat.S_IMODE(Path(make_folder(database)).stat().st_mode) == 0o700
    make_folder(database)  # again is no error


def test_a_socket_whose_process_is_gone_is_removed(request, database: str):
    dead = Listener(database, "dead")
    dead._socket.close()
    listener = listen(request, database, "living")
    teller = Teller(database)
    teller(news("a"))
    assert names(folder_of(database)) == ["living.socket"]
    teller(news("b"))
    assert listener.receive().queues == {"a", "b"}


def test_a_listener_takes_its_socket_along_when_it_closes(database: str):
    Listener(database, "one").close()
    assert names(folder_of(database)) == []


def test_a_listener_that_comes_in_the_same_tick_of_the_clock_is_heard_of(request, database: str):
    """File systems keep time in ticks: a change may leave the folder's time stamp as it was."""
    first = listen(request, database, "first")
    teller = Teller(database)
    before = Path(folder_of(database)).stat().st_mtime_ns
    teller(news("a"))
    second = listen(request, database, "second")
    os.utime(folder_of(database), ns=(before, before))
    teller(news("b"))
    assert first.receive().queues == {"a", "b"}
    assert second.receive().queues == {"b"}


def test_a_quiet_folder_is_not_listed_again(request, database: str):
    listen(request, database)
    os.utime(folder_of(database), (1, 1))
    teller = Teller(database)
    teller(news("a"))
    known = teller._names
    teller(news("b"))
    assert teller._names is known


@pytest.mark.parametrize("length", [10, 60, 95, 120, 200])
def test_paths_longer_than_a_socket_allows_work(request, tmp_path: Path, length: int):
    folder = tmp_path / ("d" * length)
    folder.mkdir()
    database = str(folder / "jobs.db")
    listener = listen(request, database)
    Teller(database)(news("a"))
    assert listener.receive().queues == {"a"}


def test_an_owner_with_a_long_name_can_listen(request, tmp_path: Path):
    folder = tmp_path / ("d" * 120)
    folder.mkdir()
    database = str(folder / "jobs.db")
    owners = [f"{'h' * 64}-4194304-0a1b2c3d_{number}-child" for number in (1, 10)]
    listeners = [listen(request, database, name) for name in owners]
    Teller(database)(news("a"))
    assert [one.receive().queues for one in listeners] == [{"a"}, {"a"}]


@pytest.mark.parametrize(
    "message", [b"", b"\0" * 4096, b"\xff\xfe\xfd", b"\n\n\n", b"\t\t", b"x" * 60_000, "ü\tß\nJ".encode()]
)
def test_garbage_is_only_ever_a_reason_to_look(request, database: str, message: bytes):
    listener = listen(request, database)
    send(database, "one", message)
    heard = listener.receive()
    assert all(isinstance(one, str) and one for one in [*heard.queues, *heard.jobs])
    Teller(database)(news("a"))
    assert "a" in listener.receive().queues


def test_a_full_listener_is_told_no_more_and_nobody_waits_for_it(request, database: str):
    listener = listen(request, database)
    teller = Teller(database)
    for _ in range(5_000):
        teller(news("a"))  # returns at once, whether it got through or not
    heard = 0
    while listener.receive():
        heard += 1
    assert heard
    teller(news("b"))
    assert listener.receive().queues == {"b"}


def test_a_flood_is_taken_a_part_at_a_time(request, database: str, monkeypatch):
    listener = listen(request, database)

    class Flood:
        taken = 0

        def recv(self, _: int) -> bytes:
            self.taken += 1
            return b"a\nJ"

    flood, real = Flood(), listener._socket
    monkeypatch.setattr(listener, "_socket", flood)
    assert listener.receive().queues == {"a"}
    assert flood.taken <= 1_000
    monkeypatch.setattr(listener, "_socket", real)


def test_a_teller_leaves_no_socket_open(request, database: str):
    listen(request, database)
    teller = Teller(database)
    teller(news("a"))
    before = len(names("/proc/self/fd"))
    del teller
    assert len(names("/proc/self/fd")) == before - 1
