"""The address names what is listed and which job is open: it can be sent to others, and survives a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def rows(page):
    return page.locator("#jobs tr")


@pytest.mark.parametrize(
    ("total", "status", "kinds"),
    [
        ("waiting", "queued", ["waits"]),
        ("running", "in_progress", ["runs"]),
        ("completed_1h", "completed", ["done"]),
        ("ended_badly_1h", "failed,dead_letter", ["dies", "fails"]),
        ("dead", "dead_letter", ["dies"]),
        ("awaiting_auth", "awaiting_auth", []),
    ],
)
def test_a_tile_lists_the_jobs_it_counts(page, site, total, status, kinds):
    for kind in ("waits", "runs", "done", "fails"):
        site.app.enqueue(kind)
    site.claim("runs")
    site.complete("done")
    site.fail("fails", permanent=True)
    site.dead("dies")
    expect(rows(page)).to_have_count(5)

    page.locator(f"[data-total={total}] a").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#jobs .type")).to_have_text(kinds)
    expect(page.locator("#filter [aria-pressed=true]")).to_have_count(len(status.split(",")))
    expect(page.locator("#jobs-title")).to_be_focused()


def test_queues_and_types_narrow_the_list_until_that_is_taken_back(page, site):
    for kind, queue in (("a", "one"), ("b", "one"), ("a", "two")):
        site.app.enqueue(kind, queue=queue)
    page.get_by_role("link", name="one", exact=True).click()
    expect(rows(page)).to_have_count(2)
    page.locator("#queues tr").nth(1).get_by_role("link", name="b", exact=True).click()
    expect(rows(page)).to_have_count(1)
    expect(page.locator("#narrowed button")).to_have_text(["queue one ✕", "type b ✕"])

    page.locator("#narrowed button").nth(1).click()
    expect(rows(page)).to_have_count(2)
    page.go_back()
    expect(rows(page)).to_have_count(1)
    page.get_by_role("link", name="two", exact=True).click()
    expect(page.locator("#jobs .queue")).to_have_text(["two"])
    page.locator("#narrowed button").click()
    expect(rows(page)).to_have_count(3)


def test_a_narrowed_list_is_kept_up_to_date(page, site):
    for queue in ("one", "two"):
        site.app.enqueue("a", queue=queue)
    page.get_by_role("link", name="two", exact=True).click()
    expect(page.locator("#jobs .queue")).to_have_text(["two"])
    site.app.enqueue("b", queue="one")
    job_id = site.app.enqueue("b", queue="two").id

    expect(page.locator("#jobs .type")).to_have_text(["b", "a"])
    site.app.cancel(job_id)
    expect(page.locator("#jobs .chip")).to_have_text(["cancelled", "queued"])


def test_an_address_brings_back_filter_and_job(page, site, context):
    site.app.enqueue("a")
    job_id = site.dead("doomed")
    page.locator("#filter [data-status=dead_letter]").click()
    rows(page).first.locator("button").click()
    expect(page.locator("#drawer-title")).to_have_text("doomed")
    assert page.url.endswith(f"#status=dead_letter&job={job_id}")

    other = context.new_page()
    other.goto(page.url)
    expect(other.locator("#drawer-title")).to_have_text("doomed")
    other.keyboard.press("Escape")
    expect(other.locator("#jobs .type")).to_have_text(["doomed"])
    expect(other).to_have_url(re.compile("#status=dead_letter$"))
    other.reload()
    expect(other.locator("#jobs .type")).to_have_text(["doomed"])
    other.go_back()
    expect(other.locator("#drawer-title")).to_have_text("doomed")
    other.close()


def test_an_address_that_nobody_made_does_no_harm(page, site, complaints):
    site.app.enqueue("a")
    page.goto(f"{site.url}/#status=asleep&what=%00&job=nothing")

    expect(page.locator("#drawer-notice")).to_contain_text("no job 'nothing'")
    page.locator("#drawer-close").click()
    expect(rows(page)).to_have_count(1)
    assert complaints == ["error: Failed to load resource: the server responded with a status of 404 (Not Found)"]
    complaints.clear()


def test_the_skip_link_leads_to_the_jobs_and_keeps_the_filter(page, site):
    site.app.enqueue("a")
    page.locator("#filter [data-status=queued]").click()
    page.locator("#skip").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#jobs-title")).to_be_focused()
    assert page.url.endswith("#status=queued")
