from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from holdfast.model.outcome import Parked

pytestmark = pytest.mark.slow


def rows(page):
    return page.locator("#jobs tr")


def total(page, name):
    return page.locator(f"#totals [data-total={name}] dd").first


def open_first_job(page):
    rows(page).first.locator("button").click()
    expect(page.locator("#drawer-body h3").first).to_be_visible()
    return page.locator("#drawer")


def test_an_empty_house_shows_a_command_that_works(page, site):
    expect(page.locator("#empty")).to_be_visible()
    page.locator("#copy").click()
    expect(page.locator("#copy")).to_have_text("Copied")

    expect(page.locator("#command-note")).to_have_text("No live worker takes this type: the job will wait for one.")
    command = page.evaluate("navigator.clipboard.readText()")
    body = command.partition(" -d ")[2].strip("'")
    assert command.startswith(f"curl {site.url}/v1/jobs ")
    assert site.post("/v1/jobs", json.loads(body)).status == 202

    expect(rows(page)).to_have_count(1)
    expect(page.locator("#empty")).to_be_hidden()


def test_an_empty_house_proposes_a_type_that_a_live_worker_takes(page, site):
    lanes = [["default", "a'; reboot #", 1], ["images", "thumbnail", 1], ["default", "zip", 1]]
    beat = {"id": "host:1:test", "host": "host", "pid": 1, "lanes": json.dumps(lanes), "places": 4, "running": 0}
    site.app.desk.write(lambda tx: tx.beat(beat))
    page.reload()

    expect(page.locator("#command-note")).to_contain_text("A live worker takes thumbnail.")
    command = page.locator("#command").text_content()
    assert command.startswith(f"curl {site.url}/v1/jobs ")
    assert json.loads(command.partition(" -d ")[2].strip("'")) == {
        "type": "thumbnail", "queue": "images", "payload": {},
    }  # fmt: skip
    expect(page.locator("#no-jobs")).to_have_text("No jobs yet.")


def test_dead_letters_are_told_with_what_to_do(page, site):
    site.dead("thumbnail")
    beside = page.locator("#totals [data-total=dead] .beside")
    expect(beside).to_have_text("Retry, or holdfast dlq")
    expect(beside).to_have_attribute("title", "one: open it, and Retry; many: holdfast dlq retry or purge")


def test_a_new_job_appears_without_a_reload(page, site):
    page.evaluate("window.mark = 1")
    site.app.enqueue("thumbnail", {"path": "a.png"}, queue="images")

    expect(rows(page)).to_have_count(1)
    expect(rows(page).first).to_contain_text("thumbnail")
    expect(total(page, "waiting")).to_have_text("1")
    expect(page.locator("#queues tr")).to_contain_text(["images"])
    assert page.evaluate("window.mark") == 1


def test_a_job_is_followed_through_its_life(page, site):
    site.app.enqueue("thumbnail")
    (claim,) = site.claim("thumbnail")
    site.app.desk.write(lambda tx: tx.progress(claim.id, claim.token, '{"done": 3, "total": 4, "message": "nearly"}'))
    expect(page.locator("#running li")).to_contain_text("3 of 4 · nearly")
    assert page.locator("#running progress").evaluate("(bar) => bar.value / bar.max") == 0.75

    site.app.enqueue("other")
    site.complete("other", {"fine": True})
    expect(page.locator("#jobs .chip[data-status=completed]")).to_have_count(1)
    expect(total(page, "completed_1h")).to_have_text("1")


def test_the_cancel_button_cancels(page, site):
    job_id = site.app.enqueue("thumbnail").id
    drawer = open_first_job(page)
    expect(drawer.locator("#drawer-retry")).to_be_hidden()

    drawer.locator("#drawer-cancel").click()

    expect(drawer.locator(".state .chip")).to_have_text("cancelled")
    expect(drawer.locator("#drawer-cancel")).to_be_hidden()
    expect(page.locator("#jobs .chip")).to_have_text("cancelled")
    assert site.app.get(job_id).status == "cancelled"


def test_the_retry_button_retries(page, site):
    job_id = site.dead("thumbnail")
    drawer = open_first_job(page)
    expect(drawer).to_contain_text("attempts exhausted")
    expect(drawer.locator("#drawer-cancel")).to_be_hidden()

    drawer.locator("#drawer-retry").click()

    expect(drawer.locator(".state .chip")).to_have_text("queued")
    expect(drawer.locator(".timeline")).to_contain_text("retry by a person")
    assert site.app.get(job_id).status == "queued"


def test_the_drawer_shows_payload_result_counters_and_reasons(page, site):
    site.app.enqueue("thumbnail", {"path": "a.png"})
    site.complete("thumbnail", {"width": 200})
    drawer = open_first_job(page)

    expect(drawer.locator("pre")).to_have_text(['{\n  "path": "a.png"\n}', '{\n  "width": 200\n}'])
    expect(drawer.locator(".counters dt")).to_have_text(["Attempts", "Failed", "Crashed", "Interrupted"])
    expect(drawer.locator(".counters dd")).to_have_text(["1 of 3", "0", "0", "0"])
    expect(drawer.locator(".state")).to_contain_text("completed")


def test_the_drawer_follows_the_job_while_it_is_open(page, site):
    site.app.enqueue("thumbnail")
    drawer = open_first_job(page)
    expect(drawer.locator(".state .chip")).to_have_text("queued")
    site.complete("thumbnail")

    expect(drawer.locator(".state .chip")).to_have_text("completed")


def test_the_keyboard_opens_and_closes_a_job(page, site):
    site.app.enqueue("thumbnail")
    rows(page).first.locator("button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(rows(page).first.locator("button")).to_be_focused()


def test_a_queue_is_paused_and_resumed(page, site):
    site.app.enqueue("thumbnail", queue="images")
    page.get_by_role("button", name="Pause queue images").click()
    expect(page.locator("#paused li")).to_contain_text("images")
    assert site.app.statistics()["paused"] == ["images"]

    page.locator("#paused button").click()
    expect(page.locator("#paused-card")).to_be_hidden()
    assert site.app.statistics()["paused"] == []


def test_the_list_is_filtered_by_status(page, site):
    for kind in ("a", "b"):
        site.app.enqueue(kind)
    site.complete("a")
    expect(rows(page)).to_have_count(2)

    page.locator("#filter [data-status=completed]").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page).first).to_contain_text("a")
    page.locator("#filter [data-status=failed]").click()
    expect(page.locator("#no-jobs")).to_have_text("No job matches this filter.")
    page.locator("#filter [data-status='']").click()
    expect(rows(page)).to_have_count(2)


def test_older_jobs_are_shown_on_request(page, site):
    site.post("/v1/jobs", [{"type": "a"}] * 60)
    expect(rows(page)).to_have_count(25)
    page.locator("#more").click()
    expect(rows(page)).to_have_count(50)


def test_a_refused_act_is_told_in_a_sentence(page, site, complaints):
    job_id = site.dead("thumbnail")
    drawer = open_first_job(page)

    def retried_by_someone_else_first(route):
        site.app.retry(job_id)
        route.continue_()

    page.route("**/retry", retried_by_someone_else_first)
    drawer.locator("#drawer-retry").click()
    expect(drawer.locator("#drawer-notice")).to_contain_text("only failed and dead_letter jobs are retried")
    assert complaints == ["error: Failed to load resource: the server responded with a status of 409 (Conflict)"]
    complaints.clear()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (768, 1024), (375, 700)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window(page, site, width, height, scheme):
    site.app.enqueue("a_rather_long_type_name_that_goes_on_and_on_" * 4, {}, queue="q" * 200)
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    expect(rows(page)).to_have_count(1)

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_has_landmarks_and_names(page):
    for role in ("banner", "main", "navigation"):
        expect(page.get_by_role(role)).to_have_count(1)
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button')].filter((b) => !b.textContent.trim() && !b.ariaLabel).length"
    )
    assert unnamed == 0
    expect(page.locator("#spoken")).to_have_attribute("aria-live", "polite")


CONTRAST = """() => {
  const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((v) => v / 255).map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!c.endsWith(', 0)') && c !== 'transparent') return c; } return 'rgb(255, 255, 255)'; };
  return [...document.querySelectorAll('main *, header *')].filter((e) => e.checkVisibility() &&
      [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    return [(a + .05) / (b + .05), e.outerHTML.slice(0, 80)]; }).filter(([ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(page, site, scheme):
    for kind in ("a", "b", "c", "d"):
        site.app.enqueue(kind)
    site.complete("a")
    site.dead("x")
    site.claim("b")
    site.app.cancel(site.app.enqueue("c").id)
    page.emulate_media(color_scheme=scheme)
    expect(rows(page)).to_have_count(6)
    expect(total(page, "dead")).to_have_text("1")

    assert page.evaluate(CONTRAST) == []


def test_an_open_stream_without_a_picture_is_not_live_yet(site, context):
    waiting = context.new_page()
    waiting.add_init_script(
        """window.EventSource = class extends EventTarget {
          constructor() {
            super();
            setTimeout(() => { this.dispatchEvent(new Event("open")); window.opened = true; });
          }
        }"""
    )
    waiting.goto(site.url)
    waiting.wait_for_function("window.opened === true")
    expect(waiting.locator("#connection")).to_have_text("connecting")


def test_a_parked_job_shows_a_safe_link_and_goes_on(page, site):
    site.app.enqueue("fetch", {})
    (claim,) = site.claim("fetch")
    site.finish(claim, Parked("log in <b>now</b>", "https://example.org/login?a=1", "example.org", 3_600_000))
    page.locator("#jobs tr button").click()
    link = page.locator("#drawer .question a")
    expect(page.locator("#drawer .question")).to_contain_text("log in <b>now</b>")
    expect(link).to_have_attribute("href", "https://example.org/login?a=1")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    page.locator("#drawer-resume").click()
    expect(page.locator("#drawer .chip").first).to_have_text("queued")
    expect(page.locator("#drawer-resume")).to_be_hidden()
    assert site.app.get(claim.id).status == "queued"


def test_an_address_that_is_no_web_page_is_no_link(page, site):
    """However it came to be in the store."""
    site.app.enqueue("fetch", {})
    (claim,) = site.claim("fetch")
    site.finish(claim, Parked("log in", "javascript:window.caught=1", None, 3_600_000))
    page.locator("#jobs tr button").click()
    expect(page.locator("#drawer .question")).to_have_text("log in")
    expect(page.locator("#drawer .question a")).to_have_count(0)
