from __future__ import annotations

import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.ids import _forget, is_id, made_at, new_ids

NOW = 1_737_028_800_000


@pytest.fixture(autouse=True)
def own_count():
    """The count belongs to the process: begin anew, and leave no far future behind."""
    _forget()
    yield
    _forget()


def test_an_id_has_26_letters_that_tell_its_time():
    (only,) = new_ids(2**47, 1)
    assert is_id(only)
    assert len(only) == 26
    assert new_ids(2**47, 1)[0][:10] == only[:10]


def test_no_ids_are_no_ids():
    assert new_ids(NOW, 0) == []


@given(st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, 5)), max_size=20))
def test_ids_of_one_process_rise_strictly_whatever_the_clock_does(calls):
    ids = [each for at, count in calls for each in new_ids(at, count)]
    assert ids == sorted(set(ids))
    assert all(map(is_id, ids))


def test_a_million_ids_of_one_millisecond_differ():
    assert len(set(new_ids(NOW, 200_000) + new_ids(NOW, 200_000))) == 400_000


def test_threads_never_share_an_id():
    found: list[str] = []

    def make():
        mine = []
        for _ in range(2_000):
            mine += new_ids(NOW, 2)
        found.extend(mine)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 32_000


def test_a_forked_child_does_not_continue_its_parents_count():
    at = time.time_ns() // 1_000_000 + 10**9
    new_ids(at, 1)
    children = [child_ids(at) for _ in range(4)]
    mine = new_ids(at, 100)
    everything = [each for ids in [*children, mine] for each in ids]
    assert len(set(everything)) == len(everything) == 500


def child_ids(at: int) -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, " ".join(new_ids(at, 100)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return text.split()


@pytest.mark.parametrize(
    "text", ["", "0" * 25, "0" * 27, "8" + "0" * 25, "0" * 25 + "U", "0" * 25 + "a", "0" * 25 + "é"]
)
def test_what_has_another_form_is_no_id(text):
    assert not is_id(text)


def test_the_highest_id_is_an_id():
    assert is_id("7" + "Z" * 25)


def test_a_process_that_forgot_its_count_begins_at_another_place():
    at = 2**46
    (before,) = new_ids(at, 1)
    _forget()
    (after,) = new_ids(at, 1)
    assert before[:10] == after[:10]
    assert before[10:20] != after[10:20]


@given(st.integers(0, 2**48 - 1))
def test_an_id_tells_when_it_was_made(at):
    _forget()
    assert made_at(new_ids(at, 1)[0]) == at
