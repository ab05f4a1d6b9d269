"""One process of the power-cut story: enqueues and finishes jobs, and marks in the log what it was promised.

Run as `python -m tests.stories.power_worker URL LOG JOBS SEED`. One thread enqueues, one finishes, so commits of
several callers are grouped; checkpoints come every 40 pages, and now and then the log is cut to nothing.
"""

from __future__ import annotations

import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from holdfast import App
from holdfast.model.outcome import Returned
from tests.stories.recording import Promises
from tests.stories.runs import Ended, exchange, order_of


def main(url: str, log: str, jobs: int, seed: int) -> None:
    promises, all_enqueued = Promises(log), Event()
    with App(url) as app, ThreadPoolExecutor(2) as threads:
        checkpoint_often(app)
        both = [
            threads.submit(enqueue_all, app, promises, jobs, random.Random(seed), all_enqueued),
            threads.submit(finish_all, app, promises, random.Random(-seed), all_enqueued),
        ]
        for one in both:
            one.result()


def checkpoint_often(app: App) -> None:
    app.enqueue("warm-up")
    app.desk.store._writer.execute("pragma wal_autocheckpoint=40")


def enqueue_all(app: App, promises: Promises, jobs: int, chance: random.Random, all_enqueued: Event) -> None:
    mail = app.job(type="mail")(lambda text: text)
    try:
        while jobs > 0:
            many = chance.choice((1, 1, 1, 5))
            handles = app.enqueue_many([mail.call(text="x" * chance.randrange(400)) for _ in range(many)])
            for handle in handles:
                promises.enqueued(handle.id)
            jobs -= many
    finally:
        all_enqueued.set()


def finish_all(app: App, promises: Promises, chance: random.Random, all_enqueued: Event) -> None:
    """Exchange until nothing waits and no more comes."""
    ended: list[Ended] = []
    while True:
        last = all_enqueued.is_set()
        accepted, claims = exchange(app, ended, order_of("mail", limit=3))
        assert all(accepted), "no lease ran out, yet a finish was refused"
        for claim, outcome in ended:
            promises.finished(claim.id, outcome.result)
        if last and not claims:
            return
        ended = [(claim, Returned(f'"{os.urandom(8).hex()}"')) for claim in claims]
        if chance.random() < 0.02:
            cut_the_log(app)


def cut_the_log(app: App) -> None:
    app.desk._take_turn()
    try:
        app.desk.store.checkpoint()
    finally:
        app.desk._give_turn()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
