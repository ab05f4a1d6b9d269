"""What all verbs of a whole transaction stand on."""

from __future__ import annotations

import json

from holdfast.store.flow import FlowVerbs
from holdfast.store.sqlite.asking import Asking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Verbs(Asking, FlowVerbs):
    """What every verb may use."""

    __slots__ = ()
    ever = ""

    def keep_still(self, what: str, tenant: str, group: str | None) -> None:
        """Whoever writes is alone as it is."""

    def keep_uncancelled(self, tenant: str, group: str) -> None:
        """Whoever writes is alone as it is."""

    def lock_limits(self) -> bool:
        return True

    def stir(self) -> None:
        """See whether there are lines to look at now."""
        self.next_look()

    def heads(self, wanted: Sequence[tuple[str, int]]) -> list[tuple[Any, ...]]:
        """The first of some lines that are due, so many of each, best first."""
        found: list[tuple[Any, ...]] = []
        for key, most in wanted:
            rest = most
            for (priority,) in self.run("lane_priorities", key=key):
                line = self.run("lane_heads", key=key, priority=priority, now=self.stamp, limit=rest)
                found += line
                rest -= len(line)
                if not rest:
                    break
        return found

    def with_children(self, ids: Sequence[str]) -> Sequence[str]:
        """Those of some jobs that others may wait for."""
        return ids if self.run("parents_any")[0][0] else ()

    def free_active_keys(self, ids: Sequence[str]) -> None:
        """These have ended: keys that were kept for their active life only are free."""
        for job_id in ids:
            self.change("free_active_key", id=job_id)

    def ids(self, ids: Sequence[str]) -> str:
        """Ids as one parameter; ids hold nothing that JSON would escape."""
        return json.dumps(ids)
