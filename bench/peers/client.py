"""One measurement of one peer, in its own environment: `python -m bench.peers.client NAME WORK JOBS FOLDER`.

Prints one line of JSON: a rate, figures, or what went wrong.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bench.peers.adapter import load
from holdfast.cli.measures import trials
from holdfast.cli.measures.rounds import Sample

LARGE, IDLE, PATIENCE = "BENCH_LARGE", "BENCH_IDLE_SECONDS", "BENCH_KILL_SECONDS"

WORKS: dict[str, Callable[[Any, int], Sample]] = {
    "W1": lambda peer, jobs: getattr(peer, "one_at_a_time", partial(trials.one_at_a_time, peer))(jobs),
    "W2": trials.bulk,
    "W3": trials.drain,
    "W3x2": lambda peer, jobs: trials.drain(peer, jobs, workers=2),
    "W4": lambda peer, jobs: trials.pick_up(peer, jobs, idle=_setting(IDLE, 5)),
    "W5small": lambda peer, jobs: _grown(peer, jobs, 1_000),
    "W5": lambda peer, jobs: _grown(peer, jobs, int(_setting(LARGE, 1_000_000))),
    "kill": lambda peer, _: trials.recovery(peer, whole=False, limit=_setting(PATIENCE, 10)),
    "kill whole": lambda peer, _: trials.recovery(peer, whole=True, limit=_setting(PATIENCE, 10)),
    "memory": trials.memory,
}


def main(name: str, work: str, jobs: int, folder: Path) -> None:
    """Measure, and say it."""
    peer = load(name, folder)
    peer.open()
    try:
        sample = WORKS[work](peer, jobs)
    except trials.Failed as error:
        sample = Sample(fault=str(error))
    print("RESULT " + json.dumps(asdict(sample)), flush=True)


def _grown(peer: Any, jobs: int, more: int) -> Sample:
    """A drain of a queue that holds so many more."""
    if not peer.grows:
        return Sample(fault="its table cannot be filled from outside")
    return trials.drain(peer, jobs, grow=partial(peer.grow, jobs + more))


def _setting(name: str, default: float) -> float:
    return float(os.environ.get(name, default))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
