"""The files beside the database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from holdfast_pipelines.capture.places import Places, own_key


def keys_of_eight(folder):
    """What eight threads get that ask at once."""
    places, together = Places({"HOLDFAST_CAPTURE_FOLDER": str(folder)}), Barrier(8)

    def key(_):
        together.wait()
        return own_key(places)

    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(key, range(8)))


def test_threads_that_meet_half_a_key_at_once_get_the_same_new_one(tmp_path):
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "capture.key").write_bytes(b"half")
        assert len(keys_of_eight(folder)) == 1
        assert (folder / "capture.key.unusable").read_bytes() == b"half"


def test_threads_that_need_the_first_key_at_once_get_the_same_one(tmp_path):
    for number in range(20):
        folder = tmp_path / str(number)
        assert len(keys_of_eight(folder)) == 1
        assert [path.name for path in folder.iterdir()] == ["capture.key"]
