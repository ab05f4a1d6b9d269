"""A worker process of a peer: `python -m bench.peers.serve NAME FOLDER`."""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path

from bench.peers.adapter import load

if __name__ == "__main__":
    working = load(sys.argv[1], Path(sys.argv[2])).work()
    if inspect.isawaitable(working):
        asyncio.run(working)
