"""Workers are killed at every point of an upload; it ends with one pinned CID and one transaction all the same.

A gate before the node and one before the chain kill the worker's processes before a request is handed on, after it was
done and before its answer is there, or a few milliseconds later, when the answer is being stored. A sample of these
points, unless HOLDFAST_UPLOADS=all asks for all of them.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from threading import Event, Thread, Timer

import pytest

from holdfast_pipelines.capture import learnings
from tests.patience import wait_for
from tests.pipelines.capture.gate import Answer
from tests.pipelines.capture.sharing import ALL, TEXT, Sharer, kill

pytestmark = pytest.mark.slow

REQUESTS = [
    ("pin/ls", 1), ("add", 1), ("pin/ls", 2), ("pin/ls", 3), ("eth_chainId", 1), ("eth_getCode", 1), ("eth_call", 1),
    ("eth_estimateGas", 1), ("eth_maxPriorityFeePerGas", 1), ("eth_getBlockByNumber", 1),
    ("eth_getTransactionCount", 1), ("eth_sendRawTransaction", 1), ("eth_getBlockByNumber", 2),
    ("eth_getTransactionReceipt", 1), ("eth_call", 2),
]  # fmt: skip
LATER = (0.0, 0.002, 0.005, 0.01, 0.02)  # seconds after an answer was handed over
POINTS = [(what, number, when) for what, number in REQUESTS for when in ("before", "after", *LATER)]
SAMPLE = [("add", 1, "after"), ("eth_sendRawTransaction", 1, "after")]


@pytest.fixture
def crew(tmp_path):
    made = Sharer(tmp_path, beside_workers=True)
    made.miner = Miner(made)
    yield made
    made.miner.close()
    made.close()


class Miner(Thread):
    """Blocks come quickly; but none from a kill until the next worker has looked after what was signed. So that one must
    know of it from the database alone.
    """

    def __init__(self, sharer):
        super().__init__(daemon=True)
        self._sharer, self._ended, self.held = sharer, Event(), Event()
        self.start()

    def run(self):
        while not self._ended.wait(0.3):
            if not self.held.is_set():
                self._sharer.anvil.mine()

    def close(self):
        self._ended.set()
        self.join()


class Killer:
    """A rule for both gates: the worker dies at one point."""

    def __init__(self, miner, what, number, when):
        self._miner = miner
        self.point, self.when = (what, number), when
        self.seen: Counter[str] = Counter()
        self.worker = None
        self.struck = Event()

    def __call__(self, passing):
        if not passing.done:
            self.seen[passing.what] += 1
        if self.struck.is_set() and passing.what in {"eth_getTransactionReceipt", "eth_getLogs"}:
            self._miner.held.clear()
        if self.struck.is_set() or (passing.what, self.seen[passing.what]) != self.point:
            return None
        if passing.done != (self.when != "before"):
            return None
        if isinstance(self.when, float):
            Timer(self.when, self.strike).start()
            return None
        self.strike()
        return Answer(503)

    def strike(self):
        self._miner.held.set()
        kill(self.worker)
        self.worker.wait()
        self.struck.set()


def finish(sharer, *names):
    def unfinished():
        return [sharer.upload(name) for name in names if sharer.upload(name).status != "confirmed"]

    wait_for(lambda: not unfinished(), lambda: (unfinished(), sharer.job()))


def test_killed_at_any_point_it_ends_with_one_pin_and_one_transaction(crew):
    names, worker = [], crew.worker()
    try:
        for number, point in enumerate(POINTS if ALL else SAMPLE):
            killer = Killer(crew.miner, *point)
            killer.worker = worker
            crew.ipfs.rule = crew.chain.rule = killer
            crew.miner.held.clear()  # the one before may have been confirmed when its worker died
            names.append(crew.approved(f"{TEXT} Number {number}."))
            assert killer.struck.wait(60), (point, killer.seen, crew.upload(names[-1]))
            worker = crew.worker()
            finish(crew, names[-1])
        print(f"\n{len(names)} workers killed")  # noqa: T201
    finally:
        kill(worker)
        worker.wait()
    crew.assert_shared_once(*names)


def test_killed_again_and_again_it_still_is_one(crew):
    """Four kills are what five attempts allow."""
    points = [("add", 1, "after"), ("eth_getTransactionCount", 1, 0.005), ("eth_sendRawTransaction", 1, "after")]
    name = crew.learning()
    learnings.approve(crew.app, name)
    for point in points if ALL else points[::2]:
        killer = Killer(crew.miner, *point)
        crew.ipfs.rule = crew.chain.rule = killer
        killer.worker = worker = crew.worker()
        if not killer.struck.wait(60):
            kill(worker)
            pytest.fail(f"the worker never came to {point}: {crew.upload(name)}")
    worker = crew.worker()
    try:
        finish(crew, name)
    finally:
        kill(worker)
        worker.wait()
    crew.assert_shared_once(name)


def test_two_workers_share_one_account(tmp_path):
    """And, of all, one answer of the chain in twenty is lost."""
    sharer = Sharer(tmp_path, block_time=1, beside_workers=True)
    sharer.environment["HOLDFAST_CAPTURE_CONFIRMATIONS"] = "3"
    lose = random.Random(7)
    sharer.chain.rule = lambda passing: Answer(503) if passing.done and ALL and lose.random() < 0.05 else None
    count = 30 if ALL else 4
    workers = [sharer.worker(), sharer.worker()]
    try:
        started = time.monotonic()
        names = [sharer.approved(f"{TEXT} Number {number}.") for number in range(count)]
        finish(sharer, *names)
        print(f"\n{count} uploads at once, two workers: {time.monotonic() - started:.1f} s")  # noqa: T201
    finally:
        for worker in workers:
            kill(worker)
            worker.wait()
    sharer.assert_shared_once(*names)
    assert sorted(int(one["nonce"], 16) for one in sharer.transactions()) == list(range(count))
    assert {job.failed for job in sharer.app.jobs(type="mine_upload", limit=100)} == {0}
    sharer.close()


def test_an_upload_takes_seconds(tmp_path):
    """From the approval to the third block, blocks of a second."""
    sharer = Sharer(tmp_path, block_time=1, beside_workers=True)
    sharer.environment["HOLDFAST_CAPTURE_CONFIRMATIONS"] = "3"
    worker, took = sharer.worker(), []
    try:
        for number in range(40 if ALL else 3):
            started = time.monotonic()
            name = sharer.approved(f"{TEXT} Number {number}.")
            finish(sharer, name)
            took.append(time.monotonic() - started)
    finally:
        kill(worker)
        worker.wait()
        sharer.close()
    quantiles = statistics.quantiles(took, n=20)
    figures = f"p50 {statistics.median(took):.1f} s, p95 {quantiles[18]:.1f} s, most {max(took):.1f} s"
    print(f"\n{len(took)} uploads: {figures}")  # noqa: T201
    assert quantiles[18] < 30
