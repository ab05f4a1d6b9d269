"""The tables of the overview page: what each row says, and that a narrow window cuts nothing off."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from holdfast.engine.limits import set_limit
from holdfast.model.limit import limit_of
from holdfast.model.outcome import Parked

pytestmark = pytest.mark.slow

CUT = """() => [...document.querySelectorAll('#queues td, #queues th, #jobs td, .totals dd, .totals dt')].filter((cell) => {
  if (!cell.checkVisibility() || !cell.textContent) return false;
  const { left, right } = cell.getBoundingClientRect();
  return left < 0 || right > innerWidth || cell.scrollWidth > cell.clientWidth;
}).map((cell) => `${cell.className}: ${cell.textContent} (${cell.clientWidth} of ${cell.scrollWidth})`)"""


def row(page, kind):
    return page.locator("#jobs tr", has=page.get_by_role("button", name=kind, exact=True))


@pytest.mark.parametrize("width", [1280, 1000, 768, 390, 360])
def test_no_window_cuts_a_column_off(page, site, width):
    for number in range(30):
        site.app.enqueue("sanitize_images", {}, queue="documents", delay=3600 * (number % 2))
    site.app.enqueue("sanitize_images", {})
    site.complete("sanitize_images")
    site.dead("send_reports")
    page.set_viewport_size({"width": width, "height": 800})
    expect(page.locator("#queues tr")).to_have_count(3)

    assert "\n".join(page.evaluate(CUT)) == ""
    shown = page.locator("#queues tr.first").first.locator(".waiting, .running, .done, .slow, .dead")
    for cell in shown.all():
        expect(cell).to_be_visible()


def test_a_narrow_window_keeps_the_roles_of_a_table(page, site):
    site.app.enqueue("thumbnail")
    page.set_viewport_size({"width": 390, "height": 844})
    jobs = page.get_by_role("table", name="Jobs")
    expect(jobs.get_by_role("row").last.get_by_role("cell")).to_have_count(6)
    expect(jobs.get_by_role("columnheader")).to_have_text(["Status", "Type", "Queue", "Runs", "What", "Age"])
    expect(page.get_by_role("table", name="Queues").get_by_role("rowheader")).to_have_text(["default"])


def test_every_job_says_what_it_waits_for(page, site):
    site.app.desk.write(set_limit, limit_of("site", concurrency=1), by="me")
    for kind in ("first", "second"):
        site.app.enqueue(kind, {}, limits=["site:a.example"])
    site.claim("first")
    parent = site.app.enqueue("parent")
    site.app.enqueue("child", {}, depends_on=[parent.id])
    site.app.enqueue("ask", {})
    (claim,) = site.claim("ask")
    site.finish(claim, Parked("may it be published?", None, None, 3_600_000))
    site.app.enqueue("stopped", {})
    site.app.cancel(site.app.jobs(type="stopped")[0].id)
    site.app.enqueue("later", {}, delay=3600)
    site.post("/v1/queues/mail/pause")
    site.app.enqueue("letter", {}, queue="mail")

    told = {
        "first": "running for", "second": "waits for limit site:a.example", "parent": "no live worker takes it",
        "child": "waits for another job", "ask": "may it be published?", "stopped": "stopped on request",
        "later": "due in 60 min", "letter": "its queue is paused",
    }  # fmt: skip
    for kind, text in told.items():
        expect(row(page, kind).locator(".what")).to_contain_text(text)
    expect(page.locator("[data-total=awaiting_auth] dd").first).to_have_text("1")


def test_the_worker_and_the_total_count_the_same_runs(page, site):
    lanes = json.dumps([["default", "walk", 1]])
    beat = {"id": "host:1:test", "host": "host", "pid": 1, "lanes": lanes, "places": 110, "running": 27}
    site.app.desk.write(lambda tx: tx.beat(beat))
    site.app.enqueue("walk")
    site.claim("walk")

    expect(page.locator("#workers .row small")).to_have_text("1 of 110")
    expect(page.locator("[data-total=running] dd").first).to_have_text("1")


def test_a_curve_has_its_ground_and_its_first_column_at_once(page, site):
    site.app.enqueue("thumbnail")
    curve = page.locator("#queues svg.spark")
    expect(curve).to_have_attribute("aria-label", "1 waiting, 1 at most in the last minute")
    ground, columns = (path.get_attribute("d") for path in curve.locator("path").all())
    assert ground == "M0,19.5H90"
    assert (columns[0], columns[-1]) == ("M", "z")

    site.complete("thumbnail")
    expect(curve).to_have_attribute("aria-label", "0 waiting, 1 at most in the last minute")


def test_rows_stay_where_they_are_under_a_pointer(page, site):
    first = site.app.enqueue("first").id
    expect(page.locator("#jobs tr")).to_have_count(1)
    page.locator("#jobs tr").hover()
    site.app.enqueue("second")
    expect(page.locator("#queues tr")).to_have_count(2)
    expect(page.locator("#held")).to_be_visible()
    expect(page.locator("#jobs tr")).to_have_count(1)

    site.app.cancel(first)
    expect(page.locator("#jobs .chip")).to_have_text("cancelled")

    page.locator("h1").hover()
    expect(page.locator("#jobs tr")).to_have_count(2)
    expect(page.locator("#held")).to_be_hidden()


def beat(site, *lanes):
    told = {"id": "host:1:test", "host": "host", "pid": 1, "places": 4, "running": 0}
    site.app.desk.write(lambda tx: tx.beat(told | {"lanes": json.dumps([[*lane, 1] for lane in lanes])}))


def test_jobs_that_no_live_worker_takes_stand_out(page, site):
    beat(site, ("default", "known"))
    for kind in ("known", "misspelt"):
        site.app.enqueue(kind)
    site.app.enqueue("known", queue="elsewhere")
    expect(page.locator("#jobs .what")).to_have_text(["no live worker takes it", "no live worker takes it", "in line"])
    expect(page.locator("#jobs .what.warn")).to_have_count(2)
    expect(page.locator("#queues .running")).to_have_text(["0", "no worker", "no worker"])

    beat(site, ("default", "known"), ("default", "misspelt"), ("elsewhere", "known"))
    expect(page.locator("#jobs .warn, #queues .warn")).to_have_count(0)
    expect(page.locator("#queues .running")).to_have_text(["0", "0", "0"])


def test_the_runs_of_a_job_are_explained(page, site):
    site.app.enqueue("walk", {}, max_attempts=4)
    site.claim("walk")
    expect(page.locator("#jobs .runs")).to_have_text("1/4")
    expect(page.locator("#jobs .runs")).to_have_attribute("title", "1 run so far, 4 at most")


def test_a_phone_folds_idle_types_into_one_line(page, site):
    for kind in ("a", "b", "c"):
        site.app.enqueue(kind)
        site.complete(kind)
    site.app.enqueue("busy")
    expect(page.locator("#queues tr")).to_have_count(4)
    expect(page.locator("#idle")).to_be_hidden()

    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#queues .type")).to_have_text(["busy"])
    expect(page.get_by_role("button", name="Pause queue default")).to_be_visible()
    page.get_by_role("button", name="3 idle types").click()
    expect(page.locator("#queues tr")).to_have_count(4)
    expect(page.locator("#idle")).to_have_attribute("aria-expanded", "true")
    page.locator("#idle").click()
    expect(page.locator("#queues tr")).to_have_count(1)


def test_a_phone_shows_workers_and_runs_before_the_long_list_and_whole_names(page, site):
    name = "a_rather_long_type_name_that_goes_on_and_on"
    site.app.enqueue(name, queue="a_queue_with_a_long_name")
    site.claim(name, queue="a_queue_with_a_long_name")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#running li")).to_have_count(1)
    top = {name: page.locator(name).bounding_box()["y"] for name in ("#queues", "#workers-title", "#running", "#jobs")}
    assert sorted(top, key=top.get) == ["#queues", "#workers-title", "#running", "#jobs"]
    cut = "(button) => button.scrollWidth > button.clientWidth || button.scrollHeight > button.clientHeight + 2"
    assert not page.locator("#jobs button").evaluate(cut)
    assert not page.locator("#queues .type").evaluate(cut)
