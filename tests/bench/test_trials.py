"""The measurements on our own queue, with real workers, at a tiny size."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.measures import ruler, trials

ROOT = Path(__file__).resolve().parents[2]


def measured(folder: Path, work: str, jobs: int = 100, *, peer: str = "ours", **settings: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.peers.client", peer, work, str(jobs), str(folder)]
    environment = os.environ | settings | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, text=True, timeout=120)
    said: dict[str, Any] = json.loads(done.stdout.partition("RESULT ")[2])
    assert said["fault"] == ""
    return said


@pytest.mark.parametrize("work", ["W1", "W2"])
def test_enqueues_are_measured(tmp_path, work):
    assert measured(tmp_path, work, 20)["rate"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("work", "processes"), [("W3", 1), ("W3x2", 2), ("W5small", 1)])
def test_a_drain_is_measured_by_its_record(tmp_path, work, processes):
    said = measured(tmp_path, work)
    assert said["rate"] > 0
    assert 1 <= said["figures"]["processes"] <= processes
    assert ruler.Record(tmp_path / "record").count() >= 100


@pytest.mark.slow
@pytest.mark.parametrize("peer", ["ours", "bare_pair"])
def test_an_idle_worker_is_measured_before_and_while_jobs_come(tmp_path, peer):
    figures = measured(tmp_path, "W4", 20, peer=peer, BENCH_IDLE_SECONDS="0.2")["figures"]
    assert 0 < figures["p50 ms"] <= figures["p95 ms"] <= figures["p99 ms"]
    assert figures["idle CPU %"] < 100
    assert ruler.Record(tmp_path / "record").count() == 21


@pytest.mark.slow
@pytest.mark.parametrize("work", ["kill", "kill whole"])
def test_a_job_whose_process_was_killed_is_seen_to_run_again(tmp_path, work):
    after = measured(tmp_path, work)["figures"]["re-run after ms"]
    first, second = ruler.Record(tmp_path / "record").runs()
    assert first.enqueued == second.enqueued
    assert first.process != second.process
    assert 0 < after < (second.began - first.began) / 1e6


@pytest.mark.slow
def test_the_memory_of_a_worker_is_watched_while_it_drains(tmp_path):
    figures = measured(tmp_path, "memory", 300)["figures"]
    assert figures["jobs"] == 300
    assert 10 < figures["peak MB"] < 1_000


@pytest.mark.slow
def test_a_client_that_is_interrupted_ends_its_workers(tmp_path):
    command = [sys.executable, "-m", "bench.peers.client", "ours", "W4", "100000", str(tmp_path)]
    client = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    record = ruler.Record(tmp_path / "record")
    assert ruler.wait(lambda: record.count() > 0, 30)
    below = [process for process in ruler.family([client.pid]) if process != client.pid]
    assert below
    client.send_signal(signal.SIGINT)
    client.wait(30)
    assert ruler.alive(below) == []


def test_a_process_that_works_is_seen_to_use_its_processor():
    before = ruler.processor_seconds([os.getpid()])
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    assert 0.03 < ruler.processor_seconds([os.getpid()]) - before < 5
    assert ruler.memory([os.getpid()]) > 1
    assert os.getpid() in ruler.family([os.getppid()])


def test_only_the_first_run_of_an_endless_job_is_not_to_return(tmp_path, monkeypatch):
    monkeypatch.setenv(ruler.RECORD, str(tmp_path / "record"))
    record = ruler.Record(tmp_path / "record")
    endless, other = (ruler.payload(endless=kind)["t"] for kind in (True, False))
    assert [ruler.note(t) for t in (other, endless, endless, other)] == [False, True, False, False]
    assert [run.enqueued for run in record.runs()] == [other, endless, endless, other]


def test_a_rate_is_taken_from_when_all_processes_were_at_work():
    early = [ruler.Run(0, tick, 1) for tick in range(0, 2_000_000_000, 100_000_000)]
    soon = ruler.Run(0, 500_000_000, 2)
    late = ruler.Run(0, 1_900_000_000, 2)
    assert trials._rate([*early, soon], 2_000_000_000) == (pytest.approx(16 / 1.5), 2)
    assert trials._rate([*early, late], 2_000_000_000) == (pytest.approx(21 / 2), 2)
