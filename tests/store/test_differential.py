"""The same history on every store: each must be seen to do the same.

HOLDFAST_SEED repeats a run; a failure tells its seed.
"""

from __future__ import annotations

import os
import random
import re
from typing import Any

import pytest

from tests.store.given import BACK_ENDS, TABLES, Clock, write
from tests.store.model_machine import DEALT, StoreMachine

HISTORIES = 6
STEPS = 60

ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")


class Recorder(StoreMachine):
    """Plays dealt actions, and writes down what every verb answered."""

    def __init__(self, store: Any) -> None:
        self.seen_ids: dict[str, str] = {}
        self.told: list[Any] = []
        self._store = store
        super().__init__(lambda *_, **__: self._store)

    def verb(self, call: Any) -> Any:
        answer = super().verb(call)
        self.told.append(self.plain(answer))
        return answer

    def plain(self, value: Any) -> Any:
        """An answer without what is random by design: ids become numbers in order of appearance."""
        if isinstance(value, list | tuple):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            return {self.plain(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, str):
            return ID.sub(lambda found: self.seen_ids.setdefault(found[0], f"job {len(self.seen_ids) + 1}"), value)
        return value

    def look(self) -> None:
        def everything(tx: Any) -> Any:
            jobs, _ = tx.list_jobs({}, "~", 1000)
            shown = [job.as_json() | {"token": job.lease_token, "held": job.held} for job in jobs]
            waiting = {name: sorted(rows) for name, rows in tx.overview(1000).items()}
            return shown, [tx.history(job.id) for job in jobs], sorted(tx.figures(0)), waiting

        self.told.append(self.plain(self._store.read(everything)))


@pytest.mark.parametrize("number", range(HISTORIES))
def test_every_store_is_seen_to_do_the_same(number, tmp_path):
    seed = int(os.environ.get("HOLDFAST_SEED") or random.getrandbits(32)) + number
    told = {name: observed(name, tmp_path / name, seed) for name in BACK_ENDS}
    first, *others = told
    for other in others:
        assert told[other] == told[first], f"{other} differs from {first}: repeat with HOLDFAST_SEED={seed - number}"


def observed(back_end: str, folder: Any, seed: int) -> list[Any]:
    folder.mkdir()
    clock = Clock()
    store = BACK_ENDS[back_end](folder, clock)
    try:
        write(store, lambda tx: [tx.execute(f"delete from {table}") for table in TABLES])
        machine = Recorder(store)
        machine.clock = clock
        dice = random.Random(seed)
        for _ in range(STEPS):
            action = dice.choice([name for name in DEALT if name != "crash"])
            getattr(machine, action)(random.Random(dice.getrandbits(32)))
            machine.told.append(action)
        machine.look()
        return machine.told
    finally:
        store.close()
