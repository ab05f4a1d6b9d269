"""A short coding session: told to the real hook, event by event, and learned from by the demo's own worker. The next
session then asks for what was learned: the official MCP client, over standard input and output.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from uuid import uuid4

from holdfast import App, Handle
from holdfast_pipelines.capture.hook import drain
from holdfast_pipelines.capture.install import LAUNCHER
from holdfast_pipelines.capture.mcp.fence import opened
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

QUESTION = "race guarded update"  # as the next session might put it


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


class Question(threading.Thread):
    """Asked while the demo's other jobs run: `start()`, and later `answer()`, or `drop()` if nobody wants to know."""

    def __init__(self, url: str) -> None:
        super().__init__(name="question", daemon=True)
        self._url = url
        self._found = ""
        self._over = threading.Event()

    def run(self) -> None:
        """Ask until there is an answer."""
        asyncio.run(self._ask())

    def answer(self, patience: float) -> str:
        """The title of the best match; empty if there is none in time."""
        if self.is_alive():
            self.join(patience)
        self.drop()
        return self._found

    def drop(self) -> None:
        """Ask no more, and let the server end."""
        self._over.set()
        if self.is_alive():
            self.join(5)

    async def _ask(self) -> None:
        from mcp import Client  # noqa: PLC0415  # takes a second, which the other jobs have as well
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

        program = ["-m", "holdfast.cli", "capture", "mcp", "--no-worker"]  # the demo has one
        server = StdioServerParameters(
            command=sys.executable, args=program, env=dict(os.environ) | environment(self._url)
        )
        with Path(os.devnull).open("w") as silent:  # noqa: ASYNC230
            async with Client(stdio_client(server, errlog=silent)) as client:
                while not self._over.is_set() and not self._found:
                    answer = await client.call_tool("search_learnings", {"query": QUESTION})
                    found = [] if answer.is_error else opened(answer.content[0].text)["results"]  # type: ignore[union-attr]
                    self._found = found[0]["title"] if found else ""
                    await asyncio.sleep(0 if found else 0.2)
