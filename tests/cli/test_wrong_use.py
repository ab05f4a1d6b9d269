"""Every error is told once, without a trace and without a payload, and has its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.cli import SECTIONS
from holdfast.cli.guesses import GUESSES
from tests.cli.given import clean_environment, process

SECRET = "hunter2"  # noqa: S105  # a word to look for
WRONG_USE = [
    (["enqueue"], "BAD_OPTION"),
    (["enqueue", ""], "BAD_NAME"),
    (["enqueue", "a\nb"], "BAD_NAME"),
    (["enqueue", "tick", "--payload", f'{{"{SECRET}"'], "PAYLOAD_NOT_JSON"),
    (["enqueue", "tick", "--payload", f'["{SECRET}"]'], "PAYLOAD_INVALID"),
    (["enqueue", "tick", "--payload", f'{{"{SECRET}": NaN}}'], "PAYLOAD_NOT_JSON"),
    (["enqueue", "tick", "--payload", f'{{"{SECRET}": 1, "{SECRET}": 2}}'], "PAYLOAD_NOT_JSON"),
    (["enqueue", "tick", "--payload", "[" * 100_000], "PAYLOAD_TOO_DEEP"),
    (["enqueue", "tick", f'{{"password": "{SECRET}"}}'], "BAD_OPTION"),
    (["enqueue", "tick", "--paylod", f'{{"password": "{SECRET}"}}'], "BAD_OPTION"),
    (["enqueue", "tick", f'--paylod={{"password": "{SECRET}"}}'], "BAD_OPTION"),
    (["enqueue", "tick", "--priority", "11"], "PRIORITY_OUT_OF_RANGE"),
    (["enqueue", "tick", "--priority", "high"], "BAD_OPTION"),
    (["enqueue", "tick", "--max-attempts", "0"], "BAD_OPTION"),
    (["enqueue", "tick", "--delay", "soon"], "BAD_OPTION"),
    (["enqueue", "tick", "--delay", "-1"], "BAD_DATE"),
    (["enqueue", "tick", "--delay", "inf"], "BAD_DATE"),
    (["enqueue", "tick", "--timeout", "0"], "BAD_OPTION"),
    (["enqueue", "tick", "--scheduled-at", "tomorrow"], "BAD_DATE"),
    (["enqueue", "tick", "--scheduled-at", "2030-01-01T00:00:00"], "BAD_DATE"),
    (["enqueue", "tick", "--scheduled-at", "2030-01-01T00:00:00Z", "--delay", "1"], "BAD_DATE"),
    (["enqueue", "tick", "--context", "{"], "PAYLOAD_NOT_JSON"),
    (["enqueue", "tick", "--context", "[]"], "PAYLOAD_INVALID"),
    (["enqueue", "tick", "--context", '{"shoe": 1}'], "BAD_OPTION"),
    (["enqueue", "tick", "--url", "mysql://db"], "BAD_URL"),
    (["enqueue", "tick", "--url", "sqlite:///:memory:"], "BAD_URL"),
    (["enqueue", "tick", "--url", "sqlite:///x.db?speed=11"], "BAD_URL"),
    (["jobs", "--status", "asleep"], "BAD_OPTION"),
    (["jobs", "--limit", "0"], "BAD_OPTION"),
    (["jobs", "--limit", "1001"], "BAD_OPTION"),
    (["jobs", "--colour"], "BAD_OPTION"),
    (["jobs", "extra", "words"], "BAD_OPTION"),
    (["job", "show"], "BAD_OPTION"),
    *(([*words, number], "BAD_OPTION") for number in ("nan", "inf", "-inf", "-1", "1e999") for words in (
        ["job", "show", "x", "--wait"], ["worker", "m:app", "--stop-seconds"], ["up", "m:app", "--stop-seconds"],
        ["top", "--once", "--refresh"], ["chaos", "--seconds"], ["chaos", "--stops"], ["chaos", "--slow"],
        ["enqueue", "tick", "--timeout"],
    )),
    (["enqueue", "tick", "--delay", "nan"], "BAD_DATE"),
    (["job", "shoe", "x"], "BAD_OPTION"),
    (["job", "cancel", "x", "--mode", "brutal"], "BAD_OPTION"),
    (["queues", "pause"], "BAD_OPTION"),
    (["dlq", "retry"], "BAD_OPTION"),
    (["top"], "BAD_OPTION"),
    (["enqeue", "tick"], "BAD_OPTION"),
    (["--shoe"], "BAD_OPTION"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code"), WRONG_USE)
def test_wrong_use_is_told_once_and_ends_with_2(cli, arguments, code):
    answer = cli(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("error ") == 1
    assert f"error {code}: " in answer.err
    assert "Traceback" not in answer.err
    assert SECRET not in answer.err


@pytest.mark.parametrize(("arguments", "code"), WRONG_USE)
def test_with_json_an_error_is_an_object_on_standard_output(cli, arguments, code):
    answer = cli(*arguments, "--json")
    if arguments == ["top"]:
        code = "BAD_OPTION"  # it has no --json: its frame is for people
    assert answer.code == 2
    assert set(answer.json) == {"error"}
    assert set(answer.json["error"]) == {"code", "message"}
    assert answer.json["error"]["code"] == code
    assert SECRET not in answer.out + answer.err


def test_nothing_is_stored_by_wrong_use(cli, app):
    for arguments, _ in WRONG_USE:
        cli(*arguments)
    assert app.jobs() == []


@pytest.mark.parametrize("payload", ["to=a", '{"to": "a"}'])
def test_a_payload_without_its_option_is_told_where_it_goes(cli, payload):
    answer = cli("enqueue", "send_mail", payload)
    assert answer.code == 2
    assert """1 argument too many: the payload goes into --payload '{"to": "a"}'\n""" in answer.err
    assert "put values that hold spaces in quotes" in cli("jobs", "extra").err


def test_a_misspelt_command_names_the_one_that_was_meant(cli):
    assert "did you mean enqueue or queues?" in cli("enqeue").err
    assert "did you mean show?" in cli("job", "shw", "x").err
    assert "there are: list, pause, resume" in cli("queues", "zzz").err


@pytest.mark.parametrize("verb", ["show", "retry", "cancel", "resume", "explain", "history"])
def test_what_is_done_to_a_job_without_the_word_job_is_known(cli, verb):
    answer = cli(verb, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert answer.code == 2
    assert f"error BAD_OPTION: no command '{verb}': did you mean `holdfast job {verb}`?\n" in answer.err


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ("list", "holdfast jobs"),
        ("ls", "holdfast jobs"),
        ("status", "holdfast job show ID` for one job, or `holdfast stats` for all"),
        ("run", "holdfast worker MODULE:APP"),
        ("start", "holdfast worker MODULE:APP"),
        ("add", "holdfast enqueue TYPE --payload JSON"),
        ("pause", "holdfast queues pause NAME"),
        ("purge", "holdfast dlq purge"),
        ("dashboard", "holdfast up MODULE:APP"),
    ],
)
def test_a_guess_at_a_command_is_answered_with_the_right_one(cli, guess, said):
    answer = cli(guess, "anything")
    assert answer.code == 2
    assert f"error BAD_OPTION: no command '{guess}': did you mean `{said}" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dlq", "show", "ID"], "holdfast job show ID"),
        (["job", "list"], "holdfast jobs"),
        (["schedule", "run", "nightly"], "holdfast schedule trigger NAME"),
    ],
)
def test_a_verb_that_stands_in_another_family_is_found(cli, words, said):
    answer = cli(*words)
    assert answer.code == 2
    assert f"error BAD_OPTION: no command '{words[1]}': did you mean `{said}`?\n" in answer.err


@pytest.mark.parametrize("option", ["--concurrency", "-c", "-w"])
def test_how_many_run_at_once_is_told_by_the_options_that_say_it(cli, option):
    answer = cli("worker", "shop:app", option, "4")
    assert answer.code == 2
    assert f"no option '{option}': use --coroutines, --threads or --processes\n" in answer.err


def test_an_application_as_an_option_is_told_where_it_goes(cli):
    assert "write it without an option, as in `holdfast worker jobs:app`" in cli("worker", "--app", "shop:app").err


def test_only_an_option_that_is_near_is_proposed(cli):
    assert "no option '--paylod': did you mean --payload?" in cli("enqueue", "tick", "--paylod", "{}").err
    for words in (["up", "shop:app", "--reload"], ["dlq", "list", "--all"]):
        answer = cli(*words)
        assert answer.code == 2
        assert f"no option '{words[-1]}'\n" in answer.err


def test_a_missing_argument_is_told_with_an_example(cli):
    told = cli("worker").err
    assert "Missing argument 'MODULE:APP'. For example: holdfast worker mysite.jobs:app\n" in told


def test_the_word_help_shows_the_help(cli):
    assert cli("help") == cli("--help")
    assert cli("help", "dlq", "retry") == cli("dlq", "retry", "--help")
    assert cli("help", "zzz").code == 2


def test_every_answer_to_a_guess_is_a_command(cli):
    for guess, meant in GUESSES.items():
        assert guess not in SECTIONS
        for part in meant.split("`")[1::2]:
            words = [word for word in part.split()[1:] if word.islower() and word[0] != "-"]
            assert cli(*words, "--help").code == 0, part


@pytest.mark.parametrize("arguments", [[], ["job"], ["schedule"], ["dlq"]])
def test_a_command_that_is_only_half_said_shows_its_help(cli, arguments):
    answer = cli(*arguments)
    assert answer.code == 2
    assert "Usage: holdfast" in answer.err


def test_a_file_that_is_no_database_is_told(cli, tmp_path):
    (tmp_path / "jobs.db").write_text("shopping list " * 500)
    for arguments in (["jobs"], ["enqueue", "tick"], ["migrate"], ["top", "--once"]):
        answer = cli(*arguments)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("error NOT_A_DATABASE: ")


def test_a_folder_that_is_not_there_is_told(bare, tmp_path):
    answer = bare("enqueue", "tick", "--url", f"sqlite:///{tmp_path}/no/such/jobs.db")
    assert answer.code == 1
    assert answer.err.startswith("error STORE_CANNOT_OPEN: ")


def test_who_only_looks_is_told_of_the_folder_that_is_missing(bare, tmp_path):
    answer = bare("jobs", "--url", f"sqlite:///{tmp_path}/no/jobs.db")
    assert answer.code == 1
    assert answer.err.startswith(f"error STORE_MISSING: there is no folder {tmp_path}/no: make it first")
    assert "migrate" not in answer.err


@pytest.mark.parametrize("file", ["holdfast.db", "data/jobs.sqlite3", "/srv/jobs.db"])
def test_a_file_in_place_of_an_address_is_told_with_its_address(bare, file):
    answer = bare("jobs", "--url", file)
    assert answer.code == 2
    assert f"error BAD_URL: '{file}' is no address of a store: did you mean sqlite:///{file}?" in answer.err
    assert SECRET not in bare("jobs", "--url", f"me:{SECRET}@host/jobs.db").err


# File modes do not count for root. So the program warms up, becomes nobody, and only then does what is asked of it.
AS_NOBODY = """
import os, sys
from holdfast.cli import main
for command in (["enqueue", "tick"], ["doctor"]):
    assert main([*command, "--url", "sqlite:///warm.db"]) == 0
print("---", flush=True)
if os.geteuid() == 0:
    os.setuid(65534)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["enqueue", "tick"], "error STORE_READ_ONLY: "), (["doctor"], "bad   file          ")],
)
def test_a_file_that_cannot_be_written_is_told(arguments, told):
    with tempfile.TemporaryDirectory() as folder:
        assert process("enqueue", "tick", cwd=Path(folder)).code == 0
        Path(folder).chmod(0o555)
        (Path(folder) / "holdfast.db").chmod(0o444)
        if os.geteuid() != 0:
            Path(folder).chmod(0o755)  # the warming up needs it
        run = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, *arguments],
            cwd=folder, env=clean_environment(measured=False), capture_output=True, check=False, text=True,
        )  # fmt: skip
    assert run.returncode == 1
    assert told in run.stdout.partition("---")[2] + run.stderr
    assert "Traceback" not in run.stderr


def test_a_fault_of_ours_shows_its_kind_and_nothing_else(cli, monkeypatch):
    from holdfast.cli import opening

    def broken(*_: object, **__: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr(opening, "App", broken)
    answer = cli("jobs")
    assert answer.code == 1
    assert answer.err.startswith("error UNEXPECTED: KeyError: ")
    assert SECRET not in answer.err


def test_debugging_shows_the_trace(tmp_path):
    quiet = process("job", "show", "x", cwd=tmp_path)
    loud = process("job", "show", "x", cwd=tmp_path, HOLDFAST_DEBUG="1")
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err
    assert loud.code == 1


@pytest.mark.parametrize("arguments", [["jobs", "--type", b"\xff"], [b"\xfe"], ["job", "show", b"\xff\xfe"]])
def test_bytes_that_are_no_text_are_wrong_use(tmp_path, arguments):
    program = [sys.executable, "-m", "holdfast.cli", *arguments]
    run = subprocess.run(program, cwd=tmp_path, env=clean_environment(), capture_output=True, check=False, timeout=60)
    assert run.returncode == 2
    assert f"error BAD_OPTION: argument {len(arguments)} is not UTF-8 text" in run.stderr.decode()
