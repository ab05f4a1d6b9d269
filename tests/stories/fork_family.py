"""Processes that fork while they use Holdfast, as servers and scripts do.

Run as `python -m tests.stories.fork_family SCENE URL TIMES`; prints the ids of all jobs that were enqueued.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from holdfast import App, StoreError


def forks_beside_running_threads(app: App, times: int) -> list[str]:
    """Parents and children enqueue, from threads and from coroutines."""
    with busy_threads(app, 1) as ids:
        ids.extend(asyncio.run(enqueue_in_coroutines(app)))
        for _ in range(times):
            ids.extend(in_child(lambda: [app.enqueue("child").id, *asyncio.run(enqueue_in_coroutines(app))]))
        ids.extend(asyncio.run(enqueue_in_coroutines(app)))
    return ids


def forks_in_mid_commit(app: App, times: int) -> list[str]:
    """Four threads are nearly always in a commit when the fork comes."""
    with busy_threads(app, 4) as ids:
        for _ in range(times):
            ids.extend(in_child(lambda: [app.enqueue("child").id for _ in range(2)]))
    return ids


def forks_by_multiprocessing(app: App, times: int) -> list[str]:
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    with busy_threads(app, 1) as ids:
        for _ in range(times):
            children = [context.Process(target=lambda: answers.put(app.enqueue("child").id)) for _ in range(3)]
            for child in children:
                child.start()
            ids += [answers.get() for _ in children]
            for child in children:
                child.join()
                assert child.exitcode == 0, "a child failed"
    return ids


def forks_inside_a_transaction(app: App, times: int) -> list[str]:
    """The parent's transaction commits as if nothing had been; the child is told at once what is wrong."""
    ids = []
    for _ in range(times):
        with app.transaction():
            ids.append(app.enqueue("before the fork").id)
            answer = fork(lambda: [code_of(lambda: app.enqueue("child"))])
            ids.append(app.enqueue("after the fork").id)
        assert answer() == ["FORKED_IN_TRANSACTION"]
    return ids


def code_of(call: Callable[[], object]) -> str:
    try:
        call()
    except StoreError as error:
        return error.code
    return "nothing was wrong"


async def enqueue_in_coroutines(app: App) -> list[str]:
    return [handle.id for handle in await asyncio.gather(*(app.aenqueue("coroutine") for _ in range(5)))]


@contextmanager
def busy_threads(app: App, count: int) -> Iterator[list[str]]:
    """Threads that enqueue without a pause; all ids are in the list once the block is left."""
    ids: list[str] = []
    stop = Event()

    def enqueue() -> list[str]:
        mine = []
        while not stop.is_set():
            mine.append(app.enqueue("thread").id)
        return mine

    with ThreadPoolExecutor(count) as threads:
        running = [threads.submit(enqueue) for _ in range(count)]
        try:
            yield ids
        finally:
            stop.set()
        for one in running:
            ids += one.result()


def in_child(call: Callable[[], list[str]]) -> list[str]:
    return fork(call)()


def fork(call: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Run a call in a forked child; the answer waits for it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, " ".join(call()).encode())
        except BaseException:  # noqa: BLE001  # a child never goes on as its parent
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    os.close(writer)

    def answer() -> list[str]:
        with os.fdopen(reader) as pipe:
            ids = pipe.read().split()
        assert os.waitpid(child, 0)[1] == 0, "a child failed"
        return ids

    return answer


if __name__ == "__main__":
    with App(sys.argv[2]) as application:
        first = application.enqueue("first").id  # the connections are open before the first fork
        sys.stdout.write(json.dumps([first, *globals()[sys.argv[1]](application, int(sys.argv[3]))]))
