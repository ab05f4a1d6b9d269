"""The hook, cold: what it keeps of an event, and where."""

from __future__ import annotations

import json
import random

import pytest

from tests.pipelines.capture.hooks import files_with
from tests.pipelines.capture.samples import MAKERS

KEY = MAKERS["anthropic"](random.Random(11))
MAIL = "someone.private@example.com"
SECRETS = (KEY.encode(), MAIL.encode(), b"hunter2x9")


def answer(name: str, *blocks: dict, **fields: object) -> str:
    lines = [
        {"type": "assistant", "isSidechain": False, "message": {"id": name, "content": [block]}, **fields}
        for block in blocks
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def said(text: str) -> dict:
    return {"type": "text", "text": text}


def prompt(text: str) -> str:
    return json.dumps({"type": "user", "isSidechain": False, "message": {"content": text}}) + "\n"


def test_a_prompt_and_its_answer_become_one_conversation_with_one_job(home):
    home.event("UserPromptSubmit", prompt=f"my key is {KEY}, mail {MAIL}, password=hunter2x9")
    home.event("Stop", stop_hook_active=False, last_assistant_message="Use the vault instead.")
    assert home.texts() == [
        "my key is [REDACTED_ANTHROPIC_KEY], mail [REDACTED_EMAIL], password=[REDACTED_SECRET]",
        "Use the vault instead.",
    ]
    assert home.rows("select role, sequence from messages order by sequence") == [("user", 1), ("assistant", 2)]
    assert home.rows("select message_count, completed_at from conversations") == [(2, None)]
    assert home.rows("select type, status, priority, queue from job_queue") == [
        ("sanitize_ai_validation", "queued", 1, "capture")
    ]
    assert sorted(home.rows("select category, detector from sanitization_log")) == [
        ("ANTHROPIC_KEY", "rule"), ("EMAIL", "rule"), ("SECRET", "rule"),
    ]  # fmt: skip
    assert files_with(home.folder, *SECRETS) == []
    assert home.log() == []


def test_files_are_for_their_owner_alone(home):
    home.event("UserPromptSubmit", prompt="hello")
    assert {path.stat().st_mode & 0o077 for path in home.folder.rglob("*")} == {0}
    assert home.folder.stat().st_mode & 0o077 == 0


def test_nothing_is_written_into_the_project(home):
    home.environment["HOLDFAST_URL"] = "sqlite:///jobs.db"
    home.event("UserPromptSubmit", prompt="hello")
    assert list(home.project.iterdir()) == []
    assert home.texts() == ["hello"]


@pytest.mark.parametrize("name", ["HOLDFAST_CAPTURE_URL", "HOLDFAST_URL"])
def test_an_absolute_address_is_used(home, tmp_path, name):
    home.environment[name] = f"sqlite:///{tmp_path}/elsewhere/own.db"
    home.event("UserPromptSubmit", prompt="hello")
    assert (tmp_path / "elsewhere" / "own.db").exists()
    assert not home.database.exists()


def test_the_sources_own_shape_of_an_event_is_taken(home):
    home.run(
        json.dumps({"event": "UserPromptSubmit", "conversation_id": "c-1", "content": f"write to {MAIL}"}).encode()
    )
    assert home.texts() == ["write to [REDACTED_EMAIL]"]


def test_a_tools_answer_is_kept_with_its_name(home):
    home.event(
        "PostToolUse",
        tool_name="Bash",
        tool_use_id="toolu_1",
        tool_input={"command": "cat .env", "env": {"API_TOKEN": "hunter2x9"}},
        tool_response={"stdout": f"KEY={KEY}\nok", "is_error": False},
    )
    (text,) = home.texts()
    assert text.startswith("Bash\ncommand: cat .env")
    assert "[REDACTED_ANTHROPIC_KEY]" in text
    assert json.loads(home.rows("select tool_calls from messages")[0][0]) == [
        {"tool_name": "Bash", "status": "success"}
    ]
    assert files_with(home.folder, *SECRETS) == []


def test_the_same_tools_answer_is_kept_once(home):
    for _ in range(2):
        home.event("PostToolUse", tool_name="Read", tool_use_id="toolu_9", tool_input={}, tool_response="text")
    assert len(home.texts()) == 1


def test_the_end_of_a_session_completes_its_conversation(home):
    home.event("UserPromptSubmit", prompt="hello")
    home.event("SessionEnd", reason="exit")
    assert home.rows("select completed_at is not null from conversations") == [(1,)]


def test_an_answer_is_read_from_the_end_of_the_transcript(home):
    transcript = home.project / "transcript.jsonl"
    thinking = {"type": "thinking", "thinking": "never shown"}
    transcript.write_text(
        "x" * 300_000 + "\n" + prompt("old") + answer("m0", said("an old answer")) + prompt("new")
        + answer("side", said("of a helper"), isSidechain=True)
        + answer("m1", thinking, said("first part"), {"type": "tool_use", "name": "Bash"}, said(f"and {MAIL}"))
        + answer("m2", said("the end")) + '{"type": "assistant", "mess'
    )  # fmt: skip
    home.event("UserPromptSubmit", prompt="new")
    home.event("Stop", stop_hook_active=False)
    assert home.texts() == ["new", "first part\nand [REDACTED_EMAIL]", "the end"]


def test_what_was_not_in_the_transcript_yet_is_fetched_at_the_next_event(home):
    transcript = home.project / "transcript.jsonl"
    transcript.write_text(prompt("one"))
    home.event("UserPromptSubmit", prompt="one")
    home.event("Stop", stop_hook_active=False)
    assert home.texts() == ["one"]
    transcript.write_text(prompt("one") + answer("m1", said("the late answer")))
    home.event("UserPromptSubmit", prompt="two")
    assert home.texts() == ["one", "the late answer", "two"]
    home.event("UserPromptSubmit", prompt="three")
    assert home.texts() == ["one", "the late answer", "two", "three"]


def test_an_answer_that_came_with_its_event_is_not_taken_from_the_transcript_again(home):
    transcript = home.project / "transcript.jsonl"
    transcript.write_text(prompt("one") + answer("m1", said("Done.")))
    home.event("UserPromptSubmit", prompt="one")
    home.event("Stop", last_assistant_message="Done.")
    home.event("Stop", last_assistant_message="Done.")
    home.event("Stop")
    assert home.texts() == ["one", "Done."]
    home.event("UserPromptSubmit", prompt="one more")
    home.event("Stop", last_assistant_message="Done.")
    assert home.texts() == ["one", "Done.", "one more", "Done."]


@pytest.mark.parametrize("way", ["variable", "file", "file above"])
def test_a_project_can_opt_out(home, way):
    if way == "variable":
        home.environment["HOLDFAST_CAPTURE"] = "off"
    else:
        folder = home.project if way == "file" else home.project.parent
        (folder / ".holdfast-capture-off").touch()
    home.event("UserPromptSubmit", prompt="hello")
    assert not home.folder.exists()
