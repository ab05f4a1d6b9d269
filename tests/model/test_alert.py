"""What an application says of alerts is checked, and comes to its supervisor as it was."""

from __future__ import annotations

import json

import pytest

from holdfast.model.alert import Alarm, Thresholds, alarm
from holdfast.model.errors import BadInput

NOBODY = {"every": 300, "job": None, "webhook": None, "command": ()}


def test_what_is_said_survives_the_way_as_text():
    said = alarm({"depth": 5, "success": 0.5}, every=1, job=("page", "ops"), webhook="ops", command=["logger", "-t"])
    assert said == Alarm(Thresholds(depth=5, success=0.5), 1, ("page", "ops"), "ops", ("logger", "-t"))
    for one in (said, Alarm()):
        assert Alarm.from_json(json.loads(json.dumps(one.as_json()))) == one


@pytest.mark.parametrize("value", [-1, True, "10", None, float("nan"), float("inf")])
def test_a_threshold_is_a_finite_number_from_zero(value):
    with pytest.raises(BadInput, match="depth of alerts is a number from 0"):
        alarm({"depth": value}, **NOBODY)


@pytest.mark.parametrize(("name", "value"), [("success", 1.01), ("every", 0.5), ("every", 86_401)])
def test_some_numbers_have_two_bounds(name, value):
    with pytest.raises(BadInput, match=rf"{name} of alerts is a number from .* to .*, not {value}"):
        alarm({"success": value} if name == "success" else {}, **NOBODY | ({"every": value} if name == "every" else {}))


@pytest.mark.parametrize("command", ["logger -t jobs", 7, ["logger", 7], {"logger"}])
def test_a_command_is_a_list_of_words(command):
    with pytest.raises(BadInput, match="command is a list of words"):
        alarm({}, **NOBODY | {"command": command})


def test_an_endpoint_has_a_name():
    with pytest.raises(BadInput, match="webhook must be text"):
        alarm({}, **NOBODY | {"webhook": 7})
