from __future__ import annotations

from pathlib import Path
from time import time_ns

import pytest

from holdfast import App
from holdfast.cli import surroundings
from holdfast.signals.folder import make_folder
from tests.cli.given import dead, process, running, worker
from tests.servers import redis as redis_server
from tests.servers.postgres import server


@pytest.fixture
def findings(cli):
    """The doctor's levels and texts by check, and its exit code."""

    def look(*arguments: str):
        answer = cli("doctor", "--json", *arguments)
        return answer.code, {one["check"]: (one["level"], one["text"], one["advice"]) for one in answer.json}

    return look


def test_a_healthy_store_is_well(cli, app, findings):
    app.enqueue("mail")
    worker(app)
    code, found = findings()
    assert code == 0
    assert {level for level, _, _ in found.values()} == {"ok"}
    assert set(found) >= {
        "holdfast", "libraries", "sqlite", "file system", "disk", "file", "file mode", "log", "clock", "schema", "jobs",
        "leases", "workers", "types", "queues", "dead letters",
    }  # fmt: skip
    answer = cli("doctor")
    assert answer.code == 0
    assert all(line.startswith("ok    ") for line in answer.out.splitlines())


def test_a_store_that_is_not_there_is_not_made(findings, tmp_path):
    code, found = findings()
    assert code == 0
    assert found["file"][0] == "warn"
    assert "does not exist yet" in found["file"][1]
    assert not (tmp_path / "jobs.db").exists()


def test_a_missing_folder_is_bad(findings, tmp_path):
    code, found = findings("--url", f"sqlite:///{tmp_path}/no/such/jobs.db")
    assert (code, found["disk"][0]) == (1, "bad")


def test_a_file_that_is_no_database_is_bad(findings, tmp_path):
    (tmp_path / "jobs.db").write_text("shopping list " * 500)
    (tmp_path / "jobs.db").chmod(0o600)
    code, found = findings()
    assert (code, found["store"][0]) == (1, "bad")
    assert found["store"][1].startswith("NOT_A_DATABASE: ")
    assert "schema" not in found


def test_a_folder_in_place_of_the_file_is_bad(findings, tmp_path):
    (tmp_path / "jobs.db").mkdir()
    code, found = findings()
    assert (code, found["file"][0]) == (1, "bad")


@pytest.mark.parametrize(("mode", "level", "code"), [(0o644, "warn", 0), (0o666, "bad", 1), (0o640, "ok", 0)])
def test_a_file_that_others_can_use_is_told(findings, tmp_path, mode, level, code):
    (tmp_path / "jobs.db").touch()
    (tmp_path / "jobs.db").chmod(mode)
    ended, found = findings()
    assert (ended, found["file mode"][0]) == (code, level)


def test_a_library_that_can_corrupt_the_file_is_bad(app, findings, monkeypatch):
    app.jobs()
    monkeypatch.setattr(surroundings, "_library", lambda _: "3.40.1")
    code, found = findings()
    assert (code, found["sqlite"][0]) == (1, "bad")


def test_a_network_file_system_is_bad(app, findings, monkeypatch):
    app.jobs()
    monkeypatch.setattr("holdfast.store.sqlite.location.file_system", lambda _: "nfs4")
    code, found = findings()
    assert (code, found["file system"][0]) == (1, "bad")


@pytest.mark.parametrize(("free", "level"), [(1024, "bad"), (64 * 2**20, "warn"), (2**40, "ok")])
def test_little_space_is_told(app, findings, monkeypatch, free, level):
    app.jobs()

    class Disk:
        f_bavail, f_frsize = free, 1

    monkeypatch.setattr(surroundings.os, "statvfs", lambda _: Disk)
    assert findings()[1]["disk"][0] == level


def test_a_log_that_is_not_folded_in_is_told(tmp_path):
    path = tmp_path / "jobs.db"
    path.touch(mode=0o600)
    with Path(f"{path}-wal").open("wb") as log:
        log.truncate(200 * 2**20)
    found = {finding.check: finding for finding in surroundings.place(str(path))}
    assert found["log"].level == "warn"
    assert "200 MiB" in found["log"].text


def test_the_folder_of_signals_is_looked_at(app, findings, tmp_path):
    app.jobs()
    folder = Path(make_folder(str(tmp_path / "jobs.db")))
    assert findings()[1]["signals"][:2] == ("ok", "listening: 0 processes")
    folder.chmod(0o755)
    assert findings()[1]["signals"][0] == "warn"


def test_a_clock_that_was_never_set_is_bad(monkeypatch):
    monkeypatch.setattr(surroundings.time, "time", lambda: 1_000.0)
    assert surroundings.clock().level == "bad"


def test_a_clock_that_is_moved_is_told(monkeypatch):
    moments = iter((1_800_000_000.0, 1_800_000_060.0))
    monkeypatch.setattr(surroundings.time, "time", lambda: next(moments))
    finding = surroundings.clock()
    assert finding.level == "warn"
    assert "moved by 60 s" in finding.text


def test_a_job_from_the_future_tells_of_a_clock(findings, url):
    with App(url, clock=lambda: time_ns() // 1_000_000 + 3_600_000) as ahead:
        ahead.enqueue("tick")
    assert findings()[1]["jobs"][0] == "warn"


def test_leases_that_expired_are_told(findings, app):
    running(app, lease_ms=1)
    running(app, "tick")
    level, text, _ = findings()[1]["leases"]
    assert (level, text) == ("warn", "expired: 1 lease of 2 runs")


def test_jobs_that_wait_without_a_worker_are_told(findings, app):
    app.enqueue("mail")
    found = findings()[1]
    assert found["workers"][0] == "warn"
    assert found["types"][0] == "ok"


def test_types_that_no_worker_knows_are_told(findings, app):
    worker(app)
    for kind in ("mail", "mial", "a", "b", "c"):
        app.enqueue(kind)
    level, text, _ = findings()[1]["types"]
    assert level == "warn"
    assert text == "no live worker knows: a v1 in default (1), b v1 in default (1), c v1 in default (1) and 1 more"


def test_paused_queues_and_many_dead_letters_are_told(cli, findings, app):
    cli("queues", "pause", "slow")
    dead(app)
    assert findings()[1]["dead letters"][:2] == ("ok", "1 job for a person to look at")
    for _ in range(10):
        dead(app)
    code, found = findings()
    assert (code, found["queues"][0], found["dead letters"][0]) == (0, "warn", "warn")


def test_advice_stands_below_what_was_seen(cli, app):
    app.enqueue("mail")
    lines = cli("doctor").out.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith("warn  workers")]
    assert lines[place + 1].strip() == "-> start one: `holdfast worker MODULE:APP`"


@pytest.mark.slow
def test_the_doctor_says_whether_the_signal_is_proven(app, findings, monkeypatch):
    app.enqueue("mail")
    monkeypatch.setenv("HOLDFAST_SIGNAL", "off")
    assert findings()[1]["signal"][:2] == ("ok", "off: everyone polls once a second")
    monkeypatch.setenv("HOLDFAST_SIGNAL", redis_server.server().url)
    level, text, _ = findings()[1]["signal"]
    assert (level, "proven" in text) == ("ok", True)
    monkeypatch.setenv("HOLDFAST_SIGNAL", "redis://127.0.0.1:1/0")
    code, found = findings()
    level, text, advice = found["signal"]
    assert (code, level, "not proven" in text) == (0, "warn", True)
    assert "server up" in advice


def test_the_versions_of_a_server_and_its_driver_are_told(findings):
    url = server().migrated()
    code, found = findings("--url", url)
    server().drop(url)
    assert code == 0
    assert "psycopg 3." in found["libraries"][1]
    assert found["server"][1].startswith("PostgreSQL ")
    assert "database holdfast_" in found["server"][1]
    assert found["schema"][1].startswith("version ")


def test_a_database_without_tables_is_told_with_the_command_that_makes_them(findings):
    url = server().database()
    code, found = findings("--url", url)
    server().drop(url)
    assert (code, found["store"][2]) == (1, "`holdfast migrate` makes the tables")


@pytest.mark.slow
def test_a_server_that_is_down_is_told_in_the_table_alone(tmp_path):
    answer = process("doctor", "--url", "postgresql://ann:hunter2@127.0.0.1:1/jobs", cwd=tmp_path)
    assert (answer.code, answer.err) == (1, "")
    assert "Connection refused Is the server running" in answer.out
    assert "-> is the server up? " in answer.out
    assert "hunter2" not in answer.out
    assert ".md" not in answer.out
