"""Real processes on real pipes and pseudo-terminals."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from contextlib import contextmanager

import pytest

from tests.cli.given import EVIL, PROGRAM, RAW, clean_environment, dead, process

pytestmark = pytest.mark.slow


@contextmanager
def on_terminal(*arguments: str, cwd, url: str, width: int = 80):
    """A command on a terminal of its own: the process, and the end of the terminal that we hold."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = clean_environment() | {"HOLDFAST_URL": url, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    program = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=cwd,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield program, ours
    finally:
        program.kill()
        program.wait()
        os.close(ours)


def read_until(terminal: int, mark: str | None = None) -> str:
    """What was shown, up to a mark or to the end."""
    shown = b""
    while mark is None or mark.encode() not in shown:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other end was closed
            break
        if not more:
            break
        shown += more
    return shown.decode()


def test_a_table_fits_the_terminal_and_has_colours(tmp_path, url, app):
    job_id = dead(app, "a_type_with_a_name_that_is_really_quite_long", message="broken " * 50)
    with on_terminal("jobs", cwd=tmp_path, url=url) as (program, terminal):
        shown = read_until(terminal)
        assert program.wait() == 0
    assert job_id in shown
    assert "\x1b[" in shown
    assert len(shown.splitlines()) == 2
    assert "…" in shown


def test_no_colour_is_respected(tmp_path, url, app, monkeypatch):
    dead(app)
    monkeypatch.setenv("NO_COLOR", "1")
    ours, theirs = pty.openpty()
    run = subprocess.run(
        [*PROGRAM, "job", "show", "x"], cwd=tmp_path, env=clean_environment() | {"NO_COLOR": "1", "HOLDFAST_URL": url},
        stdout=theirs, stderr=theirs, check=False,
    )  # fmt: skip
    os.close(theirs)
    assert run.returncode == 1
    assert "\x1b" not in read_until(ours)
    os.close(ours)


@pytest.mark.parametrize("arguments", [["jobs"], ["dlq", "list"], ["top", "--once"], ["job", "show", "ID"]])
def test_a_terminal_is_never_told_what_to_do_by_a_job(tmp_path, url, app, arguments):
    job_id = dead(app, "[red]tick[/red]", message=EVIL)
    arguments = [job_id if argument == "ID" else argument for argument in arguments]
    with on_terminal(*arguments, cwd=tmp_path, url=url, width=200) as (program, terminal):
        shown = read_until(terminal)
        assert program.wait() == 0
    assert "[red]tick[/red]" in shown
    assert [raw for raw in RAW if raw in shown] == []
    assert ":smile:" in shown or "…" in shown


def test_the_live_view_ends_with_q_and_leaves_the_terminal_as_it_was(tmp_path, url, app):
    job_id = dead(app)
    with on_terminal("top", "--refresh", "0.1", cwd=tmp_path, url=url) as (program, terminal):
        before = termios.tcgetattr(terminal)[3]
        assert job_id in read_until(terminal, job_id)
        os.write(terminal, b"q")
        rest = read_until(terminal)
        assert program.wait() == 0
    assert before & termios.ICANON
    assert "\x1b[?1049l" in rest  # back to the screen that was there before


def test_ctrl_c_ends_the_live_view_quietly(tmp_path, url, app):
    job_id = dead(app)
    with on_terminal("top", cwd=tmp_path, url=url) as (program, terminal):
        read_until(terminal, job_id)
        program.send_signal(signal.SIGINT)
        rest = read_until(terminal)
        assert program.wait() == 130
    assert "Traceback" not in rest


def test_a_watched_listing_ends_with_ctrl_c(tmp_path, url, app):
    job_id = dead(app)
    with on_terminal("jobs", "--watch", cwd=tmp_path, url=url) as (program, terminal):
        read_until(terminal, job_id)
        program.send_signal(signal.SIGINT)
        rest = read_until(terminal)
        assert program.wait() == 130
    assert "Traceback" not in rest


def test_ctrl_c_during_a_wait_ends_it_quietly(tmp_path, url, app):
    job_id = app.enqueue("tick").id
    with on_terminal("job", "show", job_id, "--wait", "600", cwd=tmp_path, url=url) as (program, terminal):
        _wait_until_it_sleeps(program.pid)
        program.send_signal(signal.SIGINT)
        shown = read_until(terminal)
        assert program.wait() == 130
    assert shown.strip() in ("", "^C")


def test_long_work_shows_a_bar_beside_the_output(tmp_path, url, app):
    from tests.cli.test_dlq import _many

    _many(app, 500)
    with on_terminal("dlq", "retry", "--all", cwd=tmp_path, url=url) as (program, terminal):
        shown = read_until(terminal)
        assert program.wait() == 0
    assert "retrying" in shown
    assert "500 sent round again" in shown


def test_a_reader_that_has_enough_is_no_error(tmp_path, url, app):
    for _ in range(200):
        app.enqueue("tick", {"text": "x" * 1000})
    for arguments in ("jobs --limit 1000 --json", "jobs --limit 1000", "sql", "--help"):
        line = f"{' '.join(PROGRAM)} {arguments} | head -c 1"
        run = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, env=clean_environment(measured=False) | {"HOLDFAST_URL": url},
            capture_output=True, check=False, text=True,
        )  # fmt: skip
        assert (run.returncode, run.stderr, len(run.stdout)) == (0, "", 1)


@pytest.mark.parametrize(
    "arguments", [["jobs"], ["jobs", "--json"], ["enqueue", "tick"], ["top", "--once"], ["job", "show", "x", "--json"]]
)
def test_an_output_that_is_full_is_an_error_and_not_the_stores(tmp_path, url, app, arguments):
    app.enqueue("tick")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        run = subprocess.run(
            [*PROGRAM, *arguments], cwd=tmp_path, env=clean_environment() | {"HOLDFAST_URL": url}, stdout=full,
            stderr=subprocess.PIPE, check=False, text=True,
        )  # fmt: skip
    assert run.returncode == 1
    assert run.stderr.startswith("error OUTPUT_FAILED: standard output cannot be written: No space left on device; ")
    assert "Traceback" not in run.stderr


def test_an_output_without_the_letters_still_gets_the_line(tmp_path):
    process("enqueue", "日本", cwd=tmp_path)
    for arguments in (["jobs"], ["top", "--once"]):
        answer = process(*arguments, cwd=tmp_path, PYTHONIOENCODING="latin-1")
        assert answer.code == 0
        assert "\\u65e5\\u672c" in answer.out


def _wait_until_it_sleeps(pid: int) -> None:
    """Until the process waits for a lock in its main thread, with the watching thread beside it."""
    from pathlib import Path
    from time import sleep

    while len(list(Path(f"/proc/{pid}/task").iterdir())) < 2:
        sleep(0.01)
    while "State:\tS" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8"):
        sleep(0.01)
