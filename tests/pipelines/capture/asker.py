"""The official MCP client, over the real transport, for tests that are not coroutines."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from holdfast_pipelines.capture.mcp.fence import opened
from tests.pipelines.capture.hooks import Home

SERVER = ["-P", "-m", "holdfast.cli", "capture", "mcp"]


def environment_of(home: Home) -> dict[str, str]:
    return home.environment | {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "NO_COLOR": "1"}


class Asker:
    """A client in a thread of its own; `with Asker(home) as asker: asker.data("search_learnings", query="x")`."""

    def __init__(self, home: Home, *arguments: str, transport=None) -> None:
        self._errors = home.project.parent / "server.err"
        self._parameters = StdioServerParameters(
            command=sys.executable, args=[*SERVER, *arguments], env=environment_of(home), cwd=home.project
        )
        self._transport = transport
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)
        self.failed: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        if self.failed is not None:
            raise self.failed
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """End the server in good order; once is enough."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(60)
        assert not self._thread.is_alive()

    async def _live(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        try:
            with self._errors.open("a") as errors:
                async with Client(self._transport or stdio_client(self._parameters, errlog=errors)) as self.client:
                    self._ready.set()
                    await self._over.wait()
        except BaseException as error:  # noqa: BLE001  # the test's own thread raises it
            self.failed = error
        finally:
            self._ready.set()

    def do(self, what):
        """The answer to `client.method(...)`."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(60)

    def call(self, tool: str, **arguments):
        return self.do(self.client.call_tool(tool, arguments))

    def text(self, tool: str, **arguments) -> str:
        answer = self.call(tool, **arguments)
        (content,) = answer.content
        assert not answer.is_error, content.text
        assert answer.structured_content is None, "what is not fenced must not be sent beside"
        return content.text

    def data(self, tool: str, **arguments):
        return opened(self.text(tool, **arguments))

    def error(self, tool: str, **arguments) -> str:
        answer = self.call(tool, **arguments)
        (content,) = answer.content
        assert answer.is_error
        assert "Traceback" not in content.text
        return content.text

    def resource(self, uri: str):
        (content,) = self.do(self.client.read_resource(uri)).contents
        return opened(content.text)

    def errors(self) -> str:
        return self._errors.read_text() if self._errors.exists() else ""


def processes_of(home: Home) -> dict[int, str]:
    """Every living process that was started for this home: number and command line."""
    mark = f"HOLDFAST_CAPTURE_FOLDER={home.folder}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            if (folder / "stat").read_text().rpartition(") ")[2].startswith("Z"):
                continue
            found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
    return found


def tell(home: Home, said, session: str = "session-1") -> None:
    """A session as the hook hears of it, to its end."""
    for role, text in said:
        if role == "user":
            home.event("UserPromptSubmit", session, prompt=text)
        else:
            home.event("Stop", session, last_assistant_message=text)
    home.event("SessionEnd", session, reason="exit")


def raw_server(home: Home, *arguments: str) -> subprocess.Popen:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *SERVER, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, env=environment_of(home), cwd=home.project
    )  # fmt: skip
