from __future__ import annotations

import pytest

from holdfast.model.errors import BadInput
from holdfast.model.settings import SETTINGS, check_settings


def test_known_settings_are_taken():
    table = {"url": "sqlite:///jobs.db"}
    assert check_settings(table, "holdfast.toml") == table
    assert check_settings({}, "holdfast.toml") == {}


def test_every_setting_has_a_sentence():
    assert all(text.endswith(".") for text in SETTINGS.values())


@pytest.mark.parametrize("table", [[], "x", 5, None, True, 1.5, object()])
def test_settings_are_a_table(table):
    with pytest.raises(BadInput, match="must be a table"):
        check_settings(table, "holdfast.toml")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"colour": "red"}, "unknown setting 'colour'; there are: "),
        ({"url": 5}, "url must be text, not a number"),
        ({"url": {}}, "url must be text, not a table"),
        ({"url": ""}, "url is empty"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_its_place(table, message):
    with pytest.raises(BadInput, match=f"holdfast.toml: {message}") as caught:
        check_settings(table, "holdfast.toml")
    assert caught.value.code == "BAD_OPTION"
