"""The whole transaction."""

from __future__ import annotations

from holdfast.store.schedules import ScheduleVerbs
from holdfast.store.sqlite.jobs import JobVerbs
from holdfast.store.sqlite.leases import LeaseVerbs
from holdfast.store.sqlite.upkeep import UpkeepVerbs


class SqliteTransaction(JobVerbs, LeaseVerbs, UpkeepVerbs, ScheduleVerbs):
    """All verbs, on one open transaction."""

    __slots__ = ()
