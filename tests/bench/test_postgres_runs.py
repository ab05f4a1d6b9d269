"""The benchmarks on PostgreSQL run from end to end, at a tiny size: what they measure is not judged here."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rich.console import Console

from bench import engine, ours
from bench.__main__ import run
from bench.peers import on_postgres, workloads
from bench.peers.environments import Environment
from bench.postgres import decay, growth
from bench.postgres import engine as postgres_engine
from bench.postgres.server import Databases, closed_to_others, execute, running
from holdfast.cli.measures import ruler
from tests.servers import postgres

ROOT = Path(__file__).resolve().parents[2]
ALL = ["W1", "W2", "drain", "beside finished", "beside mixed", "beside queued", "decay"]


@pytest.fixture(scope="module")
def databases() -> Databases:
    """On the tests' own server, which does not wait for a disk."""
    return Databases(postgres.server())


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the server's user may enter, by a short name."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        place.chmod(0o711)
        yield place


def databases_on(url: str) -> set[str]:
    return {name for (name,) in execute(url, "select datname from pg_database")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_workload_of_the_engine_runs(databases, tmp_path, name):
    before = databases_on(postgres.server().url)
    groups = postgres_engine.groups(databases, tmp_path, engine.TINY, decay.TINY, frozenset({name}))
    results = run(groups, 2, Console(quiet=True))
    assert [result.workload.name for result in results] == [name]
    assert all(len(result.rates(side)) == 2 for result in results for side in result.workload.sides)
    assert all(verdict.met is not None for result in results for verdict in result.verdicts())
    assert databases_on(postgres.server().url) == before, "databases are left behind"


def test_every_target_of_the_engine_is_judged(databases, tmp_path):
    groups = postgres_engine.groups(databases, tmp_path, engine.Sizes(), decay.Sizes())
    found = {f"{workload.name}: {target}" for group in groups for workload in group for target in workload.targets}
    beside = ("queued", "finished", "scheduled", "unknown type", "paused queue", "mixed")
    assert found == {
        "W1: Holdfast >= 0.7 x bare insert",
        "W2: Holdfast >= 0.5 x COPY",
        "drain: Holdfast >= 0.6 x bare loop",
        *(f"beside {kind}: 1,000,000 rows >= 0.9 x 1,000 rows" for kind in beside),
        *(f"beside {kind}: 1,000,000 rows: claim p99 ms <= 2 x 1,000 rows" for kind in beside),
        "decay: another transaction open: lost % < 5",
    }


@pytest.mark.parametrize("kind", [*growth.KINDS, "mixed"])
def test_what_stands_beside_the_jobs_is_what_it_is_called(databases, kind):
    with databases.one() as url:
        app, _ = ours.open_app(url)
        growth.fill(url, kind, 30)
        jobs = app.jobs(limit=100)
        app.close()
    assert len({job.id for job in jobs}) == 30
    kinds = {
        "queued": sum(job.type == "thumbnail" and job.priority == 5 and job.status == "queued" for job in jobs),
        "finished": sum(job.status == "completed" for job in jobs),
        "scheduled": sum(job.priority == 1 and job.scheduled_at > job.created_at for job in jobs),
        "unknown type": sum(job.type.startswith("unknown_") for job in jobs),
        "paused queue": sum(job.queue == "paused" for job in jobs),
    }
    parts = growth.MIXED if kind == "mixed" else (kind,)
    assert {name: count for name, count in kinds.items() if count} == dict.fromkeys(parts, 30 // len(parts))


def test_the_transaction_that_stays_open_keeps_the_dead_from_being_cleaned_away(databases):
    held = "select count(*) from pg_stat_activity where backend_xmin is not null and state = 'idle in transaction'"
    with databases.one() as url:
        mine = f"{held} and datname = current_database() and backend_xid is not null"
        with decay.open_transaction(url):
            assert execute(url, mine) == [(1,)]
        assert execute(url, mine) == [(0,)]


@pytest.mark.slow
def test_a_server_that_may_forget_is_refused():
    forgetful = postgres.OwnServer(("synchronous_commit=off",))
    try:
        with pytest.raises(SystemExit, match="turn synchronous_commit on"):
            Databases(forgetful).facts()
    finally:
        forgetful.remove(os.getpid())


@pytest.mark.slow
def test_the_servers_own_folder_is_on_the_disk_that_was_named_and_gone_afterwards(monkeypatch, place):
    monkeypatch.delenv("BENCH_POSTGRES", raising=False)
    with running(place) as databases:
        known = databases.facts()
        assert {known[name] for name in ("fsync", "synchronous_commit", "full_page_writes")} == {"on"}
        (folder,) = place.iterdir()
        with databases.one() as url:
            assert execute(url, "show data_directory") == [(str(folder.resolve() / "data"),)]
            stranger = re.sub(r":[0-9a-f]+@", ":wrong@", url)
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(stranger)
    assert list(place.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bench_that_is_stopped_leaves_no_server_and_no_file(place, number):
    options = ["--store", "postgres", "--tiny", "--only", "decay", "--hold", "600"]
    environment = {name: value for name, value in os.environ.items() if name != "BENCH_POSTGRES"}
    bench = subprocess.Popen(
        [sys.executable, "-m", "bench", "engine", *options], cwd=ROOT, env=environment | {"BENCH_DIR": str(place)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    said = "holdfast-pg-*/data/postmaster.pid"
    assert ruler.wait(lambda: any(found.read_text() for found in place.glob(said)), 60)  # made first, then written
    (found,) = place.glob(said)
    server = int(found.read_text().split()[0])
    bench.send_signal(number)
    bench.wait(60)
    assert ruler.wait(lambda: not ruler.alive([server]), 10)
    assert list(place.iterdir()) == []


def test_a_folder_that_another_user_may_not_enter_is_found(place):
    (place / "below").mkdir(0o755)
    assert closed_to_others(place / "below") is None
    place.chmod(0o700)
    assert closed_to_others(place / "below") == place


def test_a_server_that_was_named_is_used_as_it_is(monkeypatch, place):
    monkeypatch.setenv("BENCH_POSTGRES", postgres.server().url)
    started = "select pg_postmaster_start_time()"
    with running(place) as databases, databases.one() as url:
        assert execute(url, started) == execute(postgres.server().url, started)
    assert list(place.iterdir()) == []


def setting(folder: Path, databases: Databases, environments: dict[str, Environment]) -> workloads.Setting:
    return workloads.Setting(
        folder=folder,
        sizes=workloads.TINY,
        environments=environments,
        peers=on_postgres.PEERS,
        database=databases.one,
    )


@pytest.mark.slow
def test_ours_is_measured_by_real_workers_beside_a_peer_that_is_not_there(databases, tmp_path):
    made = {"ours_postgres": Environment(sys.executable), "oban": Environment("", "not installed: no wheel of erlpack")}
    only = frozenset({"W1", "W2", "W3", "W4", "W5"})
    groups = on_postgres.groups(setting(tmp_path, databases, made), ["Holdfast", "Oban"], only)
    results = {result.workload.name: result for result in run(groups, 1, Console(quiet=True))}
    assert set(results) == only
    assert all(sample.rate for one in results.pop("W5").samples.values() for sample in one)
    assert {result.fault("Holdfast") for result in results.values()} == {""}
    assert {result.fault("Oban") for result in results.values()} == {"not installed: no wheel of erlpack"}
    assert all(results[name].rates("Holdfast") for name in ("W1", "W2", "W3"))
    assert results["W3"].rates("Holdfast x2")
    assert results["W4"].figure("Holdfast", "p99 ms") is not None
    assert list(tmp_path.iterdir()) == []


def test_every_peer_has_an_adapter_and_pinned_requirements():
    folder = Path(workloads.__file__).parent
    for module in on_postgres.PEERS.values():
        assert (folder / "adapters" / f"{module}.py").exists()
        if module != "ours_postgres":
            assert "psycopg[binary]==" in (folder / "requirements" / f"{module}.txt").read_text(encoding="utf-8")


def test_every_target_against_a_peer_is_judged(databases, tmp_path):
    (group,) = on_postgres.groups(setting(tmp_path, databases, {}), list(on_postgres.PEERS), frozenset())
    assert {f"{workload.name}: {target}" for workload in group for target in workload.targets} == {
        "W1: Holdfast >= 1 x PgQueuer",
        "W1: Holdfast >= 1 x Awa",
        "W1: Holdfast >= 1 x FlexiQ",
        "W1: Holdfast >= 1 x Oban",
        "W1: Holdfast >= 1 x Procrastinate",
        "W2: Holdfast >= 1.5 x PgQueuer",
        "W3: Holdfast >= 1.5 x PgQueuer",
        "W3: Holdfast >= 3 x Awa",
        "W3: Holdfast x2 >= 1.2 x PgQueuer x2",
        "W4: Holdfast: p50 ms < 2.5",
        "W4: Holdfast: p99 ms < 5",
        "W4: Holdfast: p50 ms <= 1 x PgQueuer",
        "W4: Holdfast: p99 ms <= 1 x PgQueuer",
        "W5: Holdfast, 2,000 queued >= 0.9 x Holdfast, 1,000 queued",
        "kill: Holdfast: re-run after ms < 1000",
        "kill: Holdfast, a whole worker: re-run after ms < 1000",
        "memory: Holdfast: peak MB < 150",
        "memory: Holdfast: grown MB < 10",
    }
