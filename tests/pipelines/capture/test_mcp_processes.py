"""Servers, clients and workers as processes: who shares the work, and who ends with whom."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.patience import wait_for
from tests.pipelines.capture.asker import SERVER, Asker, environment_of, processes_of, raw_server, tell
from tests.pipelines.capture.test_mcp import SESSION

pytestmark = pytest.mark.slow

OTHER = (
    "The timeout was caused by a missing index: each search read the whole table of orders.\n\n"
    "Use a guarded upsert with a unique key instead of a delete and an insert. Always look at the plan first:\n\n"
    "```sql\nexplain query plan select * from orders where customer = :customer\n```\n\n"
    "The root cause of this bug stays hidden as long as the table is small."
)
CLIENT = """
import asyncio, json, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.executable, args=sys.argv[2:], env=json.loads(sys.argv[1]))
    async with Client(server) as client:
        await client.list_tools()
        print("connected", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def workers(home) -> list[int]:
    """The templates of workers: one for each worker that works."""
    return [number for number, command in processes_of(home).items() if "holdfast.worker.template" in command]


def finds(asker, words: str) -> bool:
    return asker.data("search_learnings", query=words)["matched"] == "all words"


def at_work(home) -> bool:
    """A template, and the child that it has forked."""
    return len(workers(home)) == 2


def test_two_servers_share_one_worker_and_the_second_takes_over(home):
    other = [*SESSION[:-1], ("assistant", OTHER)]
    with Asker(home) as first:
        wait_for(lambda: at_work(home), "a worker works")
        with Asker(home) as second:
            tell(home, SESSION)
            for asker in (first, second):
                wait_for(lambda asker=asker: finds(asker, "guarded update"), "both find it")
            assert at_work(home)
            assert sum("companion" in command for command in processes_of(home).values()) == 2
            first.leave()
            tell(home, other, "session-2")
            wait_for(lambda: finds(second, "guarded upsert"), "the second has a worker now")
    wait_for(lambda: not processes_of(home), "nothing is left")


@pytest.mark.parametrize("victim", ["client", "server"])
def test_whoever_is_killed_nothing_is_left_behind(home, victim):
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, json.dumps(environment_of(home)), *SERVER], cwd=home.project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert client.stdout.readline() == "connected\n"
        wait_for(lambda: at_work(home), "the worker works")
        (server,) = [one for one, command in processes_of(home).items() if command.rstrip().endswith("capture mcp")]
        os.kill(client.pid if victim == "client" else server, signal.SIGKILL)
        wait_for(lambda: not processes_of(home), "the worker ends")
    finally:
        client.kill()
        client.communicate()


def test_a_worker_ends_in_good_order_while_it_starts(home):
    server = raw_server(home)
    wait_for(lambda: any("companion" in command for command in processes_of(home).values()), "the companion starts")
    server.communicate(timeout=60)
    assert server.returncode == 0
    wait_for(lambda: not processes_of(home), "nothing is left")


def test_a_server_that_has_no_place_for_a_worker_answers_all_the_same(home):
    home.folder.write_text("a file where the folder should be")
    with Asker(home) as asker:
        assert asker.error("search_learnings", query="x").startswith("STORE_MISSING: ")
        assert "no worker is carried: File exists" in asker.errors()
