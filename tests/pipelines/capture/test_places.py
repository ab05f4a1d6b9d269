"""The files beside the database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from holdfast_pipelines.capture.places import Places, own_key


def test_threads_that_meet_half_a_key_at_once_get_the_same_new_one(tmp_path):
    for number in range(20):
        places, together = Places({"HOLDFAST_CAPTURE_FOLDER": str(tmp_path / str(number))}), Barrier(8)
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "capture.key").write_bytes(b"half")

        def key(places=places, together=together):
            together.wait()
            return own_key(places)

        with ThreadPoolExecutor(8) as pool:
            keys = {one.result() for one in [pool.submit(key) for _ in range(8)]}
        assert len(keys) == 1
        assert (tmp_path / str(number) / "capture.key.unusable").read_bytes() == b"half"


def test_threads_that_need_the_first_key_at_once_get_the_same_one(tmp_path):
    for number in range(20):
        places, together = Places({"HOLDFAST_CAPTURE_FOLDER": str(tmp_path / str(number))}), Barrier(8)

        def key(places=places, together=together):
            together.wait()
            return own_key(places)

        with ThreadPoolExecutor(8) as pool:
            keys = {one.result() for one in [pool.submit(key) for _ in range(8)]}
        assert len(keys) == 1
        assert [path.name for path in (tmp_path / str(number)).iterdir()] == ["capture.key"]
