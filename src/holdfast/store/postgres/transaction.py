"""An open transaction with all verbs on it: on a connection of the store's own, or on a caller's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holdfast.store.postgres.jobs import JobVerbs
from holdfast.store.postgres.leases import LeaseVerbs
from holdfast.store.postgres.upkeep import UpkeepVerbs
from holdfast.store.schedules import ScheduleVerbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.request import NewJob


class PostgresTransaction(JobVerbs, LeaseVerbs, UpkeepVerbs, ScheduleVerbs):
    """All verbs, on one open transaction."""

    __slots__ = ()


class JoinedTransaction(PostgresTransaction):
    """The same in a caller's transaction, in whose session nothing may be left behind."""

    __slots__ = ()

    def _may_copy(self, jobs: Sequence[NewJob]) -> bool:  # noqa: ARG002  # not every driver has it
        return False

    def _insert_many(self, rows: list[dict[str, object]]) -> set[str]:
        made = self.run("insert_rows", rows=json.dumps(rows), now=self.stamp)
        return {str(job_id) for (job_id,) in made}
