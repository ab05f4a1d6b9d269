"""The benchmarks run from end to end, at a tiny size: what they measure is not judged here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from rich.console import Console

from bench import engine, ours, report
from bench.__main__ import main, run
from bench.peers import workloads
from holdfast.cli.measures.rounds import AtLeast, Below, Result, Sample, Workload, measure


@pytest.mark.parametrize("name", ["W1", "W2", "drain", "beside mixed", "beside finished", "beside queued"])
def test_every_workload_of_the_engine_runs(tmp_path, name):
    groups = engine.groups(tmp_path, engine.TINY, frozenset({name}))
    results = run(groups, 2, Console(quiet=True))
    assert [result.workload.name for result in results] == [name]
    assert all(len(result.rates(side)) == 2 for result in results for side in result.workload.sides)
    assert list(tmp_path.iterdir()) == [], "files are left behind"


def test_a_drain_runs_every_job_once(tmp_path):
    app, handler = ours.open_app(f"sqlite:///{tmp_path / 'jobs.db'}")
    ours.fill(app, handler, 130)
    done, _, _ = asyncio.run(ours.drain_app(app, 130, 50, tmp_path / "jobs.db-wal"))
    assert done == 130
    assert {job.status for job in app.jobs(limit=1000)} == {"completed"}
    app.close()


def test_every_peer_has_an_adapter_and_pinned_requirements():
    folder = Path(workloads.__file__).parent
    for module in workloads.PEERS.values():
        assert (folder / "adapters" / f"{module}.py").exists()
        if module != "ours":
            assert "==" in (folder / "requirements" / f"{module}.txt").read_text(encoding="utf-8")


def test_a_missed_target_is_told_and_counted(tmp_path):
    rates = {"fast": iter([300.0, 100.0, 330.0]), "slow": iter([100.0, 100.0, 100.0])}
    sides = {name: lambda some=some: Sample(next(some), {"p50 ms": 2.0}) for name, some in rates.items()}
    targets = (
        AtLeast("fast", "slow", 3),
        AtLeast("fast", "slow", 4),
        AtLeast("fast", "gone", 1),
        Below("slow", "p50 ms", 1),
    )
    results = measure([Workload(name="W", title="w", sides=sides, targets=targets)], 3, lambda _: None)
    assert [verdict.met for verdict in results[0].verdicts()] == [True, False, None, False]
    assert report.missed(results) == 2
    report.show(results, Console(quiet=True))
    report.write(results, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["workloads"][0]["targets"][0]["value"] == 3.0


def test_a_side_that_fails_leaves_its_ratio_open():
    result = Result(Workload(name="W", title="w", sides={}), {"a": [Sample(1.0)], "b": [Sample(fault="not installed")]})
    assert result.ratio("a", "b") is None


def test_a_workload_that_nobody_knows_is_refused_with_those_that_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_DIR", str(tmp_path))
    with pytest.raises(SystemExit) as refused:
        main(["engine", "--tiny", "--only", "W1,wrongname"])
    assert str(refused.value).startswith("--only: no workload wrongname; there are: W1, W2, drain, ")
    assert list(tmp_path.iterdir()) == []
