"""Who reads: what can be set, what is refused, and what the doctor says about it."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from holdfast.testing import drain
from holdfast_pipelines.capture import examination, provider
from holdfast_pipelines.capture.doctor import examine
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.capture.places import Places
from tests.pipelines.capture import claude_server as claude
from tests.pipelines.capture.test_install import cli
from tests.pipelines.capture.test_jobs import tell

ON = {"HOLDFAST_CAPTURE_PROVIDER": "claude"}
KEY = claude.KEY


def test_rules_are_the_default_and_claude_has_sober_defaults():
    assert provider.chosen({}) is None
    assert provider.chosen({"ANTHROPIC_API_KEY": KEY}) is None  # a key alone switches nothing on
    chosen = provider.chosen(ON)
    assert (chosen.model, chosen.url, chosen.key_name) == (
        "claude-haiku-5-5", "https://api.anthropic.com", "ANTHROPIC_API_KEY",
    )  # fmt: skip
    assert (chosen.caps.day, chosen.caps.month, chosen.timeout) == (1_000_000, 10_000_000, 20)
    assert KEY not in repr(provider.chosen(ON | {"ANTHROPIC_API_KEY": KEY}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOLDFAST_CAPTURE_PROVIDER", "gpt"),
        ("HOLDFAST_CAPTURE_ANTHROPIC_KEY", KEY),
        ("HOLDFAST_CAPTURE_ANTHROPIC_KEY", "abc123def456"),
        ("HOLDFAST_CAPTURE_CLAUDE_MODEL", "claude-unknown-9"),
        ("HOLDFAST_CAPTURE_CLAUDE_MODEL", "other/model"),
        ("HOLDFAST_CAPTURE_CLAUDE_URL", "http://api.example.com"),
        ("HOLDFAST_CAPTURE_CLAUDE_URL", "http://127.0.0.1.example.com"),
        ("HOLDFAST_CAPTURE_CLAUDE_URL", "https://user:word@api.example.com"),
        ("HOLDFAST_CAPTURE_CLAUDE_URL", "https://api.example.com/?to=x"),
        ("HOLDFAST_CAPTURE_CLAUDE_URL", "https://[::1"),
        ("HOLDFAST_CAPTURE_CLAUDE_URL", "file:///etc"),
        ("HOLDFAST_CAPTURE_CLAUDE_DAY", "much"),
        ("HOLDFAST_CAPTURE_CLAUDE_DAY", "-1"),
        ("HOLDFAST_CAPTURE_CLAUDE_MONTH", "NaN"),
        ("HOLDFAST_CAPTURE_CLAUDE_PRICES", "claude-haiku-5-5=cheap"),
        ("HOLDFAST_CAPTURE_CLAUDE_TIMEOUT", "0"),
        ("HOLDFAST_CAPTURE_CLAUDE_TIMEOUT", "1e9"),
        ("HOLDFAST_CAPTURE_CLAUDE_EFFORT", "huge"),
    ],
)
def test_a_wrong_setting_is_named_and_means_rules(tmp_path, name, value):
    given = ON | {"HOLDFAST_CAPTURE_FOLDER": str(tmp_path), "ANTHROPIC_API_KEY": KEY, name: value}
    with pytest.raises(provider.WrongSetting) as told:
        provider.chosen(given)
    assert "HOLDFAST_CAPTURE_" in str(told.value)
    assert KEY not in str(told.value)
    ((level, _, text),) = examination.provider(given)
    assert (level, text) == ("bad", f"rules are used: {told.value}")


def test_prices_and_caps_can_be_set():
    given = {
        "HOLDFAST_CAPTURE_CLAUDE_MODEL": "claude-new-6",
        "HOLDFAST_CAPTURE_CLAUDE_PRICES": "claude-old=1/2, claude-new-6 = 0.25/1.5",
        "HOLDFAST_CAPTURE_CLAUDE_DAY": "0.000001",
        "HOLDFAST_CAPTURE_CLAUDE_URL": "http://localhost:8080/",
        "HOLDFAST_CAPTURE_CLAUDE_EFFORT": "none",
    }
    chosen = provider.chosen(ON | given)
    assert (chosen.price.given, chosen.price.answered) == (Decimal("0.25"), Decimal("1.5"))
    assert (chosen.caps.day, chosen.url, chosen.effort) == (1, "http://localhost:8080", "")


def test_a_key_that_cannot_be_a_header_is_none():
    assert provider.key_in({"K": f" {KEY}\n"}, "K") == KEY
    assert provider.key_in({"K": "with\nbreak"}, "K") == ""
    assert provider.key_in({"K": "ünsendable"}, "K") == ""


def test_a_service_starts_with_the_settings_and_never_with_the_key(home):
    home.environment |= claude.environment(home.folder, "https://api.example.com")
    assert cli(home, "install", "--user", "--service").returncode == 0
    (unit,) = (home.folder.parent / ".config" / "systemd" / "user").iterdir()
    assert "Environment=HOLDFAST_CAPTURE_PROVIDER=claude" in unit.read_text()
    home.environment["HOLDFAST_CAPTURE_ANTHROPIC_KEY"] = KEY  # a mistake
    assert cli(home, "install", "--user", "--service").returncode == 0
    assert KEY not in unit.read_text()


@pytest.mark.slow
def test_the_doctor_shows_provider_spent_and_cap(home):
    def told(check):
        lines = examine(Places(home.environment), [], [], home.environment)
        return [(level, text) for level, name, text in lines if name == check]

    assert told("provider") == [("ok", "rules-1: nothing is sent; HOLDFAST_CAPTURE_PROVIDER=claude asks Claude")]
    with claude.serving(lambda _: claude.said({"findings": []}, given=8_000_000)) as server:
        home.environment |= claude.environment(home.folder, server.url)
        app = application(home.environment)
        tell(app, [("user", "hello")])
        drain(app)
        assert told("provider") == [("ok", f"claude-haiku-5-5 at {server.url}, with the key in THE_TEST_KEY")]
        ((level, text),) = told("spending")
        assert level == "warn"
        assert text.startswith("today $0.8001 of $1.00, this month $0.8001 of $10.00; rules take over")
        server.answer = lambda _: claude.error(401)
        tell(app, [("user", "again")])
        drain(app)
        app.close()
        connections = server.connections
        (_, (level, text)) = told("provider")
        assert level == "bad"
        assert "Claude refused the key (401): set a valid one and start the worker again, since " in text
        lines = json.loads(cli(home, "doctor", "--json").stdout)
        assert {"level": "bad", "check": "provider", "text": text} in lines
        assert [line["check"] for line in lines].count("spending") == 1
        assert server.connections == connections  # looking costs nothing
    home.environment["THE_TEST_KEY"] = ""
    assert told("provider")[0] == (
        "bad",
        "rules are used: THE_TEST_KEY holds no key (HOLDFAST_CAPTURE_ANTHROPIC_KEY names another variable)",
    )
