"""Real processes for the stories: each in a session of its own, bounded in time, ended by its id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import holdfast

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(holdfast.__file__).resolve().parents[1]


def size(name: str, share: int) -> int:
    """How large a run is: what the environment asks for, else the share of `make test`."""
    return int(os.environ.get(name, share))


def tell(story: str, figures: Mapping[str, object]) -> None:
    """One line with what was counted, for whoever runs a story at full size (pytest -s)."""
    sys.stdout.write(f"\n{story}: {json.dumps(figures)}\n")


class Crew:
    """Processes of one test; none of them outlives the `with` block."""

    def __init__(self, folder: Path, *, source: Path = SOURCE) -> None:
        self.folder = folder
        self.source = source
        self.started: list[subprocess.Popen[str]] = []

    def start(self, module: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        """Run `python -m module`; its errors go to a file of the test's own folder."""
        environment = os.environ | {"PYTHONPATH": f"{self.source}{os.pathsep}{ROOT}"} | options.pop("environment", {})
        with (self.folder / f"errors-{len(self.started)}.txt").open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, arguments)],
                cwd=self.folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
                **options,
            )
        self.started.append(process)
        return process

    def reports(self, *, seconds: float) -> list[Any]:
        """Wait until all have ended well; what each one printed, as JSON."""
        printed = [process.communicate(timeout=seconds)[0] for process in self.started]
        assert [process.returncode for process in self.started] == [0] * len(printed), self.errors()
        return [json.loads(text) for text in printed if text.strip()]

    def errors(self) -> str:
        return "\n".join(path.read_text()[-700:] for path in sorted(self.folder.glob("errors-*.txt"))[:3])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # its own session: the processes it forked go with it
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
