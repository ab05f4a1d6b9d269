"""`app.alerts`: the code says when and who, and a worker tells them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import App, BadInput
from holdfast.testing import drain
from holdfast.upkeep.alerts import alerts_of
from holdfast.worker.application import Described, describe
from tests.patience import wait_for

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import holdfast

app = holdfast.App("sqlite:///jobs.db")

@app.job(queue="nobody")
def work(): ...

@app.job
def page(**alert):
    open("told", "a").write(alert["rule"] + " " + alert["type"] + "\\n")

app.alerts(depth=2, every=1, job=page)
"""


@pytest.fixture
def app(tmp_path):
    with App(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal") as app:
        yield app


def alerts(app):
    """As a supervisor has them, which never sees the code."""
    return alerts_of(app.desk, Described(json.loads(json.dumps(describe(app))), None).alarm)


def test_a_job_is_told_and_so_is_an_endpoint(app):
    told = []

    @app.job(queue="idle")
    def work() -> None: ...

    @app.job(queue="ops")
    def page(rule: str, cleared: bool, **alert: object) -> None:
        told.append((rule, cleared, alert))

    app.alerts(depth=1, job=page, webhook="ops")
    watching = alerts(app)
    app.enqueue_many([work.call(), work.call()])
    assert watching.run_once() == {"told": 1, "cleared": 0}
    assert watching.run_once() == {"told": 0, "cleared": 0}
    (delivery,) = app.jobs(queue="webhooks")
    assert (delivery.payload["endpoint"], delivery.payload["event"]) == ("ops", "alert.depth")
    assert delivery.payload["id"].startswith("alert_")
    assert delivery.payload["body"]["data"]["value"] == 2
    drain(app)
    alert = {"queue": "idle", "type": "work", "severity": "warning", "value": 2, "threshold": 1}
    assert told == [("depth", False, alert | {"text": "waiting jobs of work in idle: 2, more than 1"})]


def test_without_a_word_only_the_log_is_told(app, caplog):
    app.enqueue_many([app.job(work).call() for _ in range(2)])
    assert alerts(app).run_once() == {"told": 0, "cleared": 0}
    app.alerts(depth=1)
    assert alerts(app).run_once() == {"told": 1, "cleared": 0}
    assert "waiting jobs of work in default: 2, more than 1" in caplog.text
    assert len(app.jobs()) == 2


def work() -> None: ...


def test_a_job_that_cannot_take_an_alert_is_refused_at_once(app):
    with pytest.raises(BadInput, match=r"work cannot take an alert .*: let it take rule, queue, .*, or \*\*alert"):
        app.alerts(job=app.job(work))
    with pytest.raises(BadInput, match=r"job is a handler, made by @app\.job, not"):
        app.alerts(job=work)
    assert app.alarm is None


@pytest.mark.slow
def test_a_worker_tells_the_job(tmp_path):
    (tmp_path / "mine.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "holdfast", "worker", "mine:app", "--queues", "default"]
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"}
    with App(f"sqlite:///{tmp_path}/jobs.db") as app:
        for _ in range(3):
            app.enqueue("work", queue="nobody")
        worker = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
        try:
            wait_for((tmp_path / "told").exists, "the job that is told")
        finally:
            worker.terminate()
            worker.wait(60)
    assert (tmp_path / "told").read_text() == "depth work\n"
