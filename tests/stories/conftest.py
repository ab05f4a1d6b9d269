"""Stories take turns on the machine: each fills it with processes of its own, and some of them measure waits."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

_TURN = "\0holdfast-stories"  # a name outside the file system: nothing is left behind, not even by a killed run
_LONGEST_WAIT = 1_800


@pytest.fixture(autouse=True)
def turn() -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as holder:
        take(holder)
        yield


def take(holder: socket.socket) -> None:
    give_up = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            holder.bind(_TURN)
        except OSError:
            assert time.monotonic() < give_up, "another run of the stories holds the machine"
            time.sleep(0.1)
        else:
            return
