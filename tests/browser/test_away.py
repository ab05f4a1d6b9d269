"""While the store or the server is away the page says so, and shows what it knew as what it knew."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

REFUSED = "error: Failed to load resource: the server responded with a status of 503 (Service Unavailable)"


def test_a_store_that_goes_away_is_told_and_its_figures_are_grey(page, site, complaints):
    site.app.enqueue("a", queue="mail")
    expect(page.locator("#jobs tr")).to_have_count(1)
    expect(page.locator("#away")).to_be_hidden()
    site.app.close()

    expect(page.locator("#away")).to_contain_text("The store is away: the application was closed")
    expect(page.locator("#away")).to_contain_text("What stands here was so at ")
    assert page.locator("#totals").evaluate("(tiles) => getComputedStyle(tiles).filter") == "grayscale(1)"

    page.get_by_role("button", name="Pause queue mail").click()
    expect(page.locator("#notice")).to_have_text(
        "could not pause queue mail: the application was closed; the server's log has more"
    )
    expect(page.locator("#notice")).to_be_in_viewport()
    assert complaints == [REFUSED]
    complaints.clear()


def test_a_page_that_is_opened_without_the_store_says_so(site, context):
    site.app.close()
    opened = context.new_page()
    opened.goto(site.url)

    expect(opened.locator("#away")).to_contain_text("Until it is back there is nothing to show")
    expect(opened.locator("#totals")).to_be_hidden()
    expect(opened.locator("#columns")).to_be_hidden()
    opened.close()


def test_a_server_that_does_not_answer_is_told_in_words(page, site, complaints):
    site.app.enqueue("a")
    page.route("**/pause", lambda route: route.abort())
    page.get_by_role("button", name="Pause queue default").click()
    expect(page.locator("#notice")).to_have_text("could not pause queue default: the server does not answer")
    complaints.clear()  # Chromium itself complains of it


def test_a_stream_that_was_refused_is_asked_for_again(site, context, complaints):
    opened = context.new_page()
    opened.route("**/v1/events", lambda route: route.fulfill(status=503), times=1)
    opened.goto(site.url)
    expect(opened.locator("#away")).to_contain_text("the server does not answer")
    expect(opened.locator("#connection")).to_have_text("live")
    expect(opened.locator("#away")).to_be_hidden()
    opened.close()
    complaints.clear()  # of the refusal


def test_screen_readers_hear_what_the_tiles_show_and_find_nothing_older(site, context):
    opened = context.new_page()
    opened.clock.install(time=1_700_000_000)
    opened.clock.pause_at(1_700_000_001)
    opened.goto(site.url)
    spoken = opened.locator("#spoken")
    expect(spoken).to_have_text("0 waiting, 0 running, 0 dead letters, 0 ask a person")
    for _ in range(3):
        site.app.enqueue("a")
    expect(opened.locator("[data-total=waiting] dd").first).to_have_text("3")
    opened.clock.run_for(2_000)
    expect(spoken).to_have_text("")

    opened.clock.run_for(8_000)
    expect(spoken).to_have_text("3 waiting, 0 running, 0 dead letters, 0 ask a person")
    opened.close()
