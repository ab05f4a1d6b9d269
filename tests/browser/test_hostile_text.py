"""Whatever a job is called or holds, the page shows it as text."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from holdfast.model.failure import Failure
from holdfast.model.outcome import Raised

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>window.caught = 1</script>",
    "<img src=x onerror='window.caught = 1'>",
    '"><svg onload=window.caught=1>',
    '\'><iframe src="javascript:parent.caught=1"></iframe>',
    '<a href="javascript:window.caught=1">click</a>',
    "</textarea></title></style></script><script>window.caught=1</script>",
    "{{constructor.constructor('window.caught=1')()}}",
    "${window.caught=1}",
    "<style>body{display:none}</style>",
    "<base href=//evil.example/>",
    "<form action=//evil.example><button id=jobs>x</button></form>",
    "javascript:window.caught=1//",
    "&lt;script&gt;window.caught=1&lt;/script&gt;",
    "<math><mtext><mglyph><style><img src onerror=window.caught=1>",
    "\\u003cscript\\u003ewindow.caught=1\\u003c/script\\u003e",
    "' onmouseover='window.caught=1",
]

# The page's own links lead to itself; beside them there is its script alone.
FOREIGN = "document.querySelectorAll(`main img, main iframe, main form, main a:not([href^='#']), script`).length"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_shown_as_text_everywhere(page, site, text):
    site.app.enqueue(text, {text: text}, queue=text, group=text, tenant=text, key=text, max_attempts=1)
    (claim,) = site.claim(text, queue=text)
    site.app.desk.write(lambda tx: tx.progress(claim.id, claim.token, _progress(text)))
    site.post(f"/v1/queues/{_quoted(text)}/pause")
    site.app.desk.write(lambda tx: tx.beat(_worker(text)))
    expect(page.locator("#running button")).to_have_text(text)
    expect(page.locator("#running .message")).to_contain_text(text)
    expect(page.locator("#paused b")).to_have_text(text)
    expect(page.locator("#workers b")).to_contain_text(text)

    site.finish(claim, _raised(text))
    expect(page.locator("#jobs .what")).to_contain_text(text)
    expect(page.locator("#queues th")).to_have_text(text)
    expect(page.locator("#queues .type")).to_have_text(text)

    page.locator("#jobs tr button").click()
    expect(page.locator("#drawer-title")).to_have_text(text)
    expect(page.locator("#drawer pre").first).to_contain_text(text)
    expect(page.locator("#drawer .details")).to_contain_text(text)
    for _ in range(2):
        page.locator("#jobs tr").dispatch_event("mouseover")
    page.locator("#drawer-close").click()
    assert page.evaluate("window.caught") is None
    assert page.evaluate(FOREIGN) == 1
    assert page.evaluate("document.baseURI") == f"{site.url}/"


def _progress(text):
    return json.dumps({"done": 1, "total": 2, "message": text})


def _quoted(text):
    return quote(text, safe="")


def _worker(text):
    return {"id": text, "host": text, "pid": 1, "lanes": json.dumps([[text, text, 1]]), "places": 1, "running": 1}


def _raised(text):
    return Raised(Failure(text, text), permanent=False, after_ms=None)
