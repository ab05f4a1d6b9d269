"""One job in full: its sentence, its history, its family, its batch and its payload."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

import holdfast
from holdfast.model.failure import Failure
from holdfast.model.outcome import Crashed, Parked, Raised, Returned, Snoozed
from holdfast.testing import drain

pytestmark = pytest.mark.slow


def opened(page, site, job_id):
    page.goto(f"{site.url}/#job={job_id}")
    expect(page.locator("#drawer .timeline")).to_be_visible()
    return page.locator("#drawer")


def events(drawer):
    return drawer.locator(".timeline li span")


def test_a_parked_job_is_told_once_and_in_the_words_of_the_page(page, site):
    site.app.enqueue("fetch")
    (claim,) = site.claim("fetch")
    site.finish(claim, Parked("log in first", None, None, 3_600_000))
    drawer = opened(page, site, claim.id)

    expect(drawer.locator(".state .chip")).to_have_text("asks a person")
    expect(drawer.locator(".state")).to_contain_text("Resume below lets it go on; at ")
    expect(drawer.get_by_text("log in first")).to_have_count(1)
    expect(events(drawer)).to_have_text(
        ["enqueued to default", "attempt 1 began", "attempt 1 stopped to ask → asks a person"]
    )


def test_every_run_is_in_the_history(page, site):
    job_id = site.app.enqueue("walk", {}, max_attempts=5).id
    ends = [
        Crashed(Failure("Crashed", "it died"), alone=False),
        Snoozed(0),
        Raised(Failure("ValueError", "broken"), permanent=False, after_ms=0),
        Returned("1"),
    ]
    for end in ends:
        (claim,) = site.claim("walk")
        site.finish(claim, end)
    drawer = opened(page, site, job_id)

    expect(events(drawer)).to_have_text(
        [
            "enqueued to default",
            "attempt 1 crashed → queued",
            "attempt 2 put itself off → queued",
            "attempt 2 failed → queued",
            "attempt 3 began",
            "attempt 3 completed",
        ]
    )


def test_commands_are_shown_as_code_and_buttons_by_their_names(page, site):
    waits = site.app.enqueue("walk").id
    drawer = opened(page, site, waits)
    expect(drawer.locator(".state code")).to_have_text("holdfast worker MODULE:APP")

    ended = site.dead("doomed")
    drawer = opened(page, site, ended)
    expect(drawer.locator("#drawer-title")).to_have_text("doomed")
    expect(drawer.locator(".state")).to_contain_text("after 1 attempt; when the cause is gone, Retry below")
    expect(drawer).not_to_contain_text("`")


def test_parents_and_children_are_links(page, site):
    parent = site.app.enqueue("parent")
    child = site.app.enqueue("child", {}, depends_on=[parent.id])
    drawer = opened(page, site, parent.id)
    expect(drawer.locator(".relatives")).to_contain_text(child.id)

    drawer.get_by_role("link", name="child").click()
    expect(drawer.locator("#drawer-id")).to_have_text(child.id)
    drawer.get_by_role("link", name="parent").click()
    expect(drawer.locator("#drawer-id")).to_have_text(parent.id)


def test_a_group_is_a_filter(page, site):
    job_id = site.app.enqueue("a", group="spring & summer").id
    site.app.enqueue("a", group="spring & summer", tenant="acme")
    site.app.enqueue("a")
    drawer = opened(page, site, job_id)
    drawer.get_by_role("link", name="spring & summer").click()

    expect(drawer).to_be_hidden()
    expect(page.locator("#jobs tr")).to_have_count(1)
    expect(page.locator("#narrowed button")).to_have_text(["group spring & summer ✕", "tenant (none) ✕"])


def test_a_chunk_tells_its_part_of_the_batch_and_is_shown_compactly(page, site):
    with holdfast.App(site.app.url) as app:

        @app.job
        def square(n: int) -> int:
            return n * n

        batch = app.map(square, [{"n": n} for n in range(60)], chunk=50)
    tail = batch.id[-6:]
    told = page.locator("#jobs .what")
    expect(told).to_contain_text(
        [f"items {part}: no live worker takes it · batch …{tail}" for part in ("50 to 59", "0 to 49")]
    )

    page.locator("#jobs tr button").first.click()
    drawer = page.locator("#drawer")
    expect(drawer.locator(".details")).to_contain_text(f"items 50 to 59 of {batch.id}: 0 of 60 items done")
    text = drawer.locator("pre").first.text_content()
    assert text.splitlines()[:3] == ["{", '  "items": [', '    [ 50, { "n": 50 } ],']
    assert json.loads(text) == {"items": [[n, {"n": n}] for n in range(50, 60)]}


def test_long_lists_fill_their_lines(page, site):
    vector = [number / 7 for number in range(200)]
    payload = {"vector": vector, "empty": [], "text": "two\n  lines", "deep": {"a": [{"b": "x" * 50}, {"c": "y" * 50}]}}
    drawer = opened(page, site, site.app.enqueue("embed", payload).id)
    text = drawer.locator("pre").first.text_content()

    assert json.loads(text) == payload
    assert len(text.splitlines()) < 100  # of 200 numbers
    assert max(map(len, text.splitlines())) < 90


def test_an_item_that_ran_in_its_chunk_first_has_no_hole(page, site):
    with holdfast.App(site.app.url) as app:

        @app.job(max_attempts=3)
        def square(n: int) -> int:
            raise ValueError(n)

        app.map(square, [{"n": 1}, {"n": 2}], chunk=2)
        with ThreadPoolExecutor(1) as outside:  # of the event loop that drives the browser
            outside.submit(drain, app).result()
    drawer = opened(page, site, site.app.jobs(type="square", status="queued")[0].id)

    expect(events(drawer)).to_have_text(["enqueued to default", "attempt 1: not on record", "due"])
    expect(drawer.locator(".timeline")).to_contain_text("it ran with other items of its batch")
