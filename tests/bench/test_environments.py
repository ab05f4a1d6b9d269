"""Every side runs on one interpreter; a peer that cannot be installed stands in the table with the reason."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from bench import report
from bench.__main__ import run
from bench.peers import environments, workloads
from bench.peers.environments import Environment, Interpreter


def test_this_interpreter_is_taken_where_it_is_new_enough(monkeypatch):
    monkeypatch.delenv("BENCH_PYTHON", raising=False)
    assert environments.chosen([(3, 11), (0, 0)]).path == sys.executable


def test_another_one_is_taken_where_it_was_asked_for(monkeypatch, tmp_path):
    link = tmp_path / "python"
    link.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    link.chmod(0o700)
    monkeypatch.setenv("BENCH_PYTHON", str(link))
    assert next(environments.candidates()) == str(link)
    assert environments.chosen([(3, 11)]).version == sys.version_info[:2]


def test_one_that_cannot_be_run_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("BENCH_PYTHON", str(tmp_path / "gone"))
    with pytest.raises(SystemExit, match="BENCH_PYTHON"):
        environments.chosen([])


def test_interpreters_of_pyenv_are_found(monkeypatch, tmp_path):
    program = tmp_path / "versions" / "3.12.9" / "bin" / "python3.12"
    program.parent.mkdir(parents=True)
    program.touch()
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert str(program) in list(environments.candidates())


def test_a_peer_that_needs_a_newer_python_says_so():
    made = environments._environment("litequeue", Interpreter("python", (3, 11), "3.11.0"))
    assert made.fault == "not installed: needs Python 3.12; set BENCH_PYTHON to one"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("ERROR: Could not find\nERROR: No matching distribution found for x\n", "no wheel of x==1 for this platform"),
        ("ERROR: No matching distribution found for y>=2\n", "no wheel of y>=2 for this platform and Python, and x==1"),
        ("line\nERROR: the disk is full\n", "ERROR: the disk is full"),
        ("", "the installer said nothing"),
    ],
)
def test_an_installer_that_failed_is_quoted(said, reason):
    assert environments._reason(said, ["x==1"]).startswith(reason)


def test_ours_is_installed_with_the_versions_of_this_environment():
    wanted = environments.requirements("ours")
    assert {line.partition("==")[0] for line in wanted} >= {"apsw", "pydantic"}
    assert all(line.partition("==")[2] for line in wanted)


def test_ours_on_postgresql_has_its_driver():
    more = set(environments.requirements("ours_postgres")) - set(environments.requirements("ours"))
    assert [line.partition("==")[0] for line in more] == ["psycopg[binary]"]


def test_only_what_is_marked_is_compiled():
    assert environments.from_source("oban") == ["erlpack"]
    assert environments.from_source("pgqueuer") == []


def test_a_peer_that_is_not_installed_stands_in_the_table_with_the_reason(tmp_path):
    made = {"ours": Environment(sys.executable), "honker": Environment("", "not installed: no wheel of honker")}
    setting = workloads.Setting(folder=tmp_path, sizes=workloads.TINY, environments=made)
    groups = workloads.groups(setting, ["Holdfast", "honker"], frozenset({"W1", "W2"}))
    results = run(groups, 1, Console(quiet=True))
    page = io.StringIO()
    report.show(results, Console(file=page, width=200))
    assert page.getvalue().count("not installed: no wheel of honker") == 2
    assert all(result.rates("Holdfast") for result in results)
    assert list(tmp_path.iterdir()) == []


def test_a_target_without_a_peer_is_not_judged_and_says_why(tmp_path):
    made = {"honker": Environment("", "not installed: no wheel")}
    setting = workloads.Setting(folder=tmp_path, sizes=workloads.TINY, environments=made)
    (group,) = workloads.groups(setting, ["honker"], frozenset())
    assert [workload.name for workload in group] == ["W1", "W2", "W3", "W4", "W5", "kill peers"]
    assert [workload.targets for workload in group if workload.targets] == []


def test_every_target_of_the_sqlite_column_is_judged(tmp_path):
    setting = workloads.Setting(folder=tmp_path, sizes=workloads.Sizes())
    (group,) = workloads.groups(setting, list(workloads.PEERS), frozenset())
    assert {f"{workload.name}: {target}" for workload in group for target in workload.targets} == {
        "W2: Holdfast >= 2 x FlexiQ",
        "W3: Holdfast >= 3 x litequeue",
        "W3: Holdfast >= 2 x honker",
        "W3: Holdfast >= 12 x FlexiQ",
        "W3: Holdfast x2 >= 1 x Holdfast",
        "W4: Holdfast: p50 ms < 1.5",
        "W4: Holdfast: p99 ms < 5",
        "W4: Holdfast: idle CPU % < 1",
        "W5: Holdfast, 1,000,000 queued >= 0.9 x Holdfast, 1,000 queued",
        "kill: Holdfast: re-run after ms < 1000",
        "kill: Holdfast, a whole worker: re-run after ms < 1000",
        "memory: Holdfast: peak MB < 150",
        "memory: Holdfast: grown MB < 10",
    }
