"""`holdfast bench` measures, says what it means, and leaves nothing behind. What it measures is not judged here."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import holdfast
from holdfast.cli.measures import trials
from holdfast.cli.storms.processes import MARK, left_after, marked
from tests.cli.given import PROGRAM, clean_environment
from tests.patience import PATIENCE, wait_for
from tests.servers.postgres import server

TINY = ("bench", "--quick", "--jobs", "60", "--seconds", "0.2")
WORKLOADS = {"disk", "enqueue", "bulk", "drain", "idle worker"}


def started(folder: Path, mark: str, *options: str) -> subprocess.Popen[bytes]:
    """A bench in a process of its own; all that it starts carries the mark."""
    return subprocess.Popen(
        [*PROGRAM, "bench", *options, "--url", f"sqlite:///{folder}/jobs.db"],
        cwd=folder,
        env=clean_environment() | {MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def written(folder: Path) -> int:
    """How many bytes of jobs wait in the logs of the throw-away databases, which may be gone while one looks."""
    logs = folder.glob(".holdfast-bench-*/*/jobs.db-wal")
    with suppress(FileNotFoundError):
        return sum(log.stat().st_size for log in logs)
    return 0


@pytest.mark.slow
def test_everything_is_measured_and_the_users_own_queue_is_not_touched(cli, app, url, tmp_path):
    app.enqueue("thumbnail", {"path": "a.png"})
    before = {path.name for path in tmp_path.iterdir()}
    answer = cli(*TINY, "--url", url, "--processes", "2", "--json", "report.json")
    assert (answer.code, answer.err) == (0, "")
    report = json.loads(Path("report.json").read_text())
    assert report["version"] == holdfast.__version__
    assert report["settings"] == {
        "jobs": 60, "seconds": 0.2, "processes": 2, "rounds": 1, "query": "synchronous=normal",
    }  # fmt: skip
    assert {"python", "system", "cores", "sqlite", "file system"} <= set(report["machine"])
    assert {one["name"] for one in report["workloads"]} == WORKLOADS
    sides = {one["name"]: one["sides"] for one in report["workloads"]}
    assert set(sides["drain"]) == {"1 process", "2 processes"}
    assert all(sample["rate"] > 0 for name in WORKLOADS - {"idle worker"} for (sample,) in sides[name].values())
    assert {"p50 ms", "p95 ms", "p99 ms"} <= set(sides["idle worker"]["Holdfast"][0]["figures"])
    for name, sentence in report["verdicts"].items():
        assert f"{name}: {sentence}" in answer.out
    assert [job.status.value for job in app.jobs()] == ["queued"]
    assert {path.name for path in tmp_path.iterdir()} == before, "files are left behind"


@pytest.mark.slow
def test_postgresql_is_measured_in_a_schema_that_is_gone_afterwards(cli, tmp_path, monkeypatch, request):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    address = server().migrated()
    request.addfinalizer(lambda: server().drop(address))
    with holdfast.App(address, signal="off") as app:
        app.enqueue("thumbnail", {"path": "a.png"})
        with psycopg.connect(address, autocommit=True) as ear:
            ear.execute("listen holdfast")
            answer = cli(*TINY, "--url", address, "--processes", "2", "--json", "report.json")
            heard = list(ear.notifies(timeout=0))
            schemas = [name for (name,) in ear.execute("select nspname::text from pg_namespace").fetchall()]
        assert [job.status.value for job in app.jobs()] == ["queued"]
    assert (answer.code, answer.err) == (0, "")
    assert [name for name in schemas if "bench" in name] == []
    assert heard == [], "workers of the database were woken"
    report = json.loads(Path("report.json").read_text())
    assert report["machine"]["postgresql"]
    assert {one["name"] for one in report["workloads"]} == WORKLOADS - {"disk"} | {"commits"}
    assert {"commits", "enqueue", "bulk", "drain", "drain x2", "pick-up", "idle"} == set(report["verdicts"])
    rates = [sample["rate"] for one in report["workloads"] for samples in one["sides"].values() for sample in samples]
    assert sum(rate is not None and rate > 0 for rate in rates) == 7
    assert [path.name for path in (tmp_path / "holdfast").iterdir()] == []


@pytest.mark.slow
def test_a_bench_of_postgresql_that_is_stopped_leaves_no_schema(tmp_path, request):
    address = server().migrated()
    request.addfinalizer(lambda: server().drop(address))
    mark = secrets.token_hex(8)
    bench = subprocess.Popen(
        [*PROGRAM, "bench", "--jobs", "10000000", "--seconds", "0.1", "--url", address],
        cwd=tmp_path, env=clean_environment() | {MARK: mark, "XDG_RUNTIME_DIR": str(tmp_path)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    look = "select count(*) from pg_namespace where nspname like 'holdfast_bench%'"
    with psycopg.connect(address, autocommit=True) as witness:
        wait_for(lambda: witness.execute(look).fetchall() == [(1,)])
        bench.send_signal(signal.SIGTERM)
        bench.communicate(timeout=PATIENCE)  # the interpreter complains of an import that is broken off
        assert bench.returncode == 143
        assert witness.execute(look).fetchall() == [(0,)]
    assert left_after(mark, 5) == []


LOST = """
import os, signal, time, weakref
from holdfast.cli.bench import _ended_by_signal

class Anything: ...

with _ended_by_signal():
    one = Anything()
    kept = weakref.ref(one, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    try:
        del one  # an exception in such a callback is dropped by the interpreter
        time.sleep(60)
    finally:
        time.sleep(1)
        print("cleaned up")
"""


def test_a_request_to_end_is_not_lost_where_exceptions_are(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", LOST], env=clean_environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (143, "cleaned up\n"), ended.stderr


@pytest.mark.slow
def test_a_report_on_standard_output_is_all_there_is(cli):
    answer = cli(*TINY, "--processes", "1", "--json", "-")
    assert answer.code == 0
    assert set(answer.json["workloads"][3]["sides"]) == {"1 process"}
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_bench_that_is_stopped_leaves_no_process_and_no_file(tmp_path, number, code):
    mark = secrets.token_hex(8)
    bench = started(tmp_path, mark, "--jobs", "10000000", "--seconds", "0.1")
    wait_for(lambda: written(tmp_path) > 2_000_000)  # past all imports: the interpreter complains of one broken off
    bench.send_signal(number)
    _, said = bench.communicate(timeout=PATIENCE)
    assert (bench.returncode, said) == (code, b"")
    assert left_after(mark, 5) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_bench_that_is_stopped_ends_its_workers(tmp_path):
    mark = secrets.token_hex(8)
    bench = started(tmp_path, mark, "--quick", "--jobs", "20000", "--seconds", "0.2")
    wait_for(lambda: len(marked(mark)) > 3)  # itself, and a worker with its children
    bench.send_signal(signal.SIGINT)
    bench.send_signal(signal.SIGINT)
    bench.communicate(timeout=PATIENCE)
    assert bench.returncode == 130
    assert left_after(mark, 5) == []
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_cannot_start_is_told_with_its_own_words(tmp_path):
    class Broken:
        folder = tmp_path
        bulk = several = True

        def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
            del payloads

        def settle(self) -> None:
            pass

        def commands(self, workers: int) -> list[list[str]]:
            del workers
            return [[sys.executable, "-c", "raise SystemExit('no such module')"]]

    with pytest.raises(trials.Failed, match="the worker ended; it said: no such module"):
        trials.drain(Broken(), 10)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--jobs", "0"], 2, "--jobs"),
        (["--seconds", "soon"], 2, "--seconds"),
        (["--processes", "0"], 2, "--processes"),
        (["--url", "postgresql://user:secret@127.0.0.1:1/jobs"], 1, "STORE_UNAVAILABLE"),
        (["--url", "pigeon://loft"], 2, "BAD_URL"),
        (["--url", "sqlite:///gone/jobs.db"], 2, "does not exist"),
        (["--url", "sqlite:////proc/jobs.db"], 1, "STORE_CANNOT_OPEN"),
        (["--json", "gone/report.json"], 2, "gone"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_made(cli, options, code, words):
    answer = cli("bench", *options)
    assert answer.code == code
    assert words in answer.err + answer.out
    assert list(Path.cwd().iterdir()) == []
