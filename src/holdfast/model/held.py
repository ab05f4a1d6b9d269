"""Why a waiting job is outside the due index, as bits of its `held`. Apart from the statuses, whose `enum` is heavy."""

from __future__ import annotations

ALONE = 1  # it ran in a process that died: next it runs in a process of its own
BEHIND = 2  # a job with the same coalesce key runs: this one is next
BLOCKED = 4  # it waits for jobs that have not completed
GROUP_PAUSED = 8
TENANT_PAUSED = 16
LIMITED = 32  # it stands in line for a limit
