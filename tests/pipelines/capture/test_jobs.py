"""The worker's side: what hooks stored is validated, rewritten, and learned from."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

import holdfast
from holdfast.testing import Clock, drain
from holdfast_pipelines.capture import learnings, record, spool
from holdfast_pipelines.capture.events import Clerk
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.capture.places import Places
from tests.pipelines.capture.hooks import files_with

NAME = b"Wilhelmina Featherstone"
LESSON = (
    "The root cause of the error was a race: two workers read the row before either wrote it, and the fix is one statement.\n\n"
    "Use a guarded update instead of a read and a write. Always check the number of rows that changed:\n\n"
    "```sql\nupdate jobs set owner = :me where id = :id and owner is null\n```\n\n"
    "If it changed nothing, another worker was faster. This bug is easy to miss in a test with one worker."
)
SESSION = [
    ("user", "Two workers take the same job now and then, how do I fix this bug?"),
    ("assistant", "Let me look at the claim.\n```python\nrow = select()\n```\nThe error comes from there."),
    ("user", "Yes, please implement a fix and a test"),
    ("assistant", LESSON),
]


@pytest.fixture
def clock():
    return Clock(datetime.now(UTC))


@pytest.fixture
def places(tmp_path):
    return Places({"HOLDFAST_CAPTURE_FOLDER": str(tmp_path / "data")})


@pytest.fixture
def app(tmp_path, clock):
    made = application({"HOLDFAST_CAPTURE_FOLDER": str(tmp_path / "data")}, clock=clock)
    yield made
    made.close()


def tell(app, said, session="s1", *, ended=False):
    """Store messages as the hook does."""
    clerk = Clerk(b"k" * 32)
    for role, text in said:
        kind = {"user": ("UserPromptSubmit", "prompt"), "assistant": ("Stop", "last_assistant_message")}[role]
        record.store(app, clerk.record({"hook_event_name": kind[0], "session_id": session, kind[1]: text}))
    if ended:
        record.store(app, clerk.record({"hook_event_name": "SessionEnd", "session_id": session}))


def rows(app, sql):
    with app.transaction() as tx:
        return tx.execute(sql)


def test_many_messages_of_a_conversation_are_one_validation(app):
    tell(app, SESSION)
    (job,) = app.jobs(type="sanitize_ai_validation")
    assert (job.priority, job.max_attempts, job.queue) == (1, 3, "capture")
    drain(app)
    assert rows(app, "select count(*), min(ai_validated), min(validated_by) from messages") == [(4, 1, "rules-1")]


def test_what_the_validator_finds_is_gone_from_every_file(app, places):
    tell(
        app,
        [("user", f"My name is {NAME.decode()} and I live at 12 Long Acre Road.")] + [("assistant", "x" * 3000)] * 3,
    )
    assert files_with_parent(places) != []
    drain(app)
    (text,) = rows(app, "select content from messages where role = 'user'")[0]
    assert text == "My name is [REDACTED_PERSON_NAME] and I live at [REDACTED_ADDRESS]."
    assert files_with_parent(places) == []
    assert rows(app, "select category, ai_detections_count from messages join sanitization_log on message_id = messages.id order by 1") == [
        ("ADDRESS", 2), ("PERSON_NAME", 2),
    ]  # fmt: skip


def files_with_parent(places):
    from pathlib import Path

    return files_with(Path(places.folder), NAME, b"Long Acre")


def test_a_reader_that_stands_in_the_way_only_delays_the_scrub(app, places, clock):
    import apsw

    tell(app, [("user", f"My name is {NAME.decode()}")])
    other = apsw.Connection(places.database)
    other.execute("begin")
    other.execute("select * from messages").fetchall()
    drain(app)
    assert files_with_parent(places) != []
    (scrub,) = app.jobs(type="capture_scrub")
    assert scrub.status == "queued"
    other.execute("rollback")
    other.close()
    clock.advance(600)
    drain(app)
    assert app.get(scrub.id).status == "completed"
    assert files_with_parent(places) == []


def test_a_word_that_is_taken_out_of_a_learning_is_gone_from_the_index(app, places):
    tell(app, SESSION, ended=True)
    drain(app)
    word = "zanzibarquux"
    with app.transaction() as tx:
        tx.execute("pragma secure_delete = on")
        tx.execute("update learnings set content = content || ' ' || :s, title = :s", {"s": word})
    assert learnings.search(app, word)
    with app.transaction() as tx:
        tx.execute("update learnings set content = replace(content, :s, ''), title = 'x'", {"s": word})
    assert app.checkpoint()
    from pathlib import Path

    assert learnings.search(app, word) == []
    assert files_with(Path(places.folder), word.encode()) == []


def test_a_conversation_is_learned_from_once_it_rests(app, clock):
    tell(app, SESSION)
    drain(app)
    (waiting,) = app.jobs(type="extract_learning")
    assert waiting.status == "queued"
    clock.advance(60)
    tell(app, [("user", "thanks, one more test please")])
    drain(app)
    clock.advance(100)  # 160 seconds after the first rest began, 100 after the second
    drain(app)
    assert app.get(waiting.id).status == "queued"
    clock.advance(30)
    drain(app)
    assert app.get(waiting.id).result["learnings_extracted"] >= 1
    (found, *_) = learnings.search(app, "guarded update")
    assert found["confidence"] >= 0.6
    whole = learnings.show(app, found["id"])
    assert "update jobs set owner" in whole["content"]
    assert whole["metadata"]["extractor"] == "rules-1"
    assert whole["metadata"]["evidence"]["quotes"]
    assert 3 <= len(whole["tags"]) <= 10
    assert [one["role"] for one in learnings.context(app, found["id"])["messages"]][:2] == ["user", "assistant"]


def test_a_conversation_that_ended_is_learned_from_at_once(app):
    tell(app, SESSION, ended=True)
    drain(app)
    assert learnings.totals(app)["learnings"] >= 1


def test_the_same_lesson_is_stored_once(app):
    tell(app, SESSION, "s1", ended=True)
    drain(app)
    before = learnings.totals(app)["learnings"]
    tell(app, SESSION, "s2", ended=True)
    nearly = [*SESSION[:3], ("assistant", LESSON.replace("easy to miss", "easy to  miss"))]
    tell(app, nearly, "s3", ended=True)
    drain(app)
    assert learnings.totals(app)["learnings"] == before
    sources = [json.loads(text) for (text,) in rows(app, "select source_message_ids from learnings")]
    assert any(len(names) > 2 for names in sources)


def test_the_payloads_wishes_are_honoured(app):
    tell(app, SESSION)
    drain(app)
    (name,) = rows(app, "select id from conversations")[0]
    sure = app.enqueue("extract_learning", {"conversation_id": name, "min_confidence": 0.99})
    tools = app.enqueue("extract_learning", {"conversation_id": name, "categories": ["workflow"]})
    drain(app)
    assert sure.result()["reason"] == "low_quality"
    assert tools.result()["learnings_extracted"] == 0
    bugs = app.enqueue("extract_learning", {"conversation_id": name, "categories": ["bug_fix"]})
    drain(app)
    assert bugs.result()["learnings_extracted"] == 1
    assert rows(app, "select distinct category from learnings") == [("bug_fix",)]


def test_small_talk_teaches_nothing(app):
    tell(app, [("user", "hello"), ("assistant", "Hello!"), ("user", "nice day"), ("assistant", "Indeed.")], ended=True)
    drain(app)
    (job,) = app.jobs(type="extract_learning")
    assert job.result == {"success": True, "learnings_extracted": 0, "reason": "low_value"}


def test_a_conversation_that_is_not_there_is_no_failure(app):
    handle = app.enqueue("sanitize_ai_validation", {"conversation_id": "nobody"})
    drain(app)
    assert handle.result() == {"success": True, "findings": 0}


def test_rows_without_a_job_are_swept_up(app):
    tell(app, SESSION)
    with app.transaction() as tx:
        tx.execute("delete from job_queue")
        tx.execute("update conversations set updated_at = '2020-01-01T00:00:00.000Z'")
    app.enqueue("sweep:capture_rows_without_a_job", queue="capture")
    drain(app)
    assert rows(app, "select min(ai_validated) from messages") == [(1,)]


def test_the_worker_stores_what_hooks_had_to_put_aside(app, places):
    clerk = Clerk(b"k" * 32)
    for number in range(3):
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": f"number {number}"}
        spool.put(places.spool, clerk.record(event))
    app.enqueue("capture_spool", queue="capture")
    drain(app)
    assert rows(app, "select content from messages order by sequence") == [("number 0",), ("number 1",), ("number 2",)]
    assert spool.waiting(places.spool) == []


def test_nothing_is_shared_without_consent_and_an_approval(app):
    tell(app, SESSION, ended=True)
    drain(app)
    (found, *_) = learnings.listing(app, "recent")
    with pytest.raises(learnings.NotShared, match="sharing is off"):
        learnings.approve(app, found["id"])
    assert learnings.show(app, found["id"])["upload_status"] == "not_approved"
    assert learnings.sharing(app, turn=True)
    learnings.approve(app, found["id"])
    assert learnings.show(app, found["id"])["upload_status"] == "approved"
    learnings.revoke(app, found["id"])
    assert learnings.show(app, found["id"])["upload_status"] == "revoked"
    assert rows(app, "select learning_id, reason from revocations") == [(found["id"], "user-requested")]
    assert not learnings.sharing(app, turn=False)
    assert rows(app, "select count(*), count(consent_withdrawn_at) from consent") == [(1, 1)]
    with pytest.raises(learnings.NoSuchLearning):
        learnings.approve(app, "nothing")


def test_a_query_is_words_and_never_an_expression(app):
    tell(app, SESSION, ended=True)
    drain(app)
    assert learnings.search(app, 'guarded" OR "x') == []
    assert learnings.search(app, "guarded OR zebra") == []
    assert learnings.search(app, "* ( ) -") == []
    assert learnings.search(app, "guarded update", category="workflow") == []
    assert learnings.search(app, "guarded update", tags=("bug_fix",))
    assert isinstance(app, holdfast.App)
