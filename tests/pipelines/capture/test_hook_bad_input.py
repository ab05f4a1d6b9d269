"""Whatever the hook is given, and wherever it cannot write: it exits 0, says nothing, and nothing raw is on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast_pipelines.capture.hook import drain
from holdfast_pipelines.capture.marks import keyed_digest
from tests.pipelines.capture.hooks import COMMAND, files_with
from tests.pipelines.capture.test_hook import KEY, MAIL, SECRETS, answer, said

RAW = f"key {KEY} mail {MAIL} password=hunter2x9"


def event(home, **fields) -> bytes:
    return json.dumps(home.given("UserPromptSubmit", prompt=RAW, **fields)).encode()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (b"", "ignored: the input is empty"),
        (b" \n ", "ignored: the input is empty"),
        (RAW.encode(), "ignored: the input is not JSON"),
        (b"[" * 100_000, "ignored: the input is not JSON"),
        (b'["' + RAW.encode() + b'"]', "ignored: the input is not an object"),
        (b'{"prompt": "\xff\xfe ' + RAW.encode() + b'"}', "ignored: the input is not UTF-8"),
        (b'{"hook_event_name": "Dance", "session_id": "s", "prompt": "' + RAW.encode() + b'"}', "ignored: the event is of no kind that is captured"),
        (b'{"hook_event_name": "Stop", "last_assistant_message": "' + RAW.encode() + b'"}', "ignored: the event names no session"),
        (b'{"prompt": "' + RAW.encode() * 500_000 + b'"}', "dropped: the input is longer than 1 MiB"),
    ],
    ids=["empty", "blank", "no JSON", "deep", "no object", "no UTF-8", "unknown", "no session", "50 MB"],
)  # fmt: skip
def test_what_cannot_be_used_leaves_one_line(home, given, line):
    home.run(given)
    assert [entry.split(" ", 1)[1] for entry in home.log()] == [line]
    assert not home.database.exists()
    assert files_with(home.folder, *SECRETS) == []


def test_a_text_with_half_a_sign_is_kept(home):
    home.run(b'{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "a \\ud83d b"}')
    assert home.texts() == ["a ? b"]


def test_a_missing_transcript_leaves_one_line(home):
    home.event("Stop", stop_hook_active=False)
    assert [entry.split(" ", 1)[1] for entry in home.log()] == ["the transcript cannot be read: ENOENT"]


def test_a_transcript_that_ends_in_half_a_line_is_read_up_to_it(home):
    transcript = home.project / "transcript.jsonl"
    half = json.dumps({"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": RAW}]}})[:-9]
    transcript.write_text(answer("m1", said(f"the key is {KEY}")) + half)
    home.event("Stop", stop_hook_active=False)
    assert home.texts() == ["the key is [REDACTED_ANTHROPIC_KEY]"]
    assert files_with(home.folder, *SECRETS) == []
    transcript.write_text(half)
    home.event("Stop", session="session-2")
    assert home.texts() == ["the key is [REDACTED_ANTHROPIC_KEY]"]
    assert files_with(home.folder, *SECRETS) == []
    assert home.log() == []


@pytest.mark.parametrize(
    "content",
    ["no\nJSON\n", '{"type": "message", "text": "of another form"}\n', " " * 300_000 + "\n"],
    ids=["no JSON", "another form", "one long line"],
)
def test_a_transcript_without_a_message_leaves_one_line(home, content):
    (home.project / "transcript.jsonl").write_text(content)
    home.event("Stop", stop_hook_active=False)
    line = "nothing to keep: the event has no answer, and its transcript no message in the last 256 KB"
    assert [entry.split(" ", 1)[1] for entry in home.log()] == [line]


@pytest.mark.parametrize("path", [None, "", 7, ["x"]])
def test_an_answer_that_is_nowhere_leaves_one_line(home, path):
    home.event("Stop", stop_hook_active=False, transcript_path=path)
    line = "nothing to keep: the event has no answer, and names no transcript"
    assert [entry.split(" ", 1)[1] for entry in home.log()] == [line]


def test_a_locked_database_is_not_waited_for(home):
    home.event("UserPromptSubmit", prompt="first")
    other = apsw.Connection(str(home.database))
    other.execute("begin immediate")
    home.run(event(home))
    assert len(home.spooled()) == 1
    assert [entry.split(" ", 1)[1] for entry in home.log()] == ["spooled: STORE_UNAVAILABLE"]
    assert files_with(home.folder, *SECRETS) == []
    assert home.spooled()[0].stat().st_mode & 0o077 == 0
    other.execute("rollback")
    other.close()
    home.event("UserPromptSubmit", prompt="third")
    texts = home.texts()
    assert (texts[0], texts[2]) == ("first", "third")
    assert "[REDACTED_ANTHROPIC_KEY]" in texts[1]
    assert home.spooled() == []


def test_a_database_that_cannot_be_opened_is_left_as_it_is(home):
    home.folder.mkdir(mode=0o700)
    home.database.write_bytes(b"this is no database, but a text of somebody's that is long enough to be looked at" * 20)
    before = home.database.read_bytes()
    home.run(event(home))
    assert home.database.read_bytes() == before
    assert len(home.spooled()) == 1
    assert home.log()[0].split(" ", 1)[1] == "spooled: NOT_A_DATABASE"
    assert files_with(home.folder, *SECRETS) == []


def test_a_newer_database_is_left_as_it_is(home):
    home.event("UserPromptSubmit", prompt="first")
    other = apsw.Connection(str(home.database))
    other.execute("update holdfast_schema set version = 999 where version = (select max(version) from holdfast_schema)")
    other.close()
    home.run(event(home))
    assert len(home.spooled()) == 1
    assert [entry.split(" ", 1)[1] for entry in home.log()] == ["spooled: SCHEMA_TOO_NEW"]
    assert files_with(home.folder, *SECRETS) == []


def test_an_older_database_is_not_migrated(home):
    home.event("UserPromptSubmit", prompt="first")
    other = apsw.Connection(str(home.database))
    other.execute("delete from holdfast_schema where version = (select max(version) from holdfast_schema)")
    other.close()
    home.run(event(home))
    assert len(home.spooled()) == 1
    assert [entry.split(" ", 1)[1] for entry in home.log()] == ["spooled: SCHEMA_MISSING"]
    assert files_with(home.folder, *SECRETS) == []


def test_capture_tables_of_another_version_are_left_as_they_are(home):
    home.event("UserPromptSubmit", prompt="first")
    other = apsw.Connection(str(home.database))
    other.execute("update capture_schema set version = 2")
    other.close()
    home.run(event(home))
    assert [entry.split(" ", 1)[1] for entry in home.log()] == ["spooled: ForeignTables"]
    assert files_with(home.folder, *SECRETS) == []


def test_tables_of_somebody_else_are_left_as_they_are(home):
    home.folder.mkdir(mode=0o700)
    with holdfast.App(f"sqlite:///{home.database}") as app, app.transaction() as tx:
        tx.execute("create table messages (id integer)")
    home.run(event(home))
    assert home.log()[0].split(" ", 1)[1] == "spooled: ForeignTables"
    assert home.rows("select count(*) from messages") == [(0,)]


def small_disk(folder) -> bool:
    """A file system of a megabyte of its own, where that may be had."""
    if os.geteuid() != 0:
        return False
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", folder], check=False, capture_output=True
    )
    return done.returncode == 0


def test_a_full_disk_drops_the_event_and_nothing_half_written_stays(home):
    home.folder.mkdir(mode=0o700)
    if not small_disk(home.folder):
        pytest.skip("only root can mount a small disk")
    try:
        home.run(event(home))
        assert home.rows("select name from sqlite_master where name = 'messages'") == []
        assert home.spooled() == []
        assert [entry.split(" ", 1)[1] for entry in home.log()] == ["dropped: STORE_FULL"]
        assert files_with(home.folder, *SECRETS) == []
    finally:
        subprocess.run(["umount", home.folder], check=True)


def test_a_folder_that_cannot_be_made_is_no_reason_to_fail(home):
    home.folder.write_text("a file is in the way")
    home.run(event(home))
    assert home.folder.read_text() == "a file is in the way"


def test_a_read_only_database_is_spooled(home, tmp_path):
    folder = tmp_path / "sealed"
    home.environment["HOLDFAST_CAPTURE_URL"] = f"sqlite:///{folder}/own.db"
    home.event("UserPromptSubmit", prompt="first")
    mounted = (
        os.geteuid() == 0
        and subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], check=False, capture_output=True).returncode
        == 0
    )
    if mounted:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
    else:
        folder.chmod(0o500)
        (folder / "own.db").chmod(0o400)
    try:
        home.run(event(home))
        assert len(home.spooled()) == 1
        assert home.log()[0].split(" ", 1)[1] in {"spooled: STORE_READ_ONLY", "spooled: ReadOnlyError"}
        assert files_with(home.folder, *SECRETS) == []
    finally:
        subprocess.run(["umount", folder], check=True) if mounted else folder.chmod(0o700)


def test_the_spool_is_drained_in_the_order_of_capture_and_a_bad_file_is_put_aside(home):
    home.folder.mkdir(mode=0o700)
    home.database.write_bytes(b"")
    other = apsw.Connection(str(home.database))
    other.execute("begin exclusive")
    for number in range(8):
        home.event("UserPromptSubmit", prompt=f"number {number}")
    other.execute("rollback")
    other.close()
    assert len(home.spooled()) == 8
    (home.spooled()[0].parent / "00000000000000000000-x.json").write_text("{half")
    home.event("UserPromptSubmit", prompt="number 8")
    assert len(home.spooled()) == 5  # a hook takes five, one of them unreadable
    with holdfast.App(f"sqlite:///{home.database}") as app:
        assert drain(app, str(home.spooled()[0].parent), 1_000) == 5
    assert home.texts() == [f"number {number}" for number in range(9)]
    assert home.spooled() == []


def test_what_is_owed_stays_owed_while_events_wait_in_the_spool(home):
    transcript = home.project / "transcript.jsonl"
    transcript.write_text("")
    home.event("UserPromptSubmit", prompt="one")
    home.event("Stop")
    other = apsw.Connection(str(home.database))
    other.execute("begin immediate")
    home.event("UserPromptSubmit", prompt="two")
    other.execute("rollback")
    other.close()
    with holdfast.App(f"sqlite:///{home.database}") as app:
        drain(app, str(home.spooled()[0].parent), 10)
    assert home.rows("select transcript_owed from conversations") == [(1,)]


@pytest.mark.slow
def test_many_hooks_at_once_lose_nothing(home):
    """HOLDFAST_HOOKS=200 is the full size."""
    number = int(os.environ.get("HOLDFAST_HOOKS", "60"))
    home.event("UserPromptSubmit", prompt="the first", session="s0")
    with ThreadPoolExecutor(32) as pool:
        list(
            pool.map(lambda n: home.event("UserPromptSubmit", prompt=f"prompt {n}", session=f"s{n % 5}"), range(number))
        )
    with holdfast.App(f"sqlite:///{home.database}") as app:
        while drain(
            app, str(home.folder / "spool" / home.database.as_posix().strip("/").replace("/", "-")[-100:]), 1_000
        ):
            pass
    assert home.spooled() == []
    assert sorted(home.texts()) == sorted(["the first", *(f"prompt {n}" for n in range(number))])
    assert home.rows(
        "select count(*) from (select 1 from messages group by conversation_id having max(sequence) <> count(*))"
    ) == [(0,)]
    assert home.rows("select count(*) from job_queue") == [(5,)]


def test_whatever_lies_in_the_spool_keeps_nobody_waiting(home):
    home.event("UserPromptSubmit", prompt="number 0")
    spool = home.folder / "spool" / str(home.database).strip("/").replace("/", "-")[-100:]
    spool.mkdir(parents=True)
    (spool / "00000000000000000001-folder.json").mkdir()
    os.mkfifo(spool / "00000000000000000002-pipe.json")
    (spool / "00000000000000000003-half.json").write_text('{"messages": [{}]}')
    home.event("UserPromptSubmit", prompt="number 1")
    home.event("UserPromptSubmit", prompt="number 2")
    assert home.texts() == ["number 0", "number 1", "number 2"]
    assert len(list(spool.glob("*.unreadable"))) == 3


def test_without_standard_input_there_is_nothing_to_capture(home):
    command = ["bash", "-c", 'exec "$@" <&-', "bash", *COMMAND]
    done = subprocess.run(command, env=home.environment, cwd=home.project, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [line.split(" ", 1)[1] for line in home.log()] == ["ignored: there is no standard input"]


def test_a_folder_that_is_not_absolute_is_not_used(home):
    home.environment["HOLDFAST_CAPTURE_FOLDER"] = "relative/x"
    home.run(event(home))
    assert list(home.project.iterdir()) == []
    log = Path(home.environment["HOME"]) / ".local" / "share" / "holdfast" / "capture.log"
    assert "HOLDFAST_CAPTURE_FOLDER is not used" in log.read_text()


def test_no_bare_hash_is_kept_of_what_validation_may_yet_remove(home):
    text = "the password is hunter2x9f"
    home.event("UserPromptSubmit", prompt=text)
    ((raw,),) = home.rows("select raw_hash from messages")
    assert raw != hashlib.sha256(text.encode()).hexdigest()
    assert raw == keyed_digest((home.folder / "capture.key").read_bytes(), text)
