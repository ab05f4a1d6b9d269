"""What processes tell over a network that end at once, or were forked."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.signals.networks import heard, hears_of, news, proven, url_of

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow

TELLER = """
    import os, sys
    from holdfast.signals.relay import RelaySignal
    from tests.signals.networks import NETWORKS, news
    signal = RelaySignal(NETWORKS[sys.argv[1]](sys.argv[2]), lambda: "")
    signal.tell(news("elsewhere", jobs=("J",)))
"""


CHILD = """
    import multiprocessing, sys
    from tests.signals.networks import NETWORKS, news
    from holdfast.signals.relay import RelaySignal

    signal = RelaySignal(NETWORKS[sys.argv[1]](sys.argv[2]), lambda: "")

    def child():
        signal.tell(news("elsewhere", jobs=("J",)))

    one = multiprocessing.get_context("fork").Process(target=child)
    one.start()
    one.join()
"""


def run_script(text, *arguments):
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *arguments], check=True, timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_what_one_process_tells_another_one_hears_even_if_the_first_ends_at_once(kind, open_signal, listen):
    ear = listen(open_signal(kind))
    run_script(TELLER, kind, url_of(kind))
    found = heard(ear)
    assert found.queues == {"elsewhere"}
    assert found.jobs == ["J"]


def test_a_child_of_multiprocessing_tells_what_it_has_to_before_it_ends(kind, open_signal, listen):
    """It runs no `atexit`."""
    ear = listen(open_signal(kind))
    run_script(CHILD, kind, url_of(kind))
    assert heard(ear).jobs == ["J"]


def test_a_forked_child_tells_and_hears_by_itself(kind, open_signal, listen):
    signal = open_signal(kind)
    ear = listen(signal)
    signal.tell(news("before"))
    assert hears_of(ear, "before")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            own = signal.listen("child")
            assert proven(own)
            signal.tell(news("from the child"))
            code = 0 if hears_of(own, "from the child") and hears_of(own, "from the parent") else 2
            signal.close()
        finally:
            os._exit(code)
    assert hears_of(ear, "from the child")
    give_up = time.monotonic() + 20
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        assert time.monotonic() < give_up, "the child did not end"
        signal.tell(news("from the parent"))
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(done[1]) == 0
    signal.tell(news("after"))
    assert hears_of(ear, "after")
