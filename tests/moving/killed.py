"""A move that kills its own process at one point: FILE DATABASE move|undo WHAT DONE."""

from __future__ import annotations

import os
import signal
import sys

from holdfast.engine import moving
from holdfast.wiring import open_side


def main(file: str, database: str, direction: str, what: str, done: str) -> None:
    def tell(told: str, number: int, _: int) -> None:
        if (told, number) == (what, int(done)):
            os.kill(os.getpid(), signal.SIGKILL)

    getattr(moving, direction)(open_side(file), open_side(database), wait=5, tell=tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
