"""The whole way: the hook as a cold process, a real worker, the real SDK, a server on a socket; and a worker that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import wait_for
from tests.pipelines.capture import claude_server as claude
from tests.pipelines.capture.hooks import files_with
from tests.pipelines.capture.test_claude_learnings import QUOTE, answering, learning
from tests.pipelines.capture.test_jobs import LESSON, SESSION

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


@contextmanager
def working(home, *options):
    """A worker in a process group of its own, which is gone afterwards."""
    command = [sys.executable, "-m", "holdfast.cli", "worker", "holdfast_pipelines.capture.work:app", *options]
    environment = home.environment | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "ANTHROPIC_LOG": "debug"}
    log = home.folder.parent / "worker.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, env=environment, cwd=home.project, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=40)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until(home, sql, expected):
    wait_for(lambda: home.rows(sql) == expected, lambda: home.rows(sql))


def say(home, said):
    for role, text in said:
        kind = {"user": ("UserPromptSubmit", "prompt"), "assistant": ("Stop", "last_assistant_message")}[role]
        home.event(kind[0], **{kind[1]: text})


def test_a_session_is_read_learned_from_and_paid_for(home):
    reads = answering(learning())

    def answer(body):
        if "Ottokar" in json.dumps(body["messages"]):
            return claude.findings("Ottokar Wiesenthal")
        return reads(body)

    with claude.serving(answer) as server:
        home.environment |= claude.environment(home.folder, server.url)
        say(home, SESSION)
        home.event("UserPromptSubmit", prompt="Thanks, I tell Ottokar Wiesenthal.")
        home.event("SessionEnd")
        with working(home):
            until(home, "select count(*) from learnings", [(1,)])
            until(home, "select count(*) from job_queue where type = 'capture_scrub' and status <> 'completed'", [(0,)])
        assert home.rows("select distinct validated_by from messages") == [("claude-haiku-5-5",)]
        assert home.rows("select json_extract(metadata, '$.extractor') from learnings") == [("claude-haiku-5-5",)]
        assert home.rows("select calls, micros from spending") == [(6, 6 * 150)]
        assert home.rows("select count(*) from spending_held") == [(0,)]
        assert server.connections == 6
    assert files_with(home.folder, b"Ottokar") == []
    assert files_with(home.folder.parent, claude.KEY.encode()) == []  # the worker's output, at the level debug, too
    assert files_with(home.folder.parent, QUOTE.encode()) == ["capture.db"]
    assert LESSON.encode()[:40] in home.database.read_bytes()


def test_what_a_killed_worker_set_aside_stays_set_aside(home):
    asked = threading.Event()
    with claude.serving(lambda _: None) as server:

        def waits(_):
            asked.set()
            server.released.wait(60)
            return claude.findings()

        server.answer = waits
        home.environment |= claude.environment(home.folder, server.url, HOLDFAST_CAPTURE_CLAUDE_DAY="0.004")
        home.event("UserPromptSubmit", prompt="hello")
        with working(home) as worker:
            assert asked.wait(60)
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
        assert home.rows("select count(*) from spending_held") == [(1,)]
        server.answer = lambda _: claude.findings()
        home.rows("update job_queue set lease_until = '2020-01-01T00:00:00.000Z' where status = 'in_progress'")
        with working(home):
            until(home, "select validated_by from messages", [("rules-1",)])  # what is left of the cap is too little
        assert server.connections == 1
