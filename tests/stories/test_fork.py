"""Forks: parent and children go on using the store; nothing is lost, nothing is written twice, the file is whole.

Full size: HOLDFAST_FORKS=2000 pytest -s tests/stories/test_fork.py
"""

from __future__ import annotations

import http.client
import signal
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.stories import fork_family
from tests.stories.crew import Crew, size, tell

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("scene", "times"),
    [
        (fork_family.forks_beside_running_threads, 50),
        (fork_family.forks_in_mid_commit, 200),
        (fork_family.forks_by_multiprocessing, 20),
        (fork_family.forks_inside_a_transaction, 50),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_nothing_is_lost_when_a_process(tmp_path, scene, times):
    path = tmp_path / "jobs.db"
    times = size("HOLDFAST_FORKS", times)
    with Crew(tmp_path) as crew:
        crew.start(fork_family.__name__, scene.__name__, f"sqlite:///{path}", times)
        (ids,) = crew.reports(seconds=60 + times)
    tell(scene.__name__, {"times": times, "jobs": len(ids)})
    assert differences(path, ids) == []


def test_a_preloaded_web_server_loses_no_request(tmp_path):
    path = tmp_path / "jobs.db"
    with socket.create_server(("127.0.0.1", 0)) as server, Crew(tmp_path) as crew:
        gunicorn = crew.start(
            "gunicorn", "--preload", "--workers", 3, "--threads", 4, "--no-control-socket", "--log-level", "warning",
            "--bind", f"fd://{server.fileno()}", "tests.stories.fork_site:site",
            environment={"HOLDFAST_URL": f"sqlite:///{path}"}, pass_fds=(server.fileno(),),
        )  # fmt: skip
        with ThreadPoolExecutor(12) as clients:
            answers = list(clients.map(lambda _: request_many(server.getsockname()[1], 40), range(12)))
        gunicorn.send_signal(signal.SIGTERM)
        gunicorn.communicate(timeout=60)
        assert gunicorn.returncode == 0, crew.errors()
        assert crew.errors() == ""
    ids = [job_id for some in answers for job_id in some]
    assert len(ids) == 480
    assert differences(path, ids, only="request") == []


def request_many(port: int, times: int) -> list[str]:
    """Each request on a connection of its own, so that all workers get their share."""
    answers = []
    for _ in range(times):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("POST", "/")
            response = connection.getresponse()
            assert response.status == 200
            answers.append(response.read().decode())
        finally:
            connection.close()
    return answers


def differences(path: Path, ids: list[str], *, only: str | None = None) -> list[str]:
    """How the file differs from what callers were told: nobody was killed, so both must be the same."""
    connection = apsw.Connection(str(path))
    try:
        wrong = [text for (text,) in connection.execute("pragma integrity_check").fetchall() if text != "ok"]
        query = "select id from job_queue where :only is null or type = :only"
        found = {job_id for (job_id,) in connection.execute(query, {"only": only})}
    finally:
        connection.close()
    wrong += [f"{job_id} was given {times} times" for job_id, times in Counter(ids).items() if times > 1]
    wrong += [f"{job_id} is lost" for job_id in set(ids) - found]
    return wrong + [f"{job_id} was never asked for" for job_id in found - set(ids)]
