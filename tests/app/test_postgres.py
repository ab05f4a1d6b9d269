"""The application on PostgreSQL: what differs from SQLite, and that the rest does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psycopg
import pytest

import holdfast
from tests.servers.postgres import server

MODULE = """
import holdfast
app = holdfast.App()

@app.job
async def double(number: int) -> int:
    return 2 * number

@app.job
def fail() -> None:
    raise holdfast.Permanent("never")
"""


@pytest.fixture
def url():
    address = server().migrated()
    yield address
    server().drop(address)


@pytest.fixture
def app(url):
    with holdfast.App(url) as application:
        yield application


def test_a_database_without_tables_says_which_command_makes_them():
    address = server().database()
    with holdfast.App(address) as app, pytest.raises(holdfast.StoreError, match="run `holdfast migrate`"):
        app.enqueue("mail")
    server().drop(address)


def test_a_job_is_stored_once_for_its_key(app):
    first = app.enqueue("mail", {"to": "a"}, key="k")
    again = app.enqueue("mail", {"to": "a"}, key="k")
    assert (first.created, again.created) == (True, False)
    assert first.id == again.id
    assert first.status() == "queued"


def test_rows_and_jobs_commit_or_vanish_together(app, url):
    with psycopg.connect(url) as own:
        own.execute("create table orders (id integer)")
    with app.transaction() as tx:
        tx.execute("insert into orders values (%s)", (7,))
        kept = app.enqueue("ship", {"order": 7})
    with pytest.raises(ZeroDivisionError):
        half(app)
    with psycopg.connect(url) as own:
        assert own.execute("select id from orders").fetchall() == [(7,)]
    assert kept.status() == "queued"
    assert len(app.jobs()) == 1


def half(app):
    with app.transaction() as tx:
        tx.execute("insert into orders values (8)")
        app.enqueue("ship", {"order": 8})
        raise ZeroDivisionError


def test_a_job_rides_on_the_applications_own_connection(app, url):
    with psycopg.connect(url) as own:
        gone = app.enqueue("ship", {"order": 1}, connection=own)
        own.rollback()
        kept = app.enqueue("ship", {"order": 2}, connection=own)
    assert kept.status() == "queued"
    with pytest.raises(holdfast.NotFound):
        gone.status()


def test_without_the_driver_the_package_to_install_is_told():
    program = "import sys; sys.modules['psycopg'] = None; import holdfast; holdfast.App('postgresql://h/jobs')"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert 'install the extra postgres, for example by pip install "/path/to/the/clone[postgres]"' in answer.stderr


def test_a_forked_process_uses_a_connection_of_its_own(app):
    app.enqueue("mail")
    child = os.fork()
    if child == 0:  # pragma: no cover  # seen from the parent
        try:
            app.enqueue("mail")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    app.enqueue("mail")
    assert len(app.jobs()) == 3


@pytest.mark.slow
def test_a_worker_runs_the_jobs(app, url, tmp_path):
    (tmp_path / "work.py").write_text(MODULE)
    environment = os.environ | {"HOLDFAST_URL": url, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "holdfast.cli", "worker", "work:app"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as worker:
        try:
            handles = [app.enqueue("double", {"number": number}) for number in range(20)]
            bad = app.enqueue("fail")
            assert [handle.result(timeout=30) for handle in handles] == [2 * number for number in range(20)]
            with pytest.raises(holdfast.JobFailed):
                bad.result(timeout=30)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0
        finally:
            worker.kill()
