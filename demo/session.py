"""A short coding session: told to the real hook, event by event, and learned from by the demo's own worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from uuid import uuid4

from holdfast import App, Handle
from holdfast_pipelines.capture import learnings
from holdfast_pipelines.capture.hook import drain
from holdfast_pipelines.capture.install import LAUNCHER
from holdfast_pipelines.capture.places import Places

LESSON = """The root cause of this bug is a race: both workers read the row before either of them wrote it.

Use a guarded update instead of a read and a write, and always check how many rows it changed:

```sql
update jobs set owner = :me where id = :id and owner is null
```

If it changed none, another worker was faster. A test with one worker can never show this error."""
SAID = (
    (
        "UserPromptSubmit",
        {"prompt": "Two workers take the same job now and then. My name is Ada Example, mail ada@example.org."},
    ),
    ("Stop", {"last_assistant_message": "The error is in the claim:\n```python\nrow = first_free(); row.take()\n```"}),
    ("UserPromptSubmit", {"prompt": "Please implement a fix and a test. The staging password=not-a-real-1."}),
    ("Stop", {"last_assistant_message": LESSON}),
    ("SessionEnd", {"reason": "exit"}),
)


def environment(url: str) -> dict[str, str]:
    """What leads the hook to the demo's database, and away from the user's own."""
    path = os.path.abspath(url.partition("?")[0].removeprefix("sqlite:///"))  # noqa: PTH100
    return {"HOLDFAST_CAPTURE_URL": f"sqlite:///{path}", "HOLDFAST_CAPTURE_FOLDER": f"{path}-capture"}


def places(url: str) -> Places:
    """Where the demo's sessions are kept."""
    return Places(environment(url))


def tell(app: App) -> list[Handle]:
    """Run the hook for each event, as Claude Code does; answers the jobs that this made."""
    session = str(uuid4())
    before = {job.id for job in app.jobs(type="sanitize_ai_validation", limit=1_000)}
    for name, fields in SAID:
        event = json.dumps({"hook_event_name": name, "session_id": session, "cwd": "/", **fields})
        command = [sys.executable, "-I", "-S", str(LAUNCHER)]
        subprocess.run(command, input=event.encode(), env=os.environ | environment(app.url), check=True)  # noqa: S603
    drain(app, places(app.url).spool, 100)  # a busy worker may have made a hook put its event aside
    made = app.jobs(type="sanitize_ai_validation", limit=1_000)
    return [app.handle(job.id) for job in made if job.id not in before]


def learned(app: App) -> str:
    """The best match for a question that the next session might ask."""
    found = learnings.search(app, "race guarded update")
    return found[0]["title"] if found else ""
