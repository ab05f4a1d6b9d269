"""Alerts: told once, with an all-clear; a sink that fails harms nobody."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine import jobs
from holdfast.engine.desk import Desk
from holdfast.model.alert import Alert, Thresholds
from holdfast.upkeep.alerts import Alerts, judge, to_command, to_log
from tests.patience import wait_for
from tests.upkeep.given import waiting

LINE: dict[str, Any] = {
    "queue": "default",
    "type": "work",
    "waiting": 0,
    "oldest_s": 0,
    "completed_1h": 0,
    "ended_badly_1h": 0,
    "run_p95_ms": None,
    "dead": 0,
}


def judged(**facts: Any) -> list[tuple[str, str]]:
    return [(one.rule, one.severity) for one in judge({"lines": [LINE | facts]}, Thresholds())]


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"waiting": 1_001}, ("depth", "warning")),
        ({"oldest_s": 3_601}, ("age", "warning")),
        ({"completed_1h": 94, "ended_badly_1h": 6}, ("success", "critical")),
        ({"dead": 11}, ("dead_letters", "critical")),
        ({"run_p95_ms": 10_001}, ("p95", "warning")),
    ],
)
def test_a_fact_beyond_its_threshold_is_an_alert(facts: dict[str, Any], rule: tuple[str, str]):
    assert judged(**facts) == [rule]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"waiting": 1_001}, "waiting jobs of work in default: 1,001, more than 1,000"),
        ({"oldest_s": 3_601}, "oldest waiting job of work in default: 3,601 s, older than 3,600 s"),
        ({"completed_1h": 20, "ended_badly_1h": 2}, "jobs of work in default that ended well: 90.9 %, less than 95 %"),
        ({"completed_1h": 9_499, "ended_badly_1h": 501}, "jobs of work in default that ended well: 94.9 %, less than 95 %"),
        ({"dead": 11}, "dead letters of work in default: 11, more than 10"),
        ({"run_p95_ms": 10_001}, "95th percentile of the runs of work in default: 10.001 s, longer than 10 s"),
    ],
)  # fmt: skip
def test_an_alert_says_which_way_its_threshold_was_crossed(facts: dict[str, Any], text: str):
    assert [one.text for one in judge({"lines": [LINE | facts]}, Thresholds())] == [text]


@pytest.mark.parametrize(
    "facts",
    [
        {"waiting": 1_000},
        {"oldest_s": 3_600},
        {"completed_1h": 95, "ended_badly_1h": 5},
        {"completed_1h": 0, "ended_badly_1h": 19},  # too few to say anything
        {"dead": 10},
        {"run_p95_ms": 10_000},
    ],
)
def test_a_fact_at_its_threshold_is_none(facts: dict[str, Any]):
    assert judged(**facts) == []


def test_an_alert_is_told_once_and_cleared_once(desk: Desk):
    told: list[Alert] = []
    alerts = Alerts(desk, Thresholds(depth=2), [told.append])
    assert alerts.run_once() == {"told": 0, "cleared": 0}
    ids = waiting(desk, 3)
    assert alerts.run_once() == {"told": 1, "cleared": 0}
    assert alerts.run_once() == {"told": 0, "cleared": 0}
    for job_id in ids:
        desk.write(jobs.cancel, job_id)
    assert alerts.run_once() == {"told": 0, "cleared": 1}
    assert alerts.run_once() == {"told": 0, "cleared": 0}
    assert [(one.rule, one.cleared, one.value, one.threshold) for one in told] == [
        ("depth", False, 3, 2),
        ("depth", True, 3, 2),
    ]
    assert told[1].text == f"waiting jobs of {told[1].type} in {told[1].queue}: no longer more than 2"


def test_a_sink_that_fails_does_not_silence_the_others(desk: Desk, caplog):
    told: list[Alert] = []

    def broken(_: Alert) -> None:
        raise OSError("no such sink")

    waiting(desk, 3)
    with caplog.at_level(logging.ERROR):
        Alerts(desk, Thresholds(depth=2), [broken, told.append]).run_once()
    assert len(told) == 1
    assert "could not be delivered" in caplog.text


def test_the_log_gets_a_warning_and_an_all_clear(desk: Desk, caplog):
    alert = next(judge({"lines": [LINE | {"dead": 11}]}, Thresholds()))
    with caplog.at_level(logging.INFO, logger="holdfast.alerts"):
        to_log(alert)
        to_log(Alert(alert.rule, "q", "t", "critical", 1, 2, cleared=True, text="is back"))
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.INFO]
    assert caplog.records[0].alert["rule"] == "dead_letters"


def test_a_command_gets_the_alert_as_json(tmp_path: Path):
    target = tmp_path / "alert.json"
    program = f"import sys; open({str(target)!r}, 'w').write(sys.stdin.read())"
    alert = next(judge({"lines": [LINE | {"waiting": 2_000}]}, Thresholds()))
    to_command([sys.executable, "-c", program])(alert)
    wait_for(lambda: target.exists() and target.read_text(), "the command")
    assert json.loads(target.read_text()) == alert.as_json()
    assert json.loads(target.read_text())["severity"] == "warning"


def test_a_command_that_fails_is_told_and_harms_nobody(desk: Desk, caplog):
    waiting(desk, 3)
    sinks = [to_command([sys.executable, "-c", "raise SystemExit(3)"]), to_command(["there-is-no-such-command"])]
    assert Alerts(desk, Thresholds(depth=2), sinks).run_once() == {"told": 1, "cleared": 0}
    wait_for(lambda: caplog.text.count("could not be delivered") == 2, "both to fail")
