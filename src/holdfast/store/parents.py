"""Jobs that wait for others, the same on every store.

A child is held back, outside the due index, while `blocked` parents of it have not ended. An edge (parent, child) is
`done` once the child waits for that parent no more; it is settled exactly once, so two parents that end at the same
moment count twice and no more. The rows stay as long as both jobs do: a parent that a person sends round again takes
the children along that its end had cancelled.

Where many write at once, locks are taken downwards: parents, then edges, then children, each in the order of their ids.
Whoever makes a child locks its parents, so a parent either ends before, and is seen to have ended, or after, and sees
the child. A circle cannot be: only a new job can wait, and nobody knows its id before it is there.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.model.errors import BadInput
from holdfast.model.failure import Failure
from holdfast.model.held import BLOCKED
from holdfast.model.job import readable
from holdfast.model.status import TERMINAL, Status
from holdfast.store.asking import Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.model.request import NewJob
    from holdfast.store.flow import FlowVerbs

PARENT_FAILED = "PARENT_FAILED"
_BAD = TERMINAL - {Status.COMPLETED}


class _Parent(NamedTuple):
    id: str
    status: str
    tenant: str
    error: str | None

    @property
    def successor(self) -> str | None:
        """The job that took its place, where a newer request did."""
        if self.status != Status.CANCELLED or self.error is None:
            return None
        found: str | None = readable(self.error).get("successor")
        return found


def tie(tx: FlowVerbs, jobs: Sequence[tuple[NewJob, str]]) -> None:
    """New jobs wait for the parents that they name. All in one call of each statement, whatever their number."""
    wanted = [(job, job.flow, child) for job, child in jobs if job.flow is not None and job.flow.depends_on]
    if not wanted:
        return
    parents = _found(tx, {parent for _, flow, _ in wanted for parent in flow.depends_on})
    edges: list[tuple[str, str, int]] = []
    rows: list[tuple[str, int, str | None]] = []
    fallen: dict[str, _Parent] = {}
    for job, flow, child in wanted:
        tenant = str(tx.new_row(job, "")["tenant"])
        named = {parent.id: parent for parent in (_of_tenant(parents, one, tenant) for one in flow.depends_on)}
        edges += [(parent.id, child, int(parent.status in TERMINAL)) for parent in named.values()]
        rows.append((child, sum(parent.status not in TERMINAL for parent in named.values()), flow.on_parent))
        bad = [parent for parent in named.values() if parent.status in _BAD]
        if bad and flow.on_parent is None:
            fallen[child] = bad[0]
    tx.change("parents_add", edges=json.dumps(edges))
    tx.change("parents_count", counts=_counts(Counter(parent for parent, _, _ in edges)))
    tx.change("parents_block", jobs=json.dumps(rows), bit=BLOCKED)
    if fallen:
        _fell(tx, {child: (0, parent.id, parent.status) for child, parent in fallen.items()})
        tx.free_active_keys([child for job, child in jobs if child in fallen and job.key_window == "active"])
        tx.over([(child, Status.CANCELLED.value) for child in fallen])


def settle(tx: FlowVerbs, ended: Mapping[str, str]) -> list[tuple[str, str]]:
    """Jobs have ended: those that wait for them go on, or end with them. Answers the latter."""
    replaced = _follow(tx, [parent for parent, status in ended.items() if status == Status.CANCELLED])
    ended = dict(ended) | _falling(tx, {one for one, status in ended.items() if status in _BAD} - replaced)
    edges = tx.run("parents_settle", ids=tx.ids(sorted(ended)))
    if replaced:
        tx.change("parents_leave", ids=tx.ids(sorted(replaced)))
    waiting = tx.run("parents_children", ids=tx.ids(sorted({child for _, child in edges}))) if edges else []
    parents: dict[str, list[str]] = {}
    for parent, child in edges:
        parents.setdefault(child, []).append(parent)
    free: Counter[str] = Counter()
    fallen: dict[str, tuple[int, str, str]] = {}
    keyed = []
    for child, on_parent, attempts, key_until in waiting:
        bad = [parent for parent in parents[child] if ended[parent] in _BAD and parent not in replaced]
        if bad and on_parent is None:
            fallen[child] = (attempts, min(bad), ended[min(bad)])
            keyed += [child] if key_until == "active" else []
        else:
            free[child] = len(parents[child])
    _release(tx, free)
    _fell(tx, fallen)
    tx.free_active_keys(keyed)
    return [(child, Status.CANCELLED.value) for child in fallen]


def revive(tx: FlowVerbs, parent: str) -> None:
    """A parent goes round again: what its end had cancelled waits for it again, and so do their children."""
    again = [parent]
    while again:
        again = _revive(tx, again)


def _found(tx: FlowVerbs, ids: set[str]) -> dict[str, _Parent]:
    """The jobs of these ids, locked; for one that was overtaken its successor, if that is still there."""
    parents = {row[0]: _Parent(*row) for row in tx.run("parents_hold", ids=tx.ids(sorted(ids)))}
    while behind := {one.successor: name for name, one in parents.items() if one.successor is not None}:
        known = {row[0]: _Parent(*row) for row in tx.run("parents_hold", ids=tx.ids(sorted(map(str, behind))))}
        for name, one in parents.items():
            if one.successor is not None:
                parents[name] = known.get(one.successor, one._replace(error=None))
    return parents


def _of_tenant(parents: Mapping[str, _Parent], job_id: str, tenant: str) -> _Parent:
    parent = parents.get(job_id)
    if parent is None or parent.tenant != tenant:
        raise BadInput(
            "PARENT_NOT_FOUND",
            f"depends_on: no job {job_id[:50]!a} of the same tenant: give the ids of jobs that are stored already and "
            "that retention has not taken; nothing was stored",
        )
    return parent


def _follow(tx: FlowVerbs, cancelled: list[str]) -> set[str]:
    """Those that a newer request overtook; who waits for one of them waits for its successor from now on."""
    if not cancelled:
        return set()
    held = [_Parent(*row) for row in tx.run("parents_hold", ids=tx.ids(sorted(cancelled)))]
    overtaken = {parent.id: parent.successor for parent in held if parent.successor is not None}
    for parent, successor in overtaken.items():
        moved = tx.run("parents_follow", parent=parent, successor=successor)
        tx.change("parents_count", counts=json.dumps([(successor, len(moved))]))
    return set(overtaken)


def _falling(tx: FlowVerbs, bad: set[str]) -> dict[str, str]:
    """All who end with these, down to the last generation, locked downwards: a long chain takes no more statements.

    Who came or went since they were read is met by the settling of their edges, and in the next round.
    """
    children: dict[str, list[str]] = {}
    for parent, child in tx.run("parents_falling", ids=tx.ids(sorted(bad))) if bad else ():
        children.setdefault(parent, []).append(child)
    if not children:
        return {}
    held = {job_id for (job_id,) in tx.run("parents_take", ids=tx.ids(_below(bad, children)))}
    still = {parent: [one for one in ones if one in held] for parent, ones in children.items()}
    return dict.fromkeys(_below(bad, still), Status.CANCELLED.value)


def _below(top: set[str], children: Mapping[str, list[str]]) -> list[str]:
    """Everyone below, the nearest first, each generation in the order of their ids."""
    found: dict[str, None] = {}
    generation = top
    while generation:
        generation = {child for one in generation for child in children.get(one, ())} - found.keys() - top
        found |= dict.fromkeys(sorted(generation))
    return list(found)


def _release(tx: FlowVerbs, free: Counter[str]) -> None:
    """So many parents of each are over."""
    if not free:
        return
    for child, queue, still in tx.run("parents_release", counts=_counts(free), bit=BLOCKED, now=tx.stamp):
        if not still:
            tx.news.jobs.append(child)
            tx.news.queues.add(queue)
            tx.look_for([child])


def _fell(tx: FlowVerbs, fallen: Mapping[str, tuple[int, str, str]]) -> None:
    """Children end with a parent of theirs: by their ids, with their attempts, the parent and where it stands."""
    if not fallen:
        return
    errors = [(child, _error(parent, status)) for child, (_, parent, status) in fallen.items()]
    tx.change("parents_fell", jobs=json.dumps(errors), now=tx.stamp)
    tx.write_history(
        [
            Line(child, Status.QUEUED, "parent ended", attempts, error_class="ParentFailed")
            for child, (attempts, _, _) in fallen.items()
        ]
    )
    tx.news.jobs += fallen


def _revive(tx: FlowVerbs, parents: list[str]) -> list[str]:
    """One generation; answers those of it that wait again."""
    fallen = [child for (child,) in tx.run("parents_fallen", ids=tx.ids(parents), code=PARENT_FAILED)]
    if not fallen:
        return []
    tx.run("parents_edges_hold", ids=tx.ids(fallen))
    named: dict[str, list[tuple[str, str]]] = {}
    for child, parent, status in tx.run("parents_edges", ids=tx.ids(fallen)):
        named.setdefault(child, []).append((parent, status))
    bad = {child: [one for one in of if one[1] in _BAD] for child, of in named.items()}
    tx.change("parents_reopen", ids=tx.ids(fallen))
    stay = [(child, _error(*ones[0])) for child, ones in bad.items() if ones]
    if stay:
        tx.change("parents_rename", jobs=json.dumps(stay), now=tx.stamp)
    waits = {
        child: sum(status not in TERMINAL for _, status in named[child]) for child, ones in bad.items() if not ones
    }
    again = tx.run("parents_revive", counts=_counts(waits), bit=BLOCKED, now=tx.stamp)
    lines = [Line(child, Status.CANCELLED, "parent retried", attempts) for child, attempts in again]
    tx.write_history(lines)
    tx.news.jobs += [child for child, _ in again]
    tx.line_up([child for child, _ in again])
    return sorted(child for child, _ in again)


def _error(parent: str, status: str) -> str:
    failure = Failure("ParentFailed", f"job {parent}, which it waited for, ended {status}", PARENT_FAILED)
    return json.dumps(json.loads(failure.as_text()) | {"parent": parent})


def _counts(counter: Mapping[str, Any]) -> str:
    """In the order of their ids, in which they are locked."""
    return json.dumps(sorted(counter.items()))
