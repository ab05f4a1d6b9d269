"""The hook as Claude Code runs it: a cold process, one JSON object on its standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import apsw

LAUNCH = Path(__file__).parents[3] / "src" / "holdfast_pipelines" / "capture" / "launch.py"
COMMAND = [sys.executable, "-I", "-S", str(LAUNCH)]


class Home:
    """A user's folder of data, and the hook in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "data"
        self.project = folder / "project"
        self.project.mkdir()
        self.environment = {
            "HOLDFAST_CAPTURE_FOLDER": str(self.folder),
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
        }

    @property
    def database(self) -> Path:
        return self.folder / "capture.db"

    def start(self) -> subprocess.Popen:
        pipe = subprocess.PIPE
        return subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment, cwd=self.project)

    def run(self, stdin: bytes) -> None:
        """Run it to its end: it must exit 0 and say nothing, whatever it was given."""
        done = subprocess.run(
            COMMAND, input=stdin, env=self.environment, cwd=self.project, capture_output=True, check=False, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def event(self, name: str, session: str = "session-1", **fields: object) -> None:
        self.run(json.dumps(self.given(name, session, **fields)).encode())

    def given(self, name: str, session: str = "session-1", **fields: object) -> dict[str, object]:
        transcript = str(self.project / "transcript.jsonl")
        common = {"session_id": session, "transcript_path": transcript, "cwd": str(self.project)}
        return {**common, "permission_mode": "default", "hook_event_name": name, **fields}

    def rows(self, sql: str) -> list[tuple]:
        if not self.database.exists():
            return []
        connection = apsw.Connection(str(self.database))
        try:
            return list(connection.execute(sql))
        finally:
            connection.close()

    def texts(self) -> list[str]:
        return [text for (text,) in self.rows("select content from messages order by conversation_id, sequence")]

    def log(self) -> list[str]:
        path = self.folder / "capture.log"
        return path.read_text().splitlines() if path.exists() else []

    def spooled(self) -> list[Path]:
        return sorted(self.folder.glob("spool/*/*.json"))


def files_with(folder: Path, *secrets: bytes) -> list[str]:
    """Every file below that holds one of these."""
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(secret in path.read_bytes() for secret in secrets)
    ]
