from __future__ import annotations

import pytest

from holdfast import App
from holdfast.cli.frame import View, bar, frame, look
from holdfast.cli.opening import shown_url
from holdfast.cli.render import console
from holdfast.cli.stats import duration
from holdfast.engine import leases
from holdfast.model.outcome import Parked
from holdfast.model.status import Status
from tests.cli.given import dead, ended, progress, running, worker


@pytest.fixture
def busy(app):
    """A store in which everything happens, more of it than a small terminal shows."""
    for number in range(30):
        app.enqueue(f"type_{number:02}", queue=f"queue_{number % 3}")
        worker(app, f"host-with-a-rather-long-name:{number}:x")
    for number in range(10):
        progress(app, running(app, "mail"), done=number, total=9, message="page after page after page after page")
        dead(app, "a_type_with_a_name_that_is_really_quite_long", message="broken " * 50)
    ended(app, Status.COMPLETED)
    return app


def lines_of(app, width: int, height: int) -> list[str]:
    screen = console(width=width, height=height, force_terminal=False, color_system=None)
    with screen.capture() as captured:
        screen.print(frame(app.desk.read(look, app.url), width, height))
    return captured.get().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 40), (100, 30), (120, 30), (200, 60), (60, 24)])
def test_a_frame_fits_its_terminal(busy, width, height):
    lines = lines_of(busy, width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_a_frame_says_what_it_left_out(busy):
    text = "\n".join(lines_of(busy, 80, 24))
    assert "… " in text
    assert " more" in text


@pytest.mark.parametrize("width", [80, 140])
def test_one_frame_shows_queues_workers_runs_and_failures(cli, app, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "30")
    app.enqueue("report", queue="slow")
    cli("queues", "pause", "slow")
    claim = running(app)
    progress(app, claim, done=3, total=4, message="third")
    failed = dead(app, "tick", message="no such tock")
    ended(app, Status.COMPLETED)
    worker(app)
    answer = cli("top", "--once")
    assert (answer.code, answer.err) == (0, "")
    for shown in (
        "‖ slow",
        "report",
        claim.id,
        "████████░░  75%",
        failed,
        "ValueError: no such tock",
        "host:1:test",
        "100 %",
    ):
        assert shown in answer.out
    assert "1 waiting · 1 running" in answer.out
    assert ("TOTAL P95" in answer.out) is (width == 140)
    assert "\x1b" not in answer.out


@pytest.mark.parametrize("width", [80, 100, 108, 112, 116, 120, 124, 128, 160])
def test_queue_and_type_are_whole_before_there_are_more_figures(app, width):
    for queue, kind in (("images", "thumbnail"), ("orders_of_shops", "ship_an_order_abroad"), ("webhooks", "webhook")):
        ended(app, Status.COMPLETED, kind, queue=queue)
        app.enqueue(kind, queue=queue)
    lines = lines_of(app, width, 30)
    rows = [line.split()[:3] for line in lines[4:7]]
    assert sorted(rows) == [
        ["images", "thumbnail", "1"], ["orders_of_shops", "ship_an_order_abroad", "1"], ["webhooks", "webhook", "1"],
    ]  # fmt: skip
    head = lines[3].split()
    assert head[:3] == ["QUEUE", "TYPE", "WAIT"]
    assert head[-1] == "DEAD"
    assert "…" not in lines[3]
    assert max(map(len, lines)) <= width


def test_where_there_is_room_all_figures_are_shown(app):
    app.enqueue("mail")
    head = lines_of(app, 128, 30)[3]
    assert all(name in head for name in ("P99", "TOTAL P95", "BLOCKED", "LIMITED", "PARKED", "FAILED"))


@pytest.mark.parametrize("width", [60, 80, 112])
def test_long_names_are_cut_behind_what_tells_them_apart(app, width):
    stem = "a_type_with_a_rather_long_stem_"
    for end in ("alpha", "beta", "gamma"):
        app.enqueue(f"{stem}{end}_and_more_of_it" * (1 + (end == "beta")))
    shown = [line.split()[1] for line in lines_of(app, width, 30)[4:7]]
    assert [name[: len(stem) + 1] for name in sorted(shown)] == [f"{stem}{first}" for first in "abg"]


def test_a_terminal_too_narrow_for_names_still_gets_a_frame(busy):
    assert max(map(len, lines_of(busy, 30, 40))) <= 30


def test_an_empty_store_has_a_frame_too(cli, app):
    app.jobs()
    out = cli("top", "--once").out
    assert "0 waiting · 0 running" in out
    assert "`holdfast worker MODULE:APP` starts one" in out


def test_a_frame_of_a_store_that_went_away_shows_why(app):
    screen = console(width=80, force_terminal=False)
    with screen.capture() as captured:
        screen.print(frame(View(url=app.url).stale("STORE_UNAVAILABLE: gone"), 80, 24, live=True))
    assert "STORE_UNAVAILABLE: gone" in captured.get()
    assert "q quits" in captured.get()


def test_expired_leases_stand_in_the_summary(cli, app):
    running(app, lease_ms=1)
    assert "1 lease expired" in cli("top", "--once").out


@pytest.mark.parametrize(
    ("shown", "drawn"),
    [
        ({"done": 1, "total": 2}, "█████░░░░░  50%"),
        ({"done": 5, "total": 2}, "██████████ 100%"),
        ({"done": -1, "total": 2}, "░░░░░░░░░░   0%"),
        ({"done": 1, "total": None}, ""),
        ({"done": 1, "total": 0}, ""),
        ({"done": "x", "total": "y"}, ""),
        ({}, ""),
    ],
)
def test_a_bar_is_drawn_where_the_run_tells_how_far_it_is(shown, drawn):
    assert bar(shown) == drawn


@pytest.mark.parametrize("width", [80, 140])
def test_parked_jobs_are_counted(app, width):
    app.desk.write(leases.finish, [(running(app), Parked("log in", None, None, 60_000))])
    assert "1 parked" in lines_of(app, width, 24)[1]


@pytest.mark.parametrize("name", ["ann:hunter2@127.0.0.1:1/jobs", "127.0.0.1:1/jobs?password=hunter2"])
def test_the_address_in_the_head_holds_no_secret(name):
    with App(f"postgresql://{name}") as app:
        shown = shown_url(app)
    assert shown == "postgresql://127.0.0.1:1/jobs"
    with (screen := console(width=80)).capture() as captured:
        screen.print(frame(View(url=shown), 80, 24))
    assert "postgresql://127.0.0.1:1/jobs" in captured.get()


def test_the_head_shows_where_the_file_is_without_settings(cli, app):
    app.enqueue("mail")
    assert "synchronous" not in cli("top", "--once").out


@pytest.mark.parametrize(
    ("ms", "told"),
    [(None, ""), (0.4, "0 ms"), (44.25, "44 ms"), (723.1, "720 ms"), (2_895.3, "2.9 s"), (92_680, "93 s")],
)
def test_a_percentile_is_told_with_the_two_figures_that_are_known_of_it(ms, told):
    assert duration(ms) == told
