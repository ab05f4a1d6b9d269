"""Workers, as every view shows them."""

from __future__ import annotations

import json

from holdfast.engine.figures import statistics
from holdfast.engine.queues import workers
from tests.engine.given import DONE, finish, running


def beat(desk, name, running=0):
    told = {"id": name, "host": "host", "pid": 1, "lanes": json.dumps([["default", "mail", 1]]), "places": 10}
    desk.write(lambda tx: tx.beat(told | {"running": running}))


def runs(desk):
    return {worker["id"]: worker["running"] for worker in desk.read(workers)}


def test_what_workers_run_is_what_runs_at_this_moment(desk):
    beat(desk, "host:1:a", running=27)
    beat(desk, "host:1:ab")
    first = running(desk, owner="host:1:a/1-child")
    running(desk, owner="host:1:a/2-child")
    running(desk, owner="host:1:ab")
    running(desk, owner="host:9:gone/1-child")
    assert runs(desk) == {"host:1:a": 2, "host:1:ab": 1}

    assert finish(desk, first, DONE)
    assert runs(desk) == {"host:1:a": 1, "host:1:ab": 1}
    assert desk.read(statistics)["lines"][0]["running"] == 3
