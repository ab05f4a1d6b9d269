"""A real Chromium in front of a real server. A page that logs an error or breaks its content policy fails its test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.http.site import running_site

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")  # while it is open an event loop runs in this thread: no longer than our own tests
def chromium():
    found = subprocess.run([ROOT / "tools" / "ensure_browser.sh"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip().splitlines()[-1], args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def site(tmp_path):
    with running_site(tmp_path) as running:
        yield running


@pytest.fixture
def complaints():
    """What the page's console, its errors, its dialogs and its content policy said."""
    return []


@pytest.fixture
def context(chromium, complaints):
    made = chromium.new_context(viewport={"width": 1280, "height": 800})
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    made.set_default_timeout(15_000)
    expect.set_options(timeout=15_000)  # after a slow first look the server rests ten times as long
    made.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    made.on("weberror", lambda error: complaints.append(f"error: {error.error}"))
    made.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield made
    made.close()
    assert complaints == []


@pytest.fixture
def page(site, context):
    """The overview page, live."""
    opened = context.new_page()
    opened.add_init_script(
        "addEventListener('securitypolicyviolation', (e) => console.error('policy', e.violatedDirective, e.blockedURI))"
    )
    opened.goto(site.url)
    opened.wait_for_selector("#connection[data-state=live]")
    yield opened
    opened.close()  # before the server: a page that lost it would complain
