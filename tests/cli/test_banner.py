"""What a worker says when it starts and when it has stopped; what it says of its store holds no secret."""

from __future__ import annotations

import signal
import subprocess

import pytest

from holdfast.cli.running import _doubts, _without_secret
from holdfast.model.alert import Alarm
from holdfast.worker.application import Described
from tests.cli.given import PROGRAM, clean_environment


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite:///jobs.db?synchronous=full", "sqlite:///jobs.db"),
        ("postgresql://db.example.org/jobs", "postgresql://db.example.org/jobs"),
        ("postgresql://app:hunter2@db.example.org/jobs", "postgresql://...@db.example.org/jobs"),
        ("postgresql://db.example.org/jobs?password=hunter2", "postgresql://db.example.org/jobs"),
        ("postgresql:///jobs?password=hunter2@home&host=/run", "postgresql://..."),
        ("postgresql://app:hunter2?@db.example.org/jobs", "postgresql://..."),
    ],
)
def test_a_store_is_named_without_its_secrets(url, told):
    assert _without_secret(url) == told


def described(*types: tuple[str, str], queues: dict[str, int | None] | None = None) -> Described:
    told = {"url": "sqlite:///jobs.db", "signal": None, "schedules": {}, "limits": {}, "alarm": Alarm().as_json()}
    return Described(told | {"types": [{"type": kind, "queue": queue} for kind, queue in types]}, queues)


def test_a_worker_without_types_is_doubted():
    (doubt,) = _doubts(described())
    assert "nothing will run" in doubt


def test_a_queue_that_no_handler_names_is_doubted():
    (doubt,) = _doubts(described(("ship", "orders"), queues={"ordres": 4, "orders": None}))
    assert doubt.startswith("no handler names queue ordres: ")


def test_queues_that_handlers_name_are_not_doubted():
    assert list(_doubts(described(("ship", "orders"), ("mail", "default")))) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["worker", "up"])
def test_a_worker_warns_when_it_starts_and_says_when_it_has_stopped(tmp_path, command):
    (tmp_path / "empty.py").write_text(
        'import holdfast\n\napp = holdfast.App("sqlite:///jobs.db?synchronous=normal")\n'
    )
    port = ["--port", "0"] if command == "up" else []
    started = subprocess.Popen(
        [*PROGRAM, command, "empty:app", *port],
        cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stderr is not None
    told = [started.stderr.readline() for _ in range(4)]
    started.send_signal(signal.SIGTERM)
    rest = started.communicate(timeout=60)[1]
    assert sum(line.startswith("  warning: it has no types") for line in [*told, *rest.splitlines()]) == 1
    assert rest.endswith("stopped\n")
    assert started.returncode == 0
