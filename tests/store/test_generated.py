"""Generated histories: a store and the model, step by step.

HOLDFAST_EXAMPLES sets the number of histories, HOLDFAST_SEED repeats a run; a failure tells its seed.
HOLDFAST_SHRINK=0 stops at the first failure as it is found, without looking for the shortest.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.store.given import EVERY_WAY, POOLED, WAYS, Clock
from tests.store.model_machine import StoreMachine

EXAMPLES = {"postgres": 60, POOLED: 15}  # a server costs a round trip for each statement
STEPS = 50
PHASES = [Phase.generate, Phase.shrink] if os.environ.get("HOLDFAST_SHRINK", "1") == "1" else [Phase.generate]
MEMORY = Path("/dev/shm")  # noqa: S108  # what is tested is the logic, so the disk may be memory


@pytest.fixture
def quick_folder():
    memory = str(MEMORY) if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="holdfast-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("back_end", EVERY_WAY)
def test_a_store_behaves_as_its_model_through_any_history(back_end, quick_folder):
    opened = Opened(back_end, quick_folder)
    number = int(os.environ.get("HOLDFAST_SEED") or random.getrandbits(32))
    examples = int(os.environ.get("HOLDFAST_EXAMPLES") or EXAMPLES.get(back_end, 300))
    histories = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(lambda: StoreMachine(opened)), settings=histories)
    except BaseException as error:
        error.add_note(f"repeat with HOLDFAST_SEED={number} HOLDFAST_EXAMPLES={examples}")
        raise
    finally:
        opened.store.close()


class Opened:
    """One store for all histories; a crash takes its connections away, whatever they were doing."""

    def __init__(self, back_end: str, folder: Path) -> None:
        self.clock = Clock()
        self.open = lambda: WAYS[back_end](folder, self.now)
        self.store = self.open()

    def now(self) -> int:
        return self.clock.now

    def __call__(self, clock: Clock, *, crash: bool) -> Any:
        self.clock = clock
        if crash:
            for connection in (self.store._writer, self.store._reader):
                if connection is not None:
                    connection.raw.close()
            self.store = self.open()
        else:
            self.store.roll_back()
        return self.store
